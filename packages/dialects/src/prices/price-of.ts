import type { Usage } from "../dialect.js"
import { BUILT_IN_PRICES } from "./built-in.js"
import { findPrice, type PriceTable, type Rates } from "./price-table.js"

export interface Price {
  /** US dollars for the tokens of the call; null when any part of it is unknown. */
  readonly usd: number | null
  readonly parts: {
    /** Prompt tokens that were neither read from a cache nor written to one. */
    readonly input: number | null
    readonly cacheRead: number | null
    readonly cacheWrite: number | null
    readonly output: number | null
  }
  readonly tableVersion: string
  /** Why the price is unknown; null when it is known. */
  readonly unknown: string | null
  /** The model, where the table lacking it is all that makes the price unknown. */
  readonly unlisted: string | null
  /** Things billed beside the tokens, which are not in `usd`. */
  readonly notIncluded: readonly string[]
}

/**
 * What a call cost.
 *
 * @example
 * priceOf(folded.usage, folded.model, Date.parse("2025-12-01")).usd // 0.0123, or null when unknown
 */
export function priceOf(usage: Usage, model: string | null, atMs: number, table: PriceTable = BUILT_IN_PRICES): Price {
  const notIncluded = Object.entries(usage.billedExtras).map(([what, count]) => `${what}: ${count}`)
  const unknown = (why: string, unlisted: string | null = null): Price => ({
    usd: null,
    parts: { input: null, cacheRead: null, cacheWrite: null, output: null },
    tableVersion: table.version,
    unknown: why,
    unlisted,
    notIncluded,
  })
  if (model === null) return unknown("the model is not known")
  if (usage.serviceTier !== null && !LIST_PRICE_TIERS.has(usage.serviceTier)) {
    return unknown(`the table has no prices for service tier ${usage.serviceTier}`)
  }
  const { prompt, completion } = usage.tokens
  if (prompt === null || completion === null) return unknown("the provider reported no token counts")
  const rates = ratesFor(usage, model, atMs, table)
  if (rates === undefined) return unknown(`the table has no price for ${model} at that time`, model)

  const cacheReadTokens = usage.tokens.cache_read ?? 0
  const cacheWriteTokens = usage.tokens.cache_write ?? 0
  const cacheRead = costOf(cacheReadTokens, rates.cacheRead)
  const cacheWrite = cacheWriteCost(usage, cacheWriteTokens, rates)
  if (cacheRead === null) return unknown(`the table has no cache-read price for ${model}`)
  if (cacheWrite === null) return unknown(`the table has no cache-write price for ${model}`)

  const input = costOf(Math.max(0, prompt - cacheReadTokens - cacheWriteTokens), rates.input)!
  const output = costOf(completion, rates.output)!
  const parts = { input, cacheRead, cacheWrite, output }
  return {
    usd: input + cacheRead + cacheWrite + output,
    parts,
    tableVersion: table.version,
    unknown: null,
    unlisted: null,
    notIncluded,
  }
}

/** The rates that hold for a call; undefined where the table has none. */
export function ratesFor(usage: Usage, model: string | null, atMs: number, table: PriceTable): Rates | undefined {
  if (usage.serviceTier !== null && !LIST_PRICE_TIERS.has(usage.serviceTier)) return undefined
  const entry = model === null ? undefined : findPrice(table, model, atMs)
  const isLong = entry?.above !== undefined && (usage.tokens.prompt ?? 0) > entry.above.promptTokens
  return isLong ? entry.above!.rates : entry?.rates
}

const LIST_PRICE_TIERS = new Set(["standard", "default", "auto", "standard_only"])

// Nothing of something unpriced costs nothing; one token of it is unknown.
function costOf(tokens: number, rate: number | null): number | null {
  if (tokens === 0) return 0
  return rate === null ? null : (tokens * rate) / 1_000_000
}

// Where the provider does not say how long its writes live, they are the default five minutes.
function cacheWriteCost(usage: Usage, total: number, rates: Rates): number | null {
  const oneHour = usage.cacheWrite1h ?? 0
  const short = costOf(Math.max(0, total - oneHour), rates.cacheWrite5m)
  const long = costOf(oneHour, rates.cacheWrite1h)
  return short === null || long === null ? null : short + long
}
