import type { CacheRule } from "@orangebox/dialects"
import { type CacheCall, type CacheSegment, marksOf, sharedSegments, tokensUpTo } from "./cache-call.js"

/** Why a prompt was not served from the cache, as far as the record tells. `not_served`: nothing on our side changed. */
export type MissCause =
  | "model_changed"
  | "mark_missing"
  | "wrong_prefix_warmed"
  | "unstable_serialisation"
  | "reencoded_attachment"
  | "volatile_value"
  | "injection_changed"
  | "tools_changed"
  | "history_rewritten"
  | "content_changed"
  | "params_changed"
  | "lookback_exceeded"
  | "mark_moved"
  | "below_minimum"
  | "ttl_gap"
  | "concurrent"
  | "not_served"

export interface CauseFound {
  readonly cause: MissCause
  /** The first segment that is not as it was, by its position in either prompt. */
  readonly segment: ChangedSegment | undefined
  /** In our words, where the class alone does not say it. */
  readonly detail: string | undefined
}

export interface ChangedSegment {
  readonly index: number
  readonly before: CacheSegment | undefined
  readonly now: CacheSegment | undefined
  /** What the application calls the first thing in it that changed. */
  readonly told: Pick<CacheSegment, "contributor" | "kind"> | undefined
}

/** What a call can be compared with: the one it goes on from, and everything else that was sent before it. */
export interface CacheNeighbours {
  readonly reference: CacheCall
  readonly earlier: readonly CacheCall[]
  /** The last segment of what the reference had kept and this call could have read. */
  readonly left: number
}

/** The first reason that applies; in this order, because each one makes those behind it moot. */
export function causeOfMiss(
  call: CacheCall,
  { reference, earlier, left }: CacheNeighbours,
  rule: CacheRule,
): CauseFound {
  const found = (cause: MissCause, detail?: string, segment?: ChangedSegment): CauseFound => ({
    cause,
    segment,
    detail,
  })
  for (const what of ["model", "host", "account"] as const) {
    if (differ(call[what], reference[what])) return found("model_changed", `another ${what}`)
  }
  const marks = marksOf(call)
  if (rule.keeps === "marked" && marks.length === 0 && marksOf(reference).length > 0) {
    return found("mark_missing", "no cache mark, and the call before had one")
  }
  const shared = sharedSegments(call, reference)
  if (reference.use === "warm") {
    const real = earlier.findLast(({ use }) => use !== "warm")
    if (real !== undefined && sharedSegments(call, real) > shared) return found("wrong_prefix_warmed")
  }
  const change = shared <= left ? changeSince(call, reference) : undefined
  if (change !== undefined) return change
  if (differ(call.params, reference.params)) return found("params_changed", "same prompt, other settings or headers")
  const lastMark = marks.at(-1)
  if (rule.keeps === "marked" && lastMark !== undefined) {
    const reach = rule.lookbackSegments ?? Number.POSITIVE_INFINITY
    if (lastMark < left) return found("mark_moved", "the last cache mark stands before what had been kept")
    const isInReach = marks.some((mark) => mark >= left && mark - left <= reach)
    if (!isInReach)
      return found("lookback_exceeded", `${lastMark - left} blocks before the next mark, ${reach} are tried`)
  }
  const size = tokensUpTo(call, left)
  if (size !== null && size < rule.minimumTokens.from) {
    return found("below_minimum", `≈${size} tokens, ${rule.minimumTokens.from} are the least`)
  }
  const lastUse = lastUseOf(call, earlier, left)
  const lives = livesMs(reference, left, rule)
  if (call.startedAt - lastUse > lives) {
    return found("ttl_gap", `${Math.round((call.startedAt - lastUse) / 1000)} s since its last use`)
  }
  if (reference.servedAt !== undefined && reference.servedAt > call.startedAt) {
    return found("concurrent", "the call that writes it had not begun to answer")
  }
  return found("not_served", "the same bytes, within the time they live")
}

/** The first segment of a prompt that is not as it was in another one; undefined where all of that is still there, at its place. */
export function changeSince(
  call: CacheCall,
  reference: CacheCall,
): (CauseFound & { segment: ChangedSegment }) | undefined {
  if (call.segments === undefined || reference.segments === undefined) return undefined
  const index = sharedSegments(call, reference)
  if (index >= reference.segments.length) return undefined
  const segment = { index, before: reference.segments[index], now: call.segments[index] }
  const told = toldChange(call, reference, segment)
  const cause = causeOfChange({ ...segment, told }, call, reference)
  return { cause, segment: { ...segment, told }, detail: undefined }
}

/** The position up to which a call's prompt can have been kept: its last mark, or all of it. */
export function keptUpTo(call: CacheCall, rule: CacheRule): number {
  const all = (call.segments?.length ?? 0) - 1
  return rule.keeps === "marked" ? (marksOf(call).at(-1) ?? all) : all
}

/** The latest moment before a call at which something used the prefix that it could have read. */
export function lastUseOf(call: CacheCall, earlier: readonly CacheCall[], left: number): number {
  const users = earlier.filter((other) => sharedSegments(call, other) > left && !differ(call.model, other.model))
  return Math.max(...users.map(({ startedAt }) => startedAt), Number.NEGATIVE_INFINITY)
}

/** The longest that what was kept can have lived. */
function livesMs(reference: CacheCall, left: number, { livesMs: usual, livesByTtl = {} }: CacheRule): number {
  const ttl = reference.segments?.[left]?.mark?.ttl
  return ttl === undefined || ttl === null ? usual.to : (livesByTtl[ttl] ?? usual.to)
}

function causeOfChange(segment: ChangedSegment, call: CacheCall, reference: CacheCall): MissCause {
  const { before, now, told } = segment
  const isSame = (hash: "canonical_hash" | "media_hash" | "stable_hash"): boolean =>
    before?.[hash] !== undefined && before[hash] === now?.[hash]
  if (isSame("canonical_hash")) return "unstable_serialisation"
  if (isSame("media_hash")) return "reencoded_attachment"
  if (isSame("stable_hash")) return "volatile_value"
  const kinds = [before?.kind, now?.kind, told?.kind]
  const isOf = (kind: CacheSegment["kind"]): boolean => kinds.includes(kind)
  if (isOf("skill") || isOf("agent-profile")) return "injection_changed"
  if (isOf("tool-def")) return "tools_changed"
  if (isOf("history")) return "history_rewritten"
  const names = ({ segments = [] }: CacheCall) => new Set(segments.map(({ contributor }) => contributor))
  const cameOrWent =
    (now !== undefined && !names(reference).has(now.contributor)) ||
    (before !== undefined && !names(call).has(before.contributor))
  return cameOrWent && !isOf("user-msg") ? "injection_changed" : "content_changed"
}

/** History and tools have names on the wire; of a system text only the application knows what it is made of. */
function toldChange(
  call: CacheCall,
  reference: CacheCall,
  { before, now }: Pick<ChangedSegment, "before" | "now">,
): ChangedSegment["told"] {
  const kind = (now ?? before)?.kind
  if (kind !== "persona" && kind !== "other") return undefined
  const isNew = ({ told }: CacheCall, { hash }: CacheSegment): boolean => told.every((other) => other.hash !== hash)
  return (
    call.told.find((segment) => isNew(reference, segment)) ?? reference.told.find((segment) => isNew(call, segment))
  )
}

/** Only what is known on both sides can differ. */
const differ = (a: string | undefined, b: string | undefined): boolean => a !== undefined && b !== undefined && a !== b
