import type { DeterminismMode } from "@orangebox/contract"
import type { StepView } from "./run-view.js"

/**
 * A step's mode where a reader has to be told: whatever was not live, and in a replay every call, because there nobody can know which of
 * them went out. The run itself is none of them.
 */
export function markedMode(step: StepView): DeterminismMode | undefined {
  if (step.mode !== "live") return step.mode
  const isReplayed = (step.opened ?? step.closed)?.replay !== undefined
  return isReplayed && step.kind !== "run" ? "live" : undefined
}
