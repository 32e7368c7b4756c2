import type { PriceEntry, PriceTable, Rates } from "./price-table.js"

// Anthropic prices a cache read at a tenth of its input, on the models before its fifth generation, a write at 1.25 (five minutes) or 2 times
// (one hour) of it.
const anthropic = (input: number, output: number, cacheRead: number = exact(input * 0.1)): Rates => ({
  input,
  output,
  cacheRead,
  cacheWrite5m: exact(input * 1.25),
  cacheWrite1h: exact(input * 2),
})

// OpenAI charges for writing its cache from 5.6 on, whatever the time it lives.
const openai = (input: number, cacheRead: number | null, output: number, cacheWrite: number | null = null): Rates => ({
  input,
  output,
  cacheRead,
  cacheWrite5m: cacheWrite,
  cacheWrite1h: cacheWrite,
})

// Google bills implicit caching by its reads alone.
const google = (input: number, cacheRead: number, output: number): Rates => openai(input, cacheRead, output)

/** Twice the input and one and a half times the output, for the whole of a call whose prompt is longer. */
const longer = (promptTokens: number, { input, output, cacheRead, cacheWrite5m }: Rates): PriceEntry["above"] => ({
  promptTokens,
  rates: openai(input * 2, cacheRead && exact(cacheRead * 2), output * 1.5, cacheWrite5m && cacheWrite5m * 2),
})

const openaiLong = (model: string, validFrom: string, rates: Rates): PriceEntry =>
  entry(model, validFrom, rates, longer(272_000, rates))

const exact = (rate: number): number => Number(rate.toFixed(6))

const entry = (model: string, validFrom: string, rates: Rates, above?: PriceEntry["above"]): PriceEntry => ({
  model,
  validFrom,
  rates,
  ...(above === undefined ? {} : { above }),
})

/** Requests over 200 000 tokens to the million-token window of these models are dearer as a whole. */
const LONG_SONNET = { promptTokens: 200_000, rates: anthropic(6, 22.5) }

const GEMINI_PRO = google(2, 0.2, 12)
const GEMINI_2_5_PRO = google(1.25, 0.125, 10)

/** For models that came after the table before this one and never changed their price: no call to them can be older than they are. */
const SINCE_ITS_LAUNCH = "2025-12-01"

/**
 * Public list prices for plain, unbatched calls. Only models whose price is certain are here, and only rates that are: whatever is missing
 * makes a price unknown, never wrong. Where a price changed and the day is not known, the entry begins with the first day it was seen, and
 * calls before it have no price. Add what you use with `prices` in the configuration.
 */
export const BUILT_IN_PRICES: PriceTable = {
  version: "2026-11-16",
  source:
    "list prices as in LiteLLM 1.108.4 (model_prices_and_context_window), unchanged in its releases since 1.81.5 or dated by them",
  entries: [
    entry("claude-opus-5-5", SINCE_ITS_LAUNCH, anthropic(4, 20, 0.2)),
    entry("claude-opus-5", SINCE_ITS_LAUNCH, anthropic(5, 25)),
    entry("claude-sonnet-5-5", "2026-11-16", anthropic(2, 10, 0.1)),
    entry("claude-sonnet-5", SINCE_ITS_LAUNCH, anthropic(2, 10)),
    entry("claude-haiku-5-5", "2026-11-16", anthropic(0.1, 0.5), {
      promptTokens: 100_000,
      rates: anthropic(0.5, 2.5),
    }),
    entry("claude-fable-5-1", SINCE_ITS_LAUNCH, anthropic(10, 50, 0.25)),
    entry("claude-fable-5", SINCE_ITS_LAUNCH, anthropic(10, 50)),
    entry("claude-opus-4-8", SINCE_ITS_LAUNCH, anthropic(5, 25)),
    entry("claude-opus-4-7", "2026-04-16", anthropic(5, 25)),
    // Until then long prompts to these two were dearer.
    entry("claude-opus-4-6", "2026-03-13", anthropic(5, 25)),
    entry("claude-sonnet-4-6", "2026-03-13", anthropic(3, 15)),
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
    openaiLong("gpt-6.1-sol", SINCE_ITS_LAUNCH, openai(2, 0.1, 10, 2.5)),
    openaiLong("gpt-6-astra", SINCE_ITS_LAUNCH, openai(10, 1, 50, 12.5)),
    openaiLong("gpt-6-sol", SINCE_ITS_LAUNCH, openai(2, 0.2, 10, 2.5)),
    openaiLong("gpt-6-luna", SINCE_ITS_LAUNCH, openai(0.1, 0.01, 0.5, 0.125)),
    openaiLong("gpt-5.6", "2026-09-01", openai(4, 0.4, 20, 5)),
    openaiLong("gpt-5.6-sol", "2026-09-01", openai(4, 0.4, 20, 5)),
    openaiLong("gpt-5.6-terra", "2026-09-01", openai(2, 0.2, 12, 2.5)),
    openaiLong("gpt-5.6-luna", "2026-09-01", openai(0.2, 0.02, 1.2, 0.25)),
    openaiLong("gpt-5.5", "2026-04-23", openai(5, 0.5, 30)),
    openaiLong("gpt-5.4", "2026-03-05", openai(2.5, 0.25, 15)),
    entry("gpt-5.4-mini", "2026-03-17", openai(0.75, 0.075, 4.5)),
    entry("gpt-5.4-nano", "2026-03-17", openai(0.2, 0.02, 1.25)),
    entry("gpt-5.3-codex", SINCE_ITS_LAUNCH, openai(1.75, 0.175, 14)),
    entry("gpt-5.2", "2025-12-11", openai(1.75, 0.175, 14)),
    entry("gpt-5.2-codex", SINCE_ITS_LAUNCH, openai(1.75, 0.175, 14)),
    entry("gpt-5.1-codex-max", SINCE_ITS_LAUNCH, openai(1.25, 0.125, 10)),
    entry("gpt-5.1-codex", "2025-11-13", openai(1.25, 0.125, 10)),
    entry("gpt-5.1-codex-mini", "2025-11-13", openai(0.25, 0.025, 2)),
    entry("gpt-5-codex", "2025-09-23", openai(1.25, 0.125, 10)),
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
    // Flash models take audio at another rate; what coding agents send is text and images.
    entry("gemini-3.8-flash", SINCE_ITS_LAUNCH, google(0.75, 0.075, 3.75)),
    entry("gemini-3.7-flash", SINCE_ITS_LAUNCH, google(0.75, 0.075, 3.75)),
    entry("gemini-3.6-flash", "2026-09-01", google(0.75, 0.075, 3.75)),
    entry("gemini-3.5-flash", SINCE_ITS_LAUNCH, google(1.5, 0.15, 9)),
    entry("gemini-3.5-flash-lite", SINCE_ITS_LAUNCH, google(0.3, 0.03, 2.5)),
    entry("gemini-3.1-pro-preview", SINCE_ITS_LAUNCH, GEMINI_PRO, longer(200_000, GEMINI_PRO)),
    entry("gemini-3.1-pro-preview-customtools", SINCE_ITS_LAUNCH, GEMINI_PRO, longer(200_000, GEMINI_PRO)),
    entry("gemini-3.1-flash-lite", "2026-08-02", google(0.25, 0.025, 1.5)),
    entry("gemini-3-flash-preview", SINCE_ITS_LAUNCH, google(0.5, 0.05, 3)),
    entry("gemini-2.5-pro", SINCE_ITS_LAUNCH, GEMINI_2_5_PRO, longer(200_000, GEMINI_2_5_PRO)),
    entry("gemini-2.5-flash", SINCE_ITS_LAUNCH, google(0.3, 0.03, 2.5)),
    entry("gemini-2.5-flash-lite", SINCE_ITS_LAUNCH, google(0.1, 0.01, 0.4)),
  ],
}
