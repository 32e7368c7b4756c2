import { MASK_TYPES, type MaskType, maskText, requestMember } from "@orangebox/dialects"
import { pointerParts, pointerPattern } from "@orangebox/text"
import type { Divergence, DivergenceCode, LeafDiff, NearestCall } from "../generated.js"

export interface MissDiagnosis {
  readonly code: DivergenceCode
  readonly cause: Divergence["cause"]
  readonly suggest: readonly string[]
}

/** How the call was asked: advice is worth something only where it can be followed. */
export interface MissCircumstances {
  /** Something of its kind was recorded and not asked for yet. */
  readonly isExpected: boolean
  readonly isFork: boolean
  readonly onDrift: "serve" | "halt" | "fork"
}

/** What kind of change a miss is, from where the nearest recorded call differs. */
export function diagnoseMiss(nearest: NearestCall | undefined, asked: MissCircumstances): MissDiagnosis {
  const { isExpected } = asked
  if (nearest === undefined) return { code: isExpected ? "REQ_CHANGED" : "REQ_EXTRA", cause: "UNKNOWN", suggest: [] }
  const { diffs } = nearest
  const all = (test: (diff: LeafDiff) => boolean): boolean =>
    nearest.more_diffs === 0 && diffs.length > 0 && diffs.every(test)
  const cause = causeOf(diffs)
  const suggest = adviceOn(nearest, cause, asked)
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

function adviceOn(
  { diffs, more_diffs }: NearestCall,
  cause: Divergence["cause"],
  { isFork, onDrift }: MissCircumstances,
): string[] {
  if (isFork)
    return ["what comes before a fork is asked as it was recorded: find out why it is not with orangebox replay"]
  const isAll = (test: (diff: LeafDiff) => boolean): boolean =>
    more_diffs === 0 && diffs.length > 0 && diffs.every(test)
  if (isAll(({ class: kind }) => kind === "tool_result") && onDrift === "halt") return ["--on-drift serve"]
  const masks = new Set(diffs.map((diff) => maskFor(diff)))
  // One that leaves something that differs changes nothing.
  if (more_diffs === 0 && diffs.length > 0 && !masks.has(undefined))
    return [...masks].map((mask) => `mask ${mask}, by --calibrate with a second run and --accept, then --masks`)
  if (cause === "TOOL_OUTPUT") return ["give its tools the files of then: --workspace"]
  const [first] = diffs
  const settable = first && settingIn(first)
  if (settable && isAll((diff) => settingIn(diff) !== undefined))
    return [`ask that on purpose: orangebox fork … --set ${settable}`]
  return ["--on-miss nearest, to explore with an answer that was given to another question"]
}

function maskFor({ ptr, recorded, now }: LeafDiff): string | undefined {
  const type = maskTypeOf(recorded, now)
  return type && `${type} at ${pointerPattern(ptr)}`
}

/** What `--set` takes: the model, or a parameter of the request itself. */
function settingIn({ ptr, class: kind, now }: LeafDiff): string | undefined {
  const [name, ...deeper] = pointerParts(ptr)
  const isSetting = (kind === "model" || kind === "param") && deeper.length === 0 && now !== null
  return isSetting ? `${name}=${now}` : undefined
}

/** The narrowest type of mask under which two texts are equal. */
export function maskTypeOf(recorded: string | null, now: string | null): MaskType | undefined {
  if (recorded === null || now === null || recorded === now) return undefined
  return MASK_TYPES.find((type) => {
    const apply = maskText([type])
    return apply(recorded) === apply(now)
  })
}
