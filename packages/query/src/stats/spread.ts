/** How often something took so long: under 2ⁿ microseconds and at least half of that, by n. */
export type Durations = Readonly<Record<number, number>>

/** What a percentile is: one value where every duration is at hand, else the two that it lies between. */
export interface Percentile {
  readonly fromMs: number
  readonly toMs: number
}

/** How durations are spread. */
export interface Spread {
  /** How many durations are known. */
  readonly count: number
  /** Null where none is kept. */
  readonly sumMs: number | null
  readonly maxMs: number | null
  /** The value that half of them, and that 95 of 100, do not exceed. Null where there are none. */
  readonly p50: Percentile | null
  readonly p95: Percentile | null
  /** Computed from every duration; else from how many took under each power of two of a microsecond. */
  readonly isExact: boolean
}

/** The spread of what a roll-up counted; exact where `each` holds as many durations as it counted. */
export function spreadOf(
  sum: { readonly durations: Durations; readonly sumMs: number | null; readonly maxMs: number | null },
  each: readonly number[] = [],
): Spread {
  const count = Object.values(sum.durations).reduce((total, of) => total + of, 0)
  const isExact = each.length === count
  const sorted = isExact ? Float64Array.from(each).sort() : undefined
  const percentile = (share: number): Percentile | null => {
    if (count === 0) return null
    const rank = Math.max(1, Math.ceil(share * count))
    if (sorted !== undefined) return { fromMs: sorted[rank - 1]!, toMs: sorted[rank - 1]! }
    return boundsAt(sum.durations, rank, sum.maxMs)
  }
  return { count, sumMs: sum.sumMs, maxMs: sum.maxMs, p50: percentile(0.5), p95: percentile(0.95), isExact }
}

function boundsAt(durations: Durations, rank: number, maxMs: number | null): Percentile {
  const buckets = Object.keys(durations)
    .map(Number)
    .sort((one, other) => one - other)
  let before = 0
  for (const bucket of buckets) {
    before += durations[bucket]!
    if (before < rank) continue
    const fromMs = bucket === 0 ? 0 : 2 ** (bucket - 1) / 1000
    const toMs = bucket === 0 ? 0 : (2 ** bucket - 1) / 1000
    return { fromMs, toMs: maxMs === null ? toMs : Math.max(fromMs, Math.min(toMs, maxMs)) }
  }
  return { fromMs: 0, toMs: maxMs ?? 0 }
}

/** Adds one count by bucket to another. */
export function addDurations(sum: Record<number, number>, more: Durations): void {
  for (const [bucket, count] of Object.entries(more)) sum[Number(bucket)] = (sum[Number(bucket)] ?? 0) + count
}
