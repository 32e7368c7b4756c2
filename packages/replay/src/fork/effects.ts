import type { EffectClass } from "@orangebox/contract"
import type { CallKind, Tape, TapeCall } from "../tape/tape.js"

/** Tool name → what running it does, as the user says. It outranks what was recorded. */
export type EffectMap = Readonly<Record<string, EffectClass>>

export function effectOf(
  call: { readonly name: string; readonly effect?: EffectClass | undefined },
  known: EffectMap,
): EffectClass {
  return (Object.hasOwn(known, call.name) ? known[call.name] : undefined) ?? call.effect ?? "unknown"
}

/** What is not known to be harmless is taken for a write. */
export const isWrite = (effect: EffectClass): boolean => effect !== "pure" && effect !== "read"

export interface CoverageGap {
  readonly step: string
  readonly tool: string
  readonly effect: EffectClass
  readonly reason: string
}

/**
 * Tool calls that would really happen again if the agent ran: they do not pass any place where a tape could answer them. An agent is not
 * relaunched over such a gap unless the user allows it; the engine, which runs nothing, is the offer instead.
 */
export function coverageGaps(
  tape: Tape,
  options: { readonly covers: readonly CallKind[]; readonly effects?: EffectMap },
): readonly CoverageGap[] {
  const gaps: CoverageGap[] = []
  for (const call of tape.calls) {
    if (call.kind !== "tool" || !isUncovered(call, options.covers)) continue
    const effect = effectOf(call, options.effects ?? {})
    if (!isWrite(effect)) continue
    const what = effect === "unknown" ? "nobody said what it does" : `it is a ${effect.replace("_", " ")}`
    gaps.push({
      step: call.stepId,
      tool: call.name,
      effect,
      reason: `${what}, and the agent runs it where no recording can answer`,
    })
  }
  return gaps
}

const isUncovered = (call: TapeCall, covers: readonly CallKind[]): boolean =>
  call.isInferred || !covers.includes("tool")
