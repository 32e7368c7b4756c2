import type { DeterminismMode } from "@orangebox/contract"
import type { StepView } from "./run-view.js"

/**
 * A step's mode where a reader has to be told: whatever was not live, and in a replay every call, because there it cannot be known which of
 * them went out. The run itself is none of them. What was made up stays so when it is replayed, however exactly.
 */
export function markedMode(step: StepView): DeterminismMode | "exact of simulated" | undefined {
  if (isMadeUp(step)) return "exact of simulated"
  if (step.mode !== "live") return step.mode
  const isReplayed = (step.opened ?? step.closed)?.replay !== undefined
  return isReplayed && step.kind !== "run" ? "live" : undefined
}

/** Whether an exact answer is that of a step that was made up. */
export const isMadeUp = ({ mode, opened }: StepView): boolean =>
  mode === "exact" && opened?.attributes?.["source_mode"] === "simulated"
