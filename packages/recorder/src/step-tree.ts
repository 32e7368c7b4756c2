import type { StepState } from "./step-handle.js"

/** The step itself or the first above it that is such a one. */
export function nearest(step: StepState, isSuch: (state: StepState) => boolean): StepState | undefined {
  for (let at: StepState | undefined = step; at !== undefined; at = at.parent) if (isSuch(at)) return at
  return undefined
}

/** Whether a step is another one or below it. */
export function isWithin(step: StepState, scope: StepState): boolean {
  return nearest(step, (state) => state === scope) !== undefined
}
