import type { Run } from "@orangebox/runs"
import type { Action } from "./action.js"

/** What an action did, in a line. What a replay made up is never told without its mark, whoever reads it and however often it is replayed. */
export function markedSummary({ summary, stepId }: Action, run: Run): string {
  return run.stepOf(stepId)?.isMadeUp ? `[simulated] ${summary}` : summary
}
