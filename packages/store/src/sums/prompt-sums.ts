import { amountIn, type Event, isRecord, payloadOf, textIn, textsIn } from "@orangebox/contract"
import { finishKindOf, type PriceTable, ratesFor, skillLoadedBy, type Usage } from "@orangebox/dialects"
import type { FoldedStep } from "@orangebox/runs"
import { column } from "../column-text.js"
import type { Row } from "../row-values.js"

interface PromptSegment {
  readonly contributor: string
  readonly kind: string
  readonly length: number
  readonly tokens: number | null
}

/** What events said in a step, until it ends and is counted. Of several that say the same sort of thing the first counts. */
export interface Told {
  readonly prompt?: readonly PromptSegment[]
  /** Skills that came into the prompt in the middle of a run. */
  readonly entered?: readonly string[]
  /** The tools that the answer asks for; null where it is unknown. */
  readonly asked?: readonly string[] | null
  /** The skill that the tool call loads. */
  readonly skill?: string
}

/** Which skills stood in the prompts of a run so far, for each of its lanes. */
export class SkillsSeen {
  readonly #byLane = new Map<string, Set<string>>()

  /** Takes in the next prompt; the skills in it that the ones before had not. What stands in the first prompt came in with the run. */
  enter(lane: string, prompt: readonly PromptSegment[]): string[] {
    const seen = this.#byLane.get(lane)
    const skills = skillsIn(prompt)
    this.#byLane.set(lane, new Set([...(seen ?? []), ...skills]))
    return seen === undefined ? [] : skills.filter((skill) => !seen.has(skill))
  }
}

const skillsIn = (prompt: readonly PromptSegment[]): string[] => [
  ...new Set(prompt.filter(({ kind }) => kind === "skill").map(({ contributor }) => contributor)),
]

/** Adds what an event tells about its step. `skills` is asked for only where it is needed: it may have to be read. */
export function noteTold(
  told: Map<string, Told>,
  event: Event,
  skills: (isNeeded: boolean) => SkillsSeen | undefined,
): void {
  const { step_id: step } = event
  if (step === null || event.sequence_no === null) return
  const heard = toldIn(event, skills)
  if (heard !== undefined) told.set(step, { ...heard, ...told.get(step) })
}

function toldIn(event: Event, skills: (isNeeded: boolean) => SkillsSeen | undefined): Told | undefined {
  const payload = payloadOf(event)
  switch (event.event_type) {
    case "prompt_assembled": {
      const prompt = promptIn(payload["segments"])
      if (prompt === undefined) return undefined
      const entered = skills(skillsIn(prompt).length > 0)?.enter(event.lane_id ?? "", prompt) ?? []
      return entered.length === 0 ? { prompt } : { prompt, entered }
    }
    case "tool_called": {
      const skill = skillLoadedBy(textIn(payload, "tool_name") ?? "", textIn(payload, "args_summary") ?? "")
      return skill === undefined ? undefined : { skill }
    }
    case "model_result":
      return { asked: askedIn(payload) }
    default:
      return undefined
  }
}

function promptIn(segments: unknown): PromptSegment[] | undefined {
  if (!Array.isArray(segments)) return undefined
  return segments.filter(isRecord).map((segment) => ({
    contributor: textIn(segment, "contributor") ?? "",
    kind: textIn(segment, "kind") ?? "",
    length: amountIn(segment, "length") ?? 0,
    tokens: amountIn(segment, "tokens") ?? null,
  }))
}

/** An answer that says why it ended, and that it was not for a tool, asks for none; neither does a call that failed. */
function askedIn(payload: ReturnType<typeof payloadOf>): readonly string[] | null {
  const names = textsIn(payload, "requested_tools")
  if (names.length > 0) return names
  const status = textIn(payload, "status")
  if (status === "error" || status === "timeout") return []
  const reason = textIn(payload, "finish_reason")
  return reason === undefined || finishKindOf(reason) === "tool_call" ? null : []
}

interface PromptShare {
  readonly contributor: string
  readonly kind: string
  bytes: number
  tokens: number | null
  usd: number | null
}

/** What a model call that ended adds to its contributors: each one's share of the prompt, and how often its answer asks for each tool. */
export function contributorRows(
  step: FoldedStep<unknown>,
  { prompt = [], entered = [], asked = null }: Told,
  prices: PriceTable,
): Row[] {
  const uses = new Map<string, number>()
  for (const name of asked ?? []) uses.set(`tool:${name}`, (uses.get(`tool:${name}`) ?? 0) + 1)
  const rows = sharesOf(step, prompt, prices).map(({ contributor, kind, bytes, tokens, usd }) => {
    const isTool = kind === "tool-def"
    return {
      ...emptyRow(contributor, kind),
      prompts: 1,
      bytes,
      tokens_est: tokens === null ? null : Math.round(tokens),
      uncounted: Number(tokens === null),
      usd_nano: usd === null ? null : nano(usd),
      unpriced: Number(usd === null),
      uses: isTool && asked !== null ? 0 : null,
      unheard: isTool ? Number(asked === null) : null,
      entries: entered.includes(contributor) && kind === "skill" ? 1 : null,
    }
  })
  return [...rows, ...[...uses].map(([name, count]) => ({ ...emptyRow(name, "tool-def"), uses: count }))]
}

/** What a tool call that loaded a skill adds to it. */
export const skillRow = (skill: string): Row => ({ ...emptyRow(`skill:${skill}`, "skill"), uses: 1 })

const emptyRow = (contributor: string, kind: string): Row => ({
  contributor: column(contributor)!,
  kind: column(kind)!,
  prompts: 0,
  bytes: 0,
  tokens_est: null,
  uncounted: 0,
  usd_nano: null,
  unpriced: 0,
  uses: null,
  unheard: null,
  entries: null,
})

/** Each contributor's share of a prompt: of its tokens by length, of its money by whether its place had been read from the cache. */
function sharesOf(step: FoldedStep<unknown>, prompt: readonly PromptSegment[], prices: PriceTable): PromptShare[] {
  const { prompt: promptTokens, cacheRead } = step.tokens
  const length = prompt.reduce((sum, segment) => sum + segment.length, 0)
  const rates = ratesFor(usageOf(step), step.name, step.openedAtMs, prices)
  const shares = new Map<string, PromptShare>()
  let at = 0
  for (const { contributor, kind, length: bytes, tokens: told } of prompt) {
    const name = `${kind}\n${contributor}`
    let share = shares.get(name)
    if (share === undefined) {
      share = { contributor, kind, bytes: 0, tokens: 0, usd: 0 }
      shares.set(name, share)
    }
    share.bytes += bytes
    const tokens = promptTokens === null || length === 0 ? told : (promptTokens * bytes) / length
    share.tokens = share.tokens === null || tokens === null ? null : share.tokens + tokens
    if (tokens === null || rates === undefined) {
      share.usd = null
      continue
    }
    const cached = Math.min(tokens, Math.max(0, (cacheRead ?? 0) - at))
    at += tokens
    if (cached > 0 && rates.cacheRead === null) share.usd = null
    else if (share.usd !== null)
      share.usd += (cached * (rates.cacheRead ?? 0) + (tokens - cached) * rates.input) / 1_000_000
  }
  return [...shares.values()]
}

export function usageOf({ tokens, serviceTier, cacheWrite1h }: FoldedStep<unknown>): Usage {
  const { prompt, completion, cacheRead: cache_read, cacheWrite: cache_write } = tokens
  const counts = { prompt, completion, total: null, cache_read, cache_write }
  return { tokens: counts, cacheWrite5m: null, cacheWrite1h, serviceTier, billedExtras: {}, raw: null }
}

/** Whole billionths of a dollar, so that a sum does not depend on the order in which it was made. */
export const nano = (usd: number): number => Math.round(usd * 1e9)
