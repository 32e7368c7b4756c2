import type { Action } from "./action.js"
import type { RunIndex } from "./run-index.js"

/** What an action did, in a line. What a replay made up is never told without its mark, whoever reads it. */
export function markedSummary({ summary, stepId }: Action, { steps }: RunIndex): string {
  const step = steps.get(stepId)
  const mode = (step?.closed ?? step?.opened)?.determinism_mode
  return mode === "simulated" ? `[simulated] ${summary}` : summary
}
