import { describe, expect, test } from "vitest"
import { BUILT_IN_PRICES, dialectOf, priceOf, withOverrides } from "../src/index.js"
import { findPrice } from "../src/prices/price-table.js"

const NOW = Date.parse("2025-12-01T00:00:00Z")
const TODAY = Date.parse("2026-11-17T00:00:00Z")
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

  test("[K-12] what the clients of every day send by default has a price, and the table says of when and from where", () => {
    const sent = [
      "claude-opus-4-8",
      "claude-opus-4-7",
      "claude-sonnet-4-6",
      "claude-sonnet-4-5",
      "claude-haiku-4-5-20251001",
      "gpt-6.1-sol",
      "gpt-5.4",
      "gpt-4o",
      "gemini-3.1-pro-preview",
      "gemini-3.5-flash-lite",
      "gemini-2.5-pro",
    ]
    const usage = chat({ prompt_tokens: 1_000_000, completion_tokens: 0 })
    for (const model of sent)
      expect(priceOf(usage, model, TODAY), model).toMatchObject({ unknown: null, unlisted: null })
    expect(BUILT_IN_PRICES.version).toMatch(/^\d{4}-\d\d-\d\d$/)
    expect(BUILT_IN_PRICES.source).toMatch(/LiteLLM/)
  })

  test("[K-12] a vendor in front and a date behind are spelling; every other variant is unknown", () => {
    const rateOf = (model: string): number | undefined => findPrice(BUILT_IN_PRICES, model, TODAY)?.rates.input
    for (const model of [
      "anthropic/claude-opus-4-7",
      "anthropic/claude-opus-4-7-20260416",
      "openai/gpt-5.5",
      "openai/o3-2025-04-16",
      "models/gemini-2.5-pro",
      "google/gemini-3.1-pro-preview",
      "gpt-5.4-2026-03-05",
    ])
      expect(rateOf(model), model).toBeGreaterThan(0)
    for (const model of [
      "us.anthropic.claude-opus-4-7-v1:0",
      "claude-opus-4-7@20260416",
      "claude-opus-4-7-fast",
      "claude-opus-4-7[1m]",
      "claude-opus-4-77",
      "gpt-5.5-pro",
      "openai/gpt-5.5:free",
      "openai/claude-opus-4-7",
      "azure/gpt-5.5",
      "gemini-2.5-pro-exp-03-25",
      "gemini-2.5-flash-preview-09-2025",
      "gemini-flash-latest",
      "anthropic/anthropic/claude-opus-4-7",
    ])
      expect(rateOf(model), model).toBeUndefined()
  })

  test("[K-12] a faster mode, a promised region and a long prompt are not priced as the plain call", () => {
    const plain = { input_tokens: 1_000_000, output_tokens: 0, service_tier: "standard" }
    const priced = (raw: object, model: string) => priceOf(anthropic({ ...plain, ...raw }), model, TODAY)
    expect(priced({ speed: "standard", inference_geo: "global" }, "claude-opus-4-8").usd).toBe(5)
    expect(priced({ speed: "fast" }, "claude-opus-4-8")).toMatchObject({ usd: null, unlisted: null })
    expect(priced({ inference_geo: "us" }, "claude-opus-4-8").unknown).toMatch(/tier us/)
    expect(priceOf(chat({ prompt_tokens: 300_000, completion_tokens: 100_000 }), "gpt-5.5", TODAY).usd).toBeCloseTo(
      3 + 4.5,
      10,
    )
    expect(
      priceOf(chat({ prompt_tokens: 1, completion_tokens: 1 }), "gpt-5.6", Date.parse("2026-08-15")).usd,
    ).toBeNull()
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
