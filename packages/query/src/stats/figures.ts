import { noTokens, type TokenCounts } from "@orangebox/runs"
import { addDurations, type Spread, spreadOf } from "./spread.js"
import type { StepDuration, StepSum } from "./step-sums.js"

/** What steps of one kind add up to. Null is unknown: a sum is null until something was known. */
export interface Figures {
  readonly count: number
  readonly successes: number
  readonly errors: number
  readonly timeouts: number
  /** Without an end on record: still running, or never ended. */
  readonly open: number
  /** Most frequent first. */
  readonly errorClasses: readonly { readonly errorClass: string; readonly count: number }[]
  /** Tries of model calls that ended, at least one each. */
  readonly attempts: number | null
  readonly tokens: Readonly<TokenCounts>
  readonly callsWithoutUsage: number
  /** Of the calls that have a price. */
  readonly usd: number | null
  readonly unpricedCalls: number
  readonly duration: Spread
  readonly firstByte: Spread
  /** From the first byte of an answer to its end. */
  readonly generation: Spread
}

const TOKENS = ["prompt", "completion", "cacheRead", "cacheWrite", "reasoning"] as const

export function figuresOf(sums: readonly StepSum[], durations: readonly StepDuration[]): Figures {
  const counts = { count: 0, successes: 0, errors: 0, timeouts: 0, open: 0, callsWithoutUsage: 0, unpricedCalls: 0 }
  const tokens = noTokens()
  const classes = new Map<string, number>()
  const duration = { durations: {}, sumMs: 0, maxMs: null as number | null }
  const firstByte = { durations: {}, sumMs: 0, maxMs: null as number | null }
  const generations = {}
  let attempts: number | null = null
  let nano: number | null = null
  for (const sum of sums) {
    counts.count += sum.count
    counts.successes += sum.successes
    counts.errors += sum.errors
    counts.timeouts += sum.timeouts
    counts.open += sum.open
    counts.callsWithoutUsage += sum.callsWithoutUsage ?? 0
    counts.unpricedCalls += sum.unpricedCalls ?? 0
    attempts = added(attempts, sum.attempts)
    // Whole billionths, as they are kept: the sum of any grouping is the same to the last digit.
    nano = added(nano, sum.usd === null ? null : Math.round(sum.usd * 1e9))
    for (const field of TOKENS) tokens[field] = added(tokens[field], sum.tokens[field])
    for (const [name, count] of Object.entries(sum.errorClasses)) classes.set(name, (classes.get(name) ?? 0) + count)
    addDurations(duration.durations, sum.durations)
    addDurations(firstByte.durations, sum.firstBytes)
    addDurations(generations, sum.generations)
    duration.sumMs += sum.durationMsSum
    firstByte.sumMs += sum.firstByteMsSum ?? 0
    if (Object.keys(sum.durations).length > 0) duration.maxMs = Math.max(duration.maxMs ?? 0, sum.durationMsMax)
    if (sum.firstByteMsMax !== null) firstByte.maxMs = Math.max(firstByte.maxMs ?? 0, sum.firstByteMsMax)
  }
  // Thousandths are all that was measured; the rest is what adding up leaves.
  duration.sumMs = Math.round(duration.sumMs * 1000) / 1000
  firstByte.sumMs = Math.round(firstByte.sumMs * 1000) / 1000
  const firstBytes = durations.filter(({ firstByteMs }) => firstByteMs !== null)
  return {
    ...counts,
    errorClasses: [...classes]
      .map(([errorClass, count]) => ({ errorClass, count }))
      .sort((one, other) => other.count - one.count || (one.errorClass < other.errorClass ? -1 : 1)),
    attempts,
    tokens,
    usd: nano === null ? null : nano / 1e9,
    duration: spreadOf(
      duration,
      durations.map(({ durationMs }) => durationMs),
    ),
    firstByte: spreadOf(
      firstByte,
      firstBytes.map(({ firstByteMs }) => firstByteMs!),
    ),
    generation: spreadOf(
      // Of the time after the first byte no sum is kept.
      { durations: generations, sumMs: null, maxMs: null },
      firstBytes.map(({ durationMs, firstByteMs }) => Math.max(0, durationMs - firstByteMs!)),
    ),
  }
}

const added = (sum: number | null, more: number | null): number | null => (more === null ? sum : (sum ?? 0) + more)
