import { MASK_TYPES, type MaskType, maskText, requestMember } from "@orangebox/dialects"
import { pointerParts, pointerPattern } from "@orangebox/text"
import type { Divergence, DivergenceCode, LeafDiff, NearestCall } from "../generated.js"

export interface MissDiagnosis {
  readonly code: DivergenceCode
  readonly cause: Divergence["cause"]
  readonly suggest: readonly string[]
}

/** What kind of change a miss is, from where the nearest recorded call differs. */
export function diagnoseMiss(nearest: NearestCall | undefined, isExpected: boolean): MissDiagnosis {
  if (nearest === undefined) return { code: isExpected ? "REQ_CHANGED" : "REQ_EXTRA", cause: "UNKNOWN", suggest: [] }
  const { diffs } = nearest
  const all = (test: (diff: LeafDiff) => boolean): boolean =>
    nearest.more_diffs === 0 && diffs.length > 0 && diffs.every(test)
  const cause = causeOf(diffs)
  const suggest = suggestionsFor(diffs, cause)
  if (!isExpected) return { code: "REQ_EXTRA", cause, suggest }
  if (all((diff) => requestMember(pointerParts(diff.ptr)[0] ?? "") === "server_state"))
    return { code: "STATEFUL_ID_UNKNOWN", cause, suggest }
  if (all((diff) => diff.class === "model")) return { code: "MODEL_ALIAS", cause, suggest }
  if (all((diff) => diff.class === "param")) return { code: "PARAM_DRIFT", cause, suggest }
  return { code: "REQ_CHANGED", cause, suggest }
}

const CAUSES: Record<LeafDiff["class"], Divergence["cause"]> = {
  tool_result: "TOOL_OUTPUT",
  system: "SYSTEM_PROMPT",
  tools: "TOOL_DEFINITIONS",
  param: "PARAMETERS",
  model: "MODEL",
  user: "USER_INPUT",
  assistant: "HISTORY",
  args: "ARGUMENTS",
  query: "QUERY",
  other: "UNKNOWN",
}

/** The first difference in reading order is where it began; what the model said next follows from it. */
const causeOf = (diffs: readonly LeafDiff[]): Divergence["cause"] => (diffs[0] ? CAUSES[diffs[0].class] : "UNKNOWN")

function suggestionsFor(diffs: readonly LeafDiff[], cause: Divergence["cause"]): string[] {
  const masks = new Set<string>()
  for (const diff of diffs) {
    const type = maskTypeOf(diff.recorded, diff.now)
    if (type) masks.add(`mask ${type} at ${pointerPattern(diff.ptr)}`)
  }
  return [...(cause === "TOOL_OUTPUT" ? ["--on-drift serve"] : []), ...masks]
}

/** The narrowest type of mask under which two texts are equal. */
export function maskTypeOf(recorded: string | null, now: string | null): MaskType | undefined {
  if (recorded === null || now === null || recorded === now) return undefined
  return MASK_TYPES.find((type) => {
    const apply = maskText([type])
    return apply(recorded) === apply(now)
  })
}
