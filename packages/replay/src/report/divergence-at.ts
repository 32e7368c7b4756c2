import type { Divergence } from "../generated.js"
import type { CallKind } from "../tape/tape.js"

/** A divergence before it has its number. */
export type FoundDivergence = Omit<Divergence, "n">

/** Where something diverged: a recorded call, a call that is asked, or the run as a whole. */
export interface DivergencePlace {
  readonly kind: CallKind | "run"
  readonly name: string
  readonly stepId?: string | undefined
  readonly lane?: string | undefined
  readonly occurrence?: number | undefined
}

/** One that was found without holding one request against another. */
export function divergenceAt(
  { kind, name, stepId, lane, occurrence }: DivergencePlace,
  code: Divergence["code"],
  severity: Divergence["severity"],
  message: string,
): FoundDivergence {
  return {
    code,
    severity,
    step: stepId ?? null,
    lane: lane ?? null,
    at: { kind, name, occurrence: occurrence ?? 0 },
    incoming: null,
    nearest: [],
    cause: "UNKNOWN",
    message,
    suggest: [],
  }
}
