import type { TokenUsage } from "@orangebox/contract"
import type { PriceTable } from "@orangebox/dialects"
import { describe, expect, test } from "vitest"
import { headerOf } from "../src/format-run.js"
import { moneyDetail, viewRun } from "../src/index.js"
import { moneyWords } from "../src/money.js"
import { runJson } from "../src/skeleton-json.js"
import { RunBuilder } from "./build-run.js"

const TABLE: PriceTable = {
  version: "test-1",
  source: "a test",
  entries: [
    {
      model: "claude-x",
      validFrom: "2020-01-01",
      rates: { input: 3, output: 15, cacheRead: 0.3, cacheWrite5m: 3.75, cacheWrite1h: 6 },
    },
  ],
}

function runWith(calls: { model: string; usage: Partial<TokenUsage> }[]) {
  const run = new RunBuilder()
  for (const { model, usage } of calls) {
    const step = run.callModel(model)
    run.modelAnswers(step, model, [0, 0, 0], { token_usage: { prompt: null, completion: null, total: null, ...usage } })
  }
  run.complete()
  return viewRun({ events: run.events, prices: TABLE })
}

describe("money", () => {
  test("[Q-06] a call costs what the table says for its tokens, cached ones at their own price", () => {
    const view = runWith([
      { model: "claude-x", usage: { prompt: 1_000_000, completion: 100_000, cache_read: 800_000 } },
    ])
    expect(view.money.usd).toBeCloseTo(0.2 * 3 + 0.8 * 0.3 + 0.1 * 15, 10)
    expect(view.money.tableVersion).toBe("test-1")
    expect(headerOf(view)).toContain("$2.34")
  })

  test("[Q-06] unknown stays unknown: an unpriced model or a call without usage is counted beside the sum, never as zero", () => {
    const view = runWith([
      { model: "claude-x", usage: { prompt: 1000, completion: 0 } },
      { model: "somebody-elses", usage: { prompt: 1000, completion: 0 } },
      { model: "claude-x", usage: {} },
    ])
    expect(view.money).toMatchObject({ pricedCalls: 1, unpricedCalls: 2 })
    expect(moneyWords(view.money)).toBe("$0.0030 + 2 unpriced")
    const nothing = runWith([{ model: "somebody-elses", usage: { prompt: 1, completion: 1 } }])
    expect(nothing.money.usd).toBeNull()
    expect(moneyWords(nothing.money)).toBe("")
    expect(headerOf(nothing)).not.toContain("$")
    expect(runJson(nothing)).toMatchObject({ money: { usd: null, unpriced_calls: 1 } })
  })

  test("[K-12] a model without a price is named once, with the line to add; the table says of when and from where it is", () => {
    const view = runWith([
      { model: "claude-x", usage: { prompt: 1000, completion: 0 } },
      { model: "somebody-elses", usage: { prompt: 1000, completion: 0 } },
      { model: "somebody-elses", usage: { prompt: 1000, completion: 0 } },
      { model: "silent-about-tokens", usage: {} },
    ])
    expect(moneyDetail(view.money)).toEqual([
      "$0.0030 + 3 unpriced: no price for somebody-elses (prices of test-1)",
      'add to orangebox.config.json: "prices": [{ "model": "somebody-elses", "input": …, "output": … }]',
    ])
    expect(runJson(view).money).toMatchObject({
      unlisted_models: ["somebody-elses"],
      table_version: "test-1",
      table_source: "a test",
    })
    const unreported = runWith([{ model: "claude-x", usage: {} }])
    expect(moneyDetail(unreported.money)).toEqual(["unknown: the provider reported no token counts (prices of test-1)"])
    const hostile = runWith([{ model: "a\u001b[31m\nb", usage: { prompt: 1, completion: 1 } }])
    expect(moneyDetail(hostile.money).join("")).not.toMatch(/[\u001b\n]/)
  })
})
