import type { Action } from "./action.js"
import type { RunIndex } from "./run-index.js"

/** What an action did, in a line. What a replay made up is never told without its mark, whoever reads it and however often it is replayed. */
export function markedSummary({ summary, stepId }: Action, { steps }: RunIndex): string {
  const { opened = null, closed = null } = steps.get(stepId) ?? {}
  const isMadeUp =
    (closed ?? opened)?.determinism_mode === "simulated" || opened?.attributes?.["source_mode"] === "simulated"
  return isMadeUp ? `[simulated] ${summary}` : summary
}
