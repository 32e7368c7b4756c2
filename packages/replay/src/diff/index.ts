// Comparing two runs

export { diffRuns, exitCodeOf } from "./diff-runs.js"
export { diffStoredRuns, type StoredRun } from "./diff-stored-runs.js"
export {
  Cause,
  Change,
  DiffItem,
  PayloadDiff,
  PayloadOp,
  RUN_DIFF_VERSION,
  RunDiff,
  type SideOfDiff,
  type StepOfDiff,
  TextDiff,
  type TextHunk,
  Tier,
} from "./run-diff.js"
export {
  type BodyAbsence,
  type BodyReading,
  DEFAULT_PAYLOADS,
  type DiffOptions,
  type Lineage,
  type RunToDiff,
} from "./run-to-diff.js"
