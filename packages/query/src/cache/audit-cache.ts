import { type CacheRule, type CacheRules, cacheRuleOf, MARKED_UNNAMED, type PriceTable } from "@orangebox/dialects"
import { recordedWord } from "@orangebox/text"
import { type CacheCall, type CacheSegment, marksOf, ratesOf, sharedSegments, tokensUpTo } from "./cache-call.js"
import { type CauseFound, causeOfMiss, keptUpTo } from "./miss-cause.js"

/** Providers count a few tokens of their own. */
const HIT_SHARE = 0.98

/** A prefix of another conversation can be read for an hour at most where its mark says so, and rarely longer. */
const LONGEST_REACH_MS = 60 * 60_000

/** One call against what the rules say its provider could have served. */
export interface CallAudit {
  readonly call: CacheCall
  /** Null where nothing was to be read: the first call of its prefix, or one after which nothing had been kept. */
  readonly verdict: "hit" | "short" | "miss" | "unknown" | null
  /** Tokens that could have been read; null where that cannot be said. */
  readonly expected: number | null
  /** Whether `expected` is the provider's own figure for what it had kept, and not shared out by size. */
  readonly isExact: boolean
  readonly reference: CacheCall | undefined
  readonly found: CauseFound | undefined
  /** Why there is no verdict, or why nothing could be expected. */
  readonly why: string | undefined
  /** Tokens that were expected, paid for again, and what that cost beyond reading them; null is unknown. */
  readonly lostTokens: number | null
  readonly lostUsd: number | null
  /** The provider reports what it read in multiples of this; 1 where it counts tokens, or nobody knows. */
  readonly stepTokens: number
}

export interface CacheAudit {
  readonly calls: readonly CallAudit[]
  readonly rulesVersion: string
  readonly pricesVersion: string
  /** Sums over the calls for which both are known. */
  readonly expected: number
  readonly read: number
  readonly lostTokens: number
  /** Null when no lost token has a price. */
  readonly lostUsd: number | null
  readonly unpricedCalls: number
}

/**
 * Every call of a run against the calls before it. `before` are calls of other runs that may have filled the cache.
 *
 *     auditCache(calls, [], BUILT_IN_CACHE_RULES, BUILT_IN_PRICES).calls[3].found?.cause   // "volatile_value"
 */
export function auditCache(
  calls: readonly CacheCall[],
  before: readonly CacheCall[],
  rules: CacheRules,
  prices: PriceTable,
): CacheAudit {
  const all = [...before, ...calls].sort((a, b) => a.startedAt - b.startedAt)
  const audits = calls.map((call) => ({
    ...auditCall(call, all.slice(0, all.indexOf(call)), rules, prices),
    stepTokens: call.model === undefined ? 1 : (cacheRuleOf(rules, call.model, call.startedAt)?.stepTokens ?? 1),
  }))
  return { calls: audits, rulesVersion: rules.version, pricesVersion: prices.version, ...cacheSums(audits) }
}

/** What calls add up to; of some calls of a run as of all. */
export function cacheSums(audits: readonly CallAudit[]): Omit<CacheAudit, "calls" | "rulesVersion" | "pricesVersion"> {
  const known = audits.filter(({ expected, call }) => expected !== null && call.read !== null)
  const lost = audits.filter(({ lostTokens }) => (lostTokens ?? 0) > 0)
  const priced = lost.filter(({ lostUsd }) => lostUsd !== null)
  return {
    expected: sumOf(known, ({ expected }) => expected!),
    read: sumOf(known, ({ call, expected }) => Math.min(call.read!, expected!)),
    lostTokens: sumOf(lost, ({ lostTokens }) => lostTokens!),
    lostUsd: priced.length === 0 ? null : sumOf(priced, ({ lostUsd }) => lostUsd!),
    unpricedCalls: lost.length - priced.length,
  }
}

const sumOf = <T>(items: readonly T[], read: (item: T) => number): number =>
  items.reduce((sum, item) => sum + read(item), 0)

function auditCall(
  call: CacheCall,
  sent: readonly CacheCall[],
  rules: CacheRules,
  prices: PriceTable,
): Omit<CallAudit, "stepTokens"> {
  const none = {
    expected: null,
    isExact: false,
    reference: undefined,
    found: undefined,
    lostTokens: null,
    lostUsd: null,
  }
  const unknown = (why: string): Omit<CallAudit, "stepTokens"> => ({ ...none, call, verdict: "unknown", why })
  if (call.segments === undefined && call.request?.notOnWire !== undefined) return unknown(call.request.notOnWire)
  if (call.model === undefined) return unknown("the model is not known")
  const rule = cacheRuleOf(rules, call.model, call.startedAt) ?? (saysWhatItKept(call) ? MARKED_UNNAMED : undefined)
  // A call that was cut off says nothing at all, and a rule would not help.
  if (rule === undefined && call.prompt === null && call.read === null && call.written === null)
    return unknown("it has no token counts")
  if (rule === undefined) return unknown(`no rule says how ${recordedWord(call.model, 60)} is cached`)
  const earlier = sent.filter(({ prompt, segments }) => prompt !== null && segments !== undefined)
  const found = referenceOf(call, earlier)
  if (found === undefined) return { ...none, call, verdict: null, why: "first" }
  const { reference, isSameTalk } = found
  const left = isSameTalk ? keptUpTo(reference, rule) : sharedUpTo(call, reference, rule)
  const kept = isSameTalk ? keptBy(reference, rule) : keptOf(reference, left, rule)
  const { tokens, isExact } = kept
  const isElsewhere = reference.runId !== call.runId && reference.runId !== null
  const why = kept.why !== undefined && isElsewhere ? `in ${reference.runId}: ${kept.why}` : kept.why
  if (tokens === null) return { ...none, call, verdict: "unknown", reference, why }
  if (tokens === 0) return { ...none, call, verdict: null, reference, expected: 0, why }
  if (call.read === null) return { ...none, call, verdict: "unknown", reference, why: "it does not say what it read" }
  // What is shorter than the least that is kept cannot be read either, whatever the call before had left. Under another model it could have been.
  if (call.model === reference.model && call.prompt !== null && call.prompt < rule.minimumTokens.from) {
    const least = `it was shorter than the ${rule.minimumTokens.from} tokens that are kept`
    return { ...none, call, verdict: null, reference, expected: 0, why: least }
  }
  const expected = Math.min(tokens, call.prompt ?? tokens)
  const answered = { call, reference, expected, isExact }
  if (call.read >= expected * HIT_SHARE) {
    return { ...answered, verdict: "hit", found: undefined, why: undefined, lostTokens: 0, lostUsd: 0 }
  }
  if (call.segments === undefined) return { ...none, ...answered, verdict: "unknown", why: NO_SEGMENTS }
  const cause = causeOfMiss(call, { reference, earlier, left }, rule)
  // A cache that promises nothing has not failed: only bytes that changed are a finding.
  if (rule.keeps !== "marked" && cause.cause === "not_served") {
    return {
      ...none,
      ...answered,
      verdict: "unknown",
      found: cause,
      why: "nothing changed, and such a cache promises nothing",
    }
  }
  const lostTokens = expected - call.read
  return {
    ...answered,
    verdict: call.read === 0 ? "miss" : "short",
    found: cause,
    why: undefined,
    lostTokens,
    lostUsd: lostMoney(call, lostTokens, prices),
  }
}

const NO_SEGMENTS = "its request was not kept, so nobody can say what its prompt was made of"

const saysWhatItKept = (call: CacheCall): boolean =>
  marksOf(call).length > 0 && (call.read !== null || call.written !== null)

/**
 * The call whose prefix this one could read: the one it goes on from, else the last of its lane, else whichever before it shares most with
 * it. Where none shares anything it is the first of its kind.
 */
function referenceOf(
  call: CacheCall,
  earlier: readonly CacheCall[],
): { readonly reference: CacheCall; readonly isSameTalk: boolean } | undefined {
  const own = earlier.filter(({ runId, context }) => runId === call.runId && !context.isAuxiliary)
  const isFollowed = ({ stepId }: CacheCall): boolean => stepId !== undefined && call.follows.includes(stepId)
  const inLane =
    own.findLast((other) => isFollowed(other) && goesOnFrom(call, other)) ??
    own.findLast((other) => other.lane === call.lane && goesOnFrom(call, other))
  if (inLane !== undefined) return { reference: inLane, isSameTalk: true }
  let best: CacheCall | undefined
  let most = 0
  for (const other of earlier) {
    const isNear = call.startedAt - other.startedAt <= LONGEST_REACH_MS
    const shared = isNear && other.model === call.model ? likeSegments(call, other) : 0
    // Of equals the later one: what it read lives longer.
    if (shared > 0 && shared >= most) [best, most] = [other, shared]
  }
  // Sharing less than what was kept is no bust but another prompt.
  return best !== undefined && most > (marksOf(best)[0] ?? 0) ? { reference: best, isSameTalk: false } : undefined
}

/**
 * Whether a call may go on from another. Agents that take turns in one run have prompts of their own, and the next task of an agent is a talk of its own:
 * where nothing that was said is in both, they are two prompts, and neither breaks the cache of the other; unless they differ first by a time or a spelling.
 */
function goesOnFrom(call: CacheCall, other: CacheCall): boolean {
  const [now = [], before = []] = [call.segments, other.segments]
  if (now.length === 0 || before.length === 0) return true
  const at = sharedSegments(call, other)
  if (at >= now.length || at >= before.length || isLike(now[at]!, before[at]!)) return true
  const said = new Set(before.filter(isSaid).map(({ hash }) => hash))
  return said.size === 0 || now.some((segment) => isSaid(segment) && said.has(segment.hash))
}

/** The same but for a time, an order of keys, or the bytes of a picture. */
const isLike = (one: CacheSegment, other: CacheSegment): boolean =>
  (["hash", "canonical_hash", "stable_hash", "media_hash"] as const).some(
    (hash) => one[hash] !== undefined && one[hash] === other[hash],
  )

/** How many leading segments two prompts would share if nothing in them were volatile. */
function likeSegments({ segments: one = [] }: CacheCall, { segments: other = [] }: CacheCall): number {
  let like = 0
  while (like < one.length && like < other.length && isLike(one[like]!, other[like]!)) like++
  return like
}

/** Of another talk a call can read no more than both begin with, up to where that was kept. */
function sharedUpTo(call: CacheCall, reference: CacheCall, rule: CacheRule): number {
  const last = likeSegments(call, reference) - 1
  return rule.keeps === "marked" ? (marksOf(reference).findLast((mark) => mark <= last) ?? -1) : last
}

/** How many tokens a call left in the cache up to a segment: its own figure where that is all it kept, else by size. */
function keptOf(reference: CacheCall, left: number, rule: CacheRule): ReturnType<typeof keptBy> {
  const kept = keptBy(reference, rule)
  const upTo = tokensUpTo(reference, left)
  if (kept.tokens === null || upTo === null || left >= keptUpTo(reference, rule)) return kept
  const isLeast = upTo < rule.minimumTokens.from
  const why = isLeast
    ? `what it shares with #${reference.n} is shorter than the ${rule.minimumTokens.from} tokens that are kept`
    : undefined
  const tokens = isLeast ? 0 : Math.floor(upTo / rule.stepTokens) * rule.stepTokens
  return { tokens: Math.min(kept.tokens, tokens), isExact: false, why: kept.why ?? why }
}

/** Part of the talk, and not of what every call of an agent begins with. */
const isSaid = ({ kind }: { readonly kind?: string | undefined }): boolean => kind === "history" || kind === "user-msg"

/** How many tokens of its prompt a call left in the cache. */
function keptBy(
  call: CacheCall,
  rule: CacheRule,
): { readonly tokens: number | null; readonly isExact: boolean; readonly why: string | undefined } {
  const { prompt, read, written } = call
  if (rule.keeps === "marked") {
    // What it read and what it wrote is, together, its prompt up to the last mark.
    if (read !== null || written !== null) {
      const tokens = (read ?? 0) + (written ?? 0)
      return { tokens, isExact: true, why: tokens === 0 ? nothingKept(call, rule) : undefined }
    }
    if (marksOf(call).length === 0) return { tokens: 0, isExact: true, why: `#${call.n} asked to keep nothing` }
    const tokens = tokensUpTo(call, keptUpTo(call, rule))
    return { tokens, isExact: false, why: tokens === null ? `#${call.n} does not say what it kept` : undefined }
  }
  if (prompt === null) return { tokens: null, isExact: false, why: `#${call.n} has no token counts` }
  const { from, to } = rule.minimumTokens
  if (prompt < from)
    return { tokens: 0, isExact: false, why: `#${call.n} was shorter than the ${from} tokens that are kept` }
  if (prompt < to) return { tokens: null, isExact: false, why: `whether ${prompt} tokens are kept is not certain` }
  return { tokens: Math.floor(prompt / rule.stepTokens) * rule.stepTokens, isExact: false, why: undefined }
}

function nothingKept(call: CacheCall, rule: CacheRule): string {
  if (marksOf(call).length === 0) return `#${call.n} asked to keep nothing`
  const size = tokensUpTo(call, keptUpTo(call, rule)) ?? 0
  if (size < rule.minimumTokens.to)
    return `#${call.n} kept nothing: ≈${size} tokens, ${rule.minimumTokens.to} are the least`
  return `#${call.n} kept nothing, though it was asked to`
}

/** What was paid for the lost tokens beyond what reading them costs. What was written again was billed as a write. */
function lostMoney(call: CacheCall, lostTokens: number, prices: PriceTable): number | null {
  const rates = ratesOf(call, prices)
  if (rates === undefined || rates.cacheRead === null) return null
  const rewritten = Math.min(lostTokens, call.written ?? 0)
  const writeRate = (call.written1h ?? 0) > 0 ? rates.cacheWrite1h : rates.cacheWrite5m
  if (rewritten > 0 && writeRate === null) return null
  const billed = rewritten * (writeRate ?? 0) + (lostTokens - rewritten) * rates.input
  return (billed - lostTokens * rates.cacheRead) / 1_000_000
}
