// Comparing two runs

export {
  type Cause,
  type Change,
  type DiffItem,
  type PayloadDiff,
  type PayloadOp,
  RunDiff,
  type SideOfDiff,
  type StepOfDiff,
  type TextDiff,
  type TextHunk,
  Tier,
} from "../generated.js"
export { diffRuns, exitCodeOf } from "./diff-runs.js"
export { diffStoredRuns, type StoredRun } from "./diff-stored-runs.js"
export type { BodyReading, DiffOptions, Lineage, RunToDiff } from "./run-to-diff.js"

// Telling it: for a reader by the token, side by side, as a page

export { diffColumns, MIN_COLUMNS } from "./diff-columns.js"
export { diffHtml } from "./diff-html.js"
export { DEFAULT_DIFF_BUDGET, diffText, MIN_DIFF_BUDGET } from "./diff-text.js"
