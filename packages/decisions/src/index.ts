// Actions

export type {
  Action,
  ActionBoundary,
  ActionPart,
  ActionText,
  ActionTool,
  Commit,
  EvidencePointer,
  FileEdit,
  ModelUse,
  NetworkTarget,
  PullRequest,
  RanCommand,
  RunActions,
  TestRun,
  TouchedPath,
} from "./action.js"
export { type CallClass, classifier } from "./classifier.js"
export { actionAhead, type ToolCallAhead } from "./live-action.js"
export { type CallAhead, type CallVerdict, type LiveGuardOptions, liveGuard } from "./live-guard.js"
export { actionsOf, type ReadOptions, type RunReading, readRun } from "./read-run.js"
export type { BodyLookup, RecordedRun } from "./recorded-run.js"
export type { ToolMeanings } from "./tool-action.js"
export { userRequests } from "./user-requests.js"

// Decisions

export { type DecisionOptions, decisionsOf, decisionsOfReading } from "./decisions-of.js"
export { type EvaluationToKeep, evaluationToKeep, keptAlready } from "./evaluation-to-keep.js"
export {
  type DecisionArtifact,
  type DecisionEvaluation,
  DecisionEvent,
  type PromptBundle,
  type Transformation,
  type Violation,
} from "./generated.js"

// Checks

export {
  type ActionEvaluation,
  askJudge,
  type CheckContext,
  type CheckedConstraint,
  type CompiledConstraint,
  type Concern,
  type ConstraintResult,
  type ConstraintSource,
  compileConstraints,
  createGuard,
  describeRuleProblem,
  evaluateRun,
  type FoundSecret,
  type GateLevel,
  type Guard,
  type GuardDecision,
  type GuardOptions,
  gateExitCode,
  type InferredConstraint,
  inferConstraints,
  type Judge,
  type JudgeAnswer,
  type JudgeOutcome,
  type JudgeQuestion,
  judgeQuestions,
  type PathPlace,
  RULES,
  type Rule,
  type RuleDefinition,
  type RuleProblem,
  type RuleReading,
  type RunEvaluation,
  renderJunit,
  renderSarif,
  verdictOf,
  worstVerdict,
} from "./checks/index.js"

// The trail: the six observability failures, and what went past the recorder

export type { BypassFinding } from "./bypass.js"
export {
  type Observability,
  type ObservabilityFailure,
  type ObservabilityFinding,
  observabilityOf,
} from "./observability.js"

// The run report

export { evaluationWords, hasFailed } from "./report/format-report.js"
export { reportHtml } from "./report/html-report.js"
export { reportMarkdown } from "./report/markdown-report.js"
export {
  type ReportArtifact,
  type ReportEvaluation,
  type ReportSummary,
  type ReportViolation,
  type RunReport,
  recordedEvaluations,
  runReport,
  type TimelineEntry,
} from "./report/run-report.js"
export { reportText, type TerminalReportOptions } from "./report/terminal-report.js"

// OpenTelemetry

export { decisionLogRecords, type OtlpLogRecord, type OtlpLogs } from "./otel-logs.js"
