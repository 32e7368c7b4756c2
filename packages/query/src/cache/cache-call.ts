import { countIn, type LoosePayload, payloadOf, recordsIn, type Segment, textIn } from "@orangebox/contract"
import { ratesFor } from "@orangebox/dialects"
import type { Bodies } from "../context/context-reading.js"
import { type RecordedContext, type RequestOnRecord, runIdOf } from "../context/recorded-contexts.js"
import { readableRequest } from "../context/request-on-record.js"
import type { StepView } from "../run-view.js"

/** One model call, as far as a provider's cache of prompts is concerned. */
export interface CacheCall {
  readonly context: RecordedContext
  readonly runId: string | null
  readonly n: number
  readonly stepId: string | undefined
  readonly lane: string | undefined
  readonly follows: readonly string[]
  /** Milliseconds since 1970. */
  readonly startedAt: number
  /** From when on others could read what it wrote; undefined where no answer began. */
  readonly servedAt: number | undefined
  readonly host: string | undefined
  readonly provider: string | undefined
  readonly model: string | undefined
  readonly account: string | undefined
  readonly params: string | undefined
  readonly use: "warm" | "real" | "unknown"
  /** In the order the model reads them; undefined where it is unknown what the prompt was made of. */
  readonly segments: readonly CacheSegment[] | undefined
  /** What the application says it put together, where it said so: it knows a skill from other system text. */
  readonly told: readonly CacheSegment[]
  readonly prompt: number | null
  readonly read: number | null
  readonly written: number | null
  readonly written1h: number | null
  readonly serviceTier: string | undefined
  readonly request: RequestOnRecord | undefined
  /** What the application built, before any transform. */
  readonly renderedRef: string | undefined
  /** Why the prompt was not served from the cache, in the provider's own words. */
  readonly providerSaid: { readonly type: string; readonly missedTokens: number | null } | undefined
}

export type CacheSegment = Pick<
  Segment,
  | "contributor"
  | "kind"
  | "role"
  | "length"
  | "mark"
  | "canonical_hash"
  | "media_hash"
  | "stable_hash"
  | "volatile"
  | "tool_call_id"
  | "is_error"
> & { readonly hash: string }

/** What is on record about a call; the request's bytes tell what its prompt was made of where nothing else does. */
export function cacheCallOf(context: RecordedContext, attempts: readonly StepView[], bodies: Bodies): CacheCall {
  const { step } = context
  // What went over the wire says more than what the application told of it.
  const openings = [...attempts.toReversed(), step].map(({ opened }) => payloadOf(opened))
  const closings = [...attempts.toReversed(), step].map(({ closed }) => payloadOf(closed))
  const said = (name: string): string | undefined => firstOf(openings, (payload) => textIn(payload, name))
  const startedAt = Date.parse((step.opened ?? step.events[0])?.timestamp_utc ?? "")
  const firstByteMs = firstOf(closings, (payload) => countIn(payload, "first_byte_ms"))
  const latencyMs = firstOf(closings, (payload) => countIn(payload, "latency_ms"))
  const waitedMs = firstByteMs ?? latencyMs
  const use = said("cache_use")
  return {
    context,
    runId: runIdOf(context),
    n: context.n,
    stepId: step.id,
    lane: context.lane,
    follows: step.links.flatMap(({ kind, step_id }) => (kind === "follows" && step_id !== undefined ? [step_id] : [])),
    startedAt,
    servedAt: waitedMs === undefined ? undefined : startedAt + waitedMs,
    host: hostOf(said("url")),
    provider: said("provider"),
    model: said("model_id") ?? step.model?.modelId,
    account: said("account_tag"),
    params: said("cache_params_digest"),
    use: use === "warm" || use === "real" ? use : "unknown",
    segments: segmentsOf(context, bodies),
    told: recordsIn(payloadOf(context.told), "segments").flatMap((segment) => recordedSegment(segment) ?? []),
    prompt: step.model?.inputTokens ?? null,
    read: step.model?.cacheReadTokens ?? null,
    written: step.model?.cacheWriteTokens ?? null,
    written1h: step.model?.cacheWrite1hTokens ?? null,
    serviceTier: step.model?.serviceTier,
    request: context.request,
    renderedRef: firstOf(step.events, (event) =>
      event.event_type === "prompt_rendered" ? textIn(payloadOf(event), "rendered_prompt_ref") : undefined,
    ),
    providerSaid: firstOf(closings, diagnosisIn),
  }
}

/** Positions of the segments that ask to cache everything up to and including them. */
export const marksOf = (call: CacheCall): readonly number[] =>
  (call.segments ?? []).flatMap(({ mark }, index) => (mark === undefined ? [] : [index]))

/** How many leading segments two prompts share. */
export function sharedSegments(a: CacheCall, b: CacheCall): number {
  const [one, other] = [a.segments ?? [], b.segments ?? []]
  let shared = 0
  while (shared < one.length && shared < other.length && one[shared]!.hash === other[shared]!.hash) shared++
  return shared
}

/** Tokens up to and including a segment, shared out by size from what the provider counted for the whole. */
export function tokensUpTo({ segments = [], prompt }: CacheCall, index: number): number | null {
  const bytes = segments.reduce((sum, { length }) => sum + length, 0)
  if (prompt === null || bytes === 0) return null
  const upTo = segments.slice(0, index + 1).reduce((sum, { length }) => sum + length, 0)
  return Math.round((prompt * upTo) / bytes)
}

/** What the tokens of a call cost; undefined where no price is known. */
export const ratesOf = (call: CacheCall, prices: Parameters<typeof ratesFor>[3]): ReturnType<typeof ratesFor> =>
  ratesFor(
    {
      tokens: { prompt: call.prompt, completion: null, total: null },
      cacheWrite5m: null,
      cacheWrite1h: call.written1h,
      serviceTier: call.serviceTier ?? null,
      billedExtras: {},
      raw: null,
    },
    call.model ?? null,
    call.startedAt,
    prices,
  )

/** As derived from the request when it was captured; of an older recording, from its bytes now. */
function segmentsOf(context: RecordedContext, bodies: Bodies): readonly CacheSegment[] | undefined {
  const recorded = recordsIn(payloadOf(context.derived), "segments")
  if (recorded.length > 0) {
    const segments = recorded.map(recordedSegment)
    return segments.every((segment) => segment !== undefined) ? segments : undefined
  }
  return readableRequest(context, bodies)
    ?.anatomy.detailed()
    .flatMap((segment) => (segment.segment_hash === undefined ? [] : [{ ...segment, hash: segment.segment_hash }]))
}

function recordedSegment(segment: LoosePayload): CacheSegment | undefined {
  const hash = textIn(segment, "segment_hash") ?? textIn(segment, "content_ref")
  if (hash === undefined) return undefined
  // The schema says what else it holds; what is not of its type is not compared.
  const { mark, canonical_hash, media_hash, stable_hash, volatile, kind, is_error } = segment as Partial<Segment>
  return {
    hash,
    contributor: textIn(segment, "contributor") ?? "?",
    kind: kind ?? "other",
    role: textIn(segment, "role") ?? null,
    tool_call_id: textIn(segment, "tool_call_id"),
    is_error: is_error === true,
    length: countIn(segment, "length") ?? 0,
    mark: typeof mark === "object" && mark !== null ? mark : undefined,
    canonical_hash,
    media_hash,
    stable_hash,
    volatile: Array.isArray(volatile) ? volatile : undefined,
  }
}

function diagnosisIn(payload: LoosePayload): CacheCall["providerSaid"] {
  const diagnosis = payload["cache_diagnosis"]
  if (typeof diagnosis !== "object" || diagnosis === null) return undefined
  const type = textIn(diagnosis as LoosePayload, "type")
  return type === undefined
    ? undefined
    : { type, missedTokens: countIn(diagnosis as LoosePayload, "missed_tokens") ?? null }
}

function hostOf(url: string | undefined): string | undefined {
  try {
    return url === undefined ? undefined : new URL(url).host
  } catch {
    return undefined
  }
}

function firstOf<T, R>(items: readonly T[], read: (item: T) => R | undefined): R | undefined {
  for (const item of items) {
    const found = read(item)
    if (found !== undefined) return found
  }
  return undefined
}
