import type { PriceEntry, PriceTable, Rates } from "./price-table.js"

// Anthropic prices a cache read at a tenth of its input, a write at 1.25 (five minutes) or 2 times (one hour) of it.
const anthropic = (input: number, output: number): Rates => ({
  input,
  output,
  cacheRead: exact(input * 0.1),
  cacheWrite5m: exact(input * 1.25),
  cacheWrite1h: exact(input * 2),
})

// OpenAI does not charge for writing its cache, on the models listed here.
const openai = (input: number, cacheRead: number | null, output: number): Rates => ({
  input,
  output,
  cacheRead,
  cacheWrite5m: null,
  cacheWrite1h: null,
})

const exact = (rate: number): number => Number(rate.toFixed(6))

const entry = (model: string, validFrom: string, rates: Rates, above?: PriceEntry["above"]): PriceEntry => ({
  model,
  validFrom,
  rates,
  ...(above === undefined ? {} : { above }),
})

/** Requests over 200 000 tokens to the million-token window of these models are dearer as a whole. */
const LONG_SONNET = { promptTokens: 200_000, rates: anthropic(6, 22.5) }

/**
 * Public list prices for plain, unbatched calls. Only models whose price is certain are here, and only rates that are: whatever is missing
 * makes a price unknown, never wrong. Add what you use with `prices` in the configuration.
 */
export const BUILT_IN_PRICES: PriceTable = {
  version: "2025-11-30",
  entries: [
    entry("claude-opus-4-5", "2025-11-24", anthropic(5, 25)),
    entry("claude-haiku-4-5", "2025-10-15", anthropic(1, 5)),
    entry("claude-sonnet-4-5", "2025-09-29", anthropic(3, 15), LONG_SONNET),
    entry("claude-opus-4-1", "2025-08-05", anthropic(15, 75)),
    entry("claude-opus-4", "2025-05-22", anthropic(15, 75)),
    entry("claude-opus-4-0", "2025-05-22", anthropic(15, 75)),
    entry("claude-sonnet-4", "2025-05-22", anthropic(3, 15), LONG_SONNET),
    entry("claude-sonnet-4-0", "2025-05-22", anthropic(3, 15), LONG_SONNET),
    entry("claude-3-7-sonnet", "2025-02-24", anthropic(3, 15)),
    entry("claude-3-5-sonnet", "2024-06-20", anthropic(3, 15)),
    entry("claude-3-5-haiku", "2024-12-03", anthropic(0.8, 4)),
    entry("claude-3-opus", "2024-03-04", anthropic(15, 75)),
    entry("claude-3-haiku", "2024-03-13", {
      input: 0.25,
      output: 1.25,
      cacheRead: 0.03,
      cacheWrite5m: 0.3,
      cacheWrite1h: null,
    }),
    entry("gpt-5.1", "2025-11-13", openai(1.25, 0.125, 10)),
    entry("gpt-5", "2025-08-07", openai(1.25, 0.125, 10)),
    entry("gpt-5-mini", "2025-08-07", openai(0.25, 0.025, 2)),
    entry("gpt-5-nano", "2025-08-07", openai(0.05, 0.005, 0.4)),
    entry("gpt-4.1", "2025-04-14", openai(2, 0.5, 8)),
    entry("gpt-4.1-mini", "2025-04-14", openai(0.4, 0.1, 1.6)),
    entry("gpt-4.1-nano", "2025-04-14", openai(0.1, 0.025, 0.4)),
    entry("gpt-4o", "2024-10-02", openai(2.5, 1.25, 10)),
    entry("gpt-4o-2024-05-13", "2024-05-13", openai(5, null, 15)),
    entry("gpt-4o-mini", "2024-10-02", openai(0.15, 0.075, 0.6)),
    entry("o1", "2024-12-17", openai(15, 7.5, 60)),
    entry("o3", "2025-04-16", openai(10, 2.5, 40)),
    entry("o3", "2025-06-10", openai(2, 0.5, 8)),
    entry("o3-mini", "2025-01-31", openai(1.1, 0.55, 4.4)),
    entry("o4-mini", "2025-04-16", openai(1.1, 0.275, 4.4)),
    entry("gpt-4-turbo", "2024-04-09", openai(10, null, 30)),
    entry("gpt-3.5-turbo-0125", "2024-01-25", openai(0.5, null, 1.5)),
  ],
}
