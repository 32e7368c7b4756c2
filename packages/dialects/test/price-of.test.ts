import { describe, expect, test } from "vitest"
import { BUILT_IN_PRICES, dialectOf, priceOf, withOverrides } from "../src/index.js"
import { findPrice } from "../src/prices/price-table.js"

const NOW = Date.parse("2025-12-01T00:00:00Z")
const anthropic = (raw: Record<string, unknown>) => dialectOf("anthropic-messages")!.usageOf(raw as never)
const chat = (raw: Record<string, unknown>) => dialectOf("openai-chat")!.usageOf(raw as never)

describe("[Q-06] money", () => {
  test("every kind of token has its own rate", () => {
    const usage = anthropic({
      input_tokens: 1_000,
      output_tokens: 2_000,
      cache_read_input_tokens: 100_000,
      cache_creation_input_tokens: 3_000,
      cache_creation: { ephemeral_5m_input_tokens: 1_000, ephemeral_1h_input_tokens: 2_000 },
    })
    const price = priceOf(usage, "claude-sonnet-4-5-20250929", NOW)
    expect(price.parts.input).toBeCloseTo(0.003, 10)
    expect(price.parts.cacheRead).toBeCloseTo(0.03, 10)
    expect(price.parts.cacheWrite).toBeCloseTo(0.00375 + 0.012, 10)
    expect(price.parts.output).toBeCloseTo(0.03, 10)
    expect(price.usd).toBeCloseTo(0.07875, 10)
    expect(price).toMatchObject({ unknown: null, tableVersion: BUILT_IN_PRICES.version })
  })

  test("OpenAI's cached tokens are taken out of the prompt, not added to it", () => {
    const usage = chat({
      prompt_tokens: 1_000_000,
      completion_tokens: 0,
      prompt_tokens_details: { cached_tokens: 400_000 },
    })
    expect(priceOf(usage, "gpt-5", NOW).usd).toBeCloseTo(0.6 * 1.25 + 0.4 * 0.125, 10)
  })

  test("a long prompt is priced by its own rates", () => {
    const usage = anthropic({ input_tokens: 300_000, output_tokens: 0 })
    expect(priceOf(usage, "claude-sonnet-4-5", NOW).usd).toBeCloseTo(1.8, 10)
  })

  test("a price is the one in force at the time of the call", () => {
    expect(findPrice(BUILT_IN_PRICES, "o3", Date.parse("2025-05-01"))!.rates.input).toBe(10)
    expect(findPrice(BUILT_IN_PRICES, "o3-2025-04-16", Date.parse("2025-07-01"))!.rates.input).toBe(2)
    expect(findPrice(BUILT_IN_PRICES, "o3", Date.parse("2024-01-01"))).toBeUndefined()
  })

  test("unknown stays unknown, with the reason, and is never zero", () => {
    const known = chat({ prompt_tokens: 1, completion_tokens: 1 })
    const reasons = [
      priceOf(known, "my-own-model", NOW),
      priceOf(known, null, NOW),
      priceOf(chat({}), "gpt-5", NOW),
      priceOf({ ...known, serviceTier: "priority" }, "gpt-5", NOW),
      priceOf(
        chat({ prompt_tokens: 9, completion_tokens: 1, prompt_tokens_details: { cached_tokens: 5 } }),
        "gpt-4-turbo",
        NOW,
      ),
    ]
    for (const price of reasons) {
      expect(price.usd).toBeNull()
      expect(price.unknown).toBeTruthy()
    }
    expect(priceOf(chat({ prompt_tokens: 0, completion_tokens: 0 }), "gpt-5", NOW).usd).toBe(0)
  })

  test("a user's entry wins, and the version says that it was used", () => {
    const rates = { input: 1, output: 1, cacheRead: null, cacheWrite5m: null, cacheWrite1h: null }
    const table = withOverrides(BUILT_IN_PRICES, [
      { model: "gpt-5", validFrom: "2025-08-07", rates },
      { model: "my-own-model", validFrom: "2020-01-01", rates },
    ])
    const usage = chat({ prompt_tokens: 1_000_000, completion_tokens: 1_000_000 })
    expect(priceOf(usage, "gpt-5", NOW, table)).toMatchObject({
      usd: 2,
      tableVersion: `${BUILT_IN_PRICES.version}+user`,
    })
    expect(priceOf(usage, "my-own-model", NOW, table).usd).toBe(2)
  })

  test("things billed beside the tokens are named", () => {
    const usage = anthropic({
      input_tokens: 1,
      output_tokens: 1,
      server_tool_use: { web_search_requests: 3, web_fetch_requests: 0 },
    })
    expect(priceOf(usage, "claude-haiku-4-5", NOW).notIncluded).toEqual(["web_search_requests: 3"])
  })

  test("the built-in table is in order: every entry has a date, positive rates, and no twin", () => {
    const keys = BUILT_IN_PRICES.entries.map(({ model, validFrom }) => `${model} ${validFrom}`)
    expect(new Set(keys).size).toBe(keys.length)
    for (const { validFrom, rates } of BUILT_IN_PRICES.entries) {
      expect(Number.isNaN(Date.parse(validFrom))).toBe(false)
      for (const rate of Object.values(rates)) expect(rate === null || rate > 0).toBe(true)
    }
  })
})
