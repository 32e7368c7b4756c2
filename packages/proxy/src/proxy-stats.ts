import { type FoldedResponse, type PriceTable, priceOf } from "@orangebox/dialects"
import type { WireEnd } from "@orangebox/recorder"

/** What passed so far, as plain numbers that can be added up. */
export interface ProxyStats {
  /** Recorded calls to models, each once with all its attempts, as readers of the run count them. */
  readonly modelCalls: number
  /** Other recorded requests. */
  readonly otherRequests: number
  /** Requests an instrumented agent records itself; the run only links to them. */
  readonly linkedCalls: number
  /** Requests that were forwarded without a record, because recording is off or broke. */
  readonly unrecorded: number
  /** Turns of the model that stand in a recorded history and that no recorded call answered with. */
  readonly unseenTurns: number
  /** Requests the proxy did not forward. */
  readonly refused: number
  /** Of these, the ones that asked for a WebSocket. */
  readonly refusedWebSockets: number
  /** Calls and other requests that ended in an error of the upstream, a reset or a time-out. */
  readonly errors: number
  /** Attempts of calls that were, or could have been, asked again. */
  readonly failedAttempts: number
  readonly clientAborts: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cacheReadTokens: number
  /** Of the calls whose provider says what it read from its cache: their input tokens. */
  readonly cacheableTokens: number
  /** Answered calls without token counts. */
  readonly callsWithoutUsage: number
  readonly usd: number
  /** Answered calls whose price is not known: `usd` leaves them out. */
  readonly unpricedCalls: number
  readonly bytesRecorded: number
}

export const NO_STATS: ProxyStats = {
  modelCalls: 0,
  otherRequests: 0,
  linkedCalls: 0,
  unrecorded: 0,
  unseenTurns: 0,
  refused: 0,
  refusedWebSockets: 0,
  errors: 0,
  failedAttempts: 0,
  clientAborts: 0,
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheableTokens: 0,
  callsWithoutUsage: 0,
  usd: 0,
  unpricedCalls: 0,
  bytesRecorded: 0,
}

export function addStats(a: ProxyStats, b: Partial<ProxyStats>): ProxyStats {
  const sum: { -readonly [Name in keyof ProxyStats]: number } = { ...a }
  for (const name of Object.keys(b) as (keyof ProxyStats)[]) sum[name] += b[name] ?? 0
  return sum
}

export interface EndedCall {
  readonly isModel: boolean
  /** An attempt of a call; how that call ends is known when nothing more of it comes. */
  readonly isAttempt: boolean
  /** The call itself was counted before. */
  readonly isRepeat: boolean
  readonly how: WireEnd
  readonly status: number | null
  readonly folded: FoldedResponse | undefined
  readonly model: string | null
  readonly bytes: number
  readonly atMs: number
}

/** What one ended exchange adds. */
export function statsOf(call: EndedCall, prices: PriceTable): Partial<ProxyStats> {
  const common = {
    bytesRecorded: call.bytes,
    ...(call.how === "client_abort" ? { clientAborts: 1 } : {}),
    ...(isFailed(call) ? (call.isAttempt ? { failedAttempts: 1 } : { errors: 1 }) : {}),
  }
  if (!call.isModel) return { ...common, otherRequests: 1 }
  const usage = call.folded?.usage
  const { prompt, completion, cache_read } = usage?.tokens ?? {}
  const isAnswered = call.status !== null && call.status < 400
  const price = usage && isAnswered ? priceOf(usage, call.folded?.model ?? call.model, call.atMs, prices) : undefined
  return {
    modelCalls: call.isRepeat ? 0 : 1,
    inputTokens: prompt ?? 0,
    outputTokens: completion ?? 0,
    cacheReadTokens: cache_read ?? 0,
    cacheableTokens: typeof cache_read === "number" ? (prompt ?? 0) : 0,
    callsWithoutUsage: isAnswered && (prompt ?? null) === null && (completion ?? null) === null ? 1 : 0,
    usd: price?.usd ?? 0,
    unpricedCalls: isAnswered && (price?.usd ?? null) === null ? 1 : 0,
    ...common,
  }
}

/** A client that leaves has not made the call fail. */
export function isFailed({ how, status, folded }: Pick<EndedCall, "how" | "status" | "folded">): boolean {
  if (how === "client_abort") return false
  return how !== "complete" || status === null || status >= 400 || Boolean(folded?.error)
}
