/**
 * Bad input is data: readers and validators return problems next to what they could use.
 *
 * - `error`  the record breaks the contract
 * - `open`   the run or step has not ended; normal for a live run, evidence for a dead one
 * - `gap`    something is missing that a gap record may explain
 */
export type ProblemSeverity = "error" | "open" | "gap"

export interface Problem {
  readonly code: string
  readonly severity: ProblemSeverity
  /** Which record: an event id, or `run_…` when the problem is about the whole run. */
  readonly subject: string
  /** Dotted path of the offending field, empty when the record as a whole is meant. */
  readonly field: string
  readonly reason: string
}
