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
export { actionsOf, type ReadOptions, type RunReading, readRun } from "./read-run.js"
export type { BodyLookup, RecordedRun } from "./recorded-run.js"
export type { ToolMeanings } from "./tool-action.js"

// Decisions

export {
  DECISION_SCHEMA_VERSION,
  type DecisionArtifact,
  DecisionEvaluation,
  DecisionEvent,
  type PromptBundle,
  type Transformation,
  type Violation,
} from "./decision-event.js"
export { type DecisionOptions, decisionsOf, decisionsOfReading } from "./decisions-of.js"
export { UNKNOWN_EVALUATION } from "./evaluation-on-record.js"
