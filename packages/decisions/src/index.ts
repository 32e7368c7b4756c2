// Actions

export type { Action, Commit } from "./action.js"
export { type AskedTool, askedTools } from "./asked-tools.js"
export { classifier } from "./classifier.js"
export { editsAsked } from "./edits/read-edits.js"
export { actionAhead } from "./live-action.js"
export { type CallAhead, liveGuard } from "./live-guard.js"
export { actionsOf, type RunReading, readRun } from "./read-run.js"
export type { BodyLookup, RecordedRun } from "./recorded-run.js"
export { userRequests } from "./user-requests.js"

// Decisions

export { decisionsOf, decisionsOfReading } from "./decisions-of.js"
export { type EvaluationToKeep, evaluationToKeep, keptAlready } from "./evaluation-to-keep.js"
export { DecisionEvent, type JudgeAnswer, type Violation } from "./generated.js"

// Checks

export type { CheckedConstraint } from "./checks/constraint.js"
export { type ConstraintResult, compileConstraints, evaluateRun, type RunEvaluation } from "./checks/evaluate.js"
export { createGuard, type Guard } from "./checks/guard.js"
export { inferConstraints } from "./checks/infer-constraints.js"
export { readJsonSchema, schemaProblems } from "./checks/json-schema-subset.js"
export { askJudge, diagnosisQuestion, type Judge, type JudgeOutcome, judgeQuestions } from "./checks/judge.js"
export { describeRuleProblem, type RuleProblem } from "./checks/parse-rule.js"
export { renderJunit } from "./checks/render/junit.js"
export { renderSarif } from "./checks/render/sarif.js"
export type { CheckContext, FoundSecret, Rule } from "./checks/rule.js"
export { RULES } from "./checks/rules.js"
export { type GateLevel, gateExitCode, verdictOf, worstVerdict } from "./checks/verdict.js"

// The trail: the six observability failures, and what went past the recorder

export { type Observability, observabilityOf, observabilityOfReading } from "./observability.js"

// The run report

export { evaluationWords, hasFailed } from "./report/format-report.js"
export { reportHtml } from "./report/html-report.js"
export { reportMarkdown } from "./report/markdown-report.js"
export { type RunReport, recordedEvaluations, runReport } from "./report/run-report.js"
export { reportText } from "./report/terminal-report.js"

// OpenTelemetry

export { decisionLogRecords } from "./otel-logs.js"
