import {
  bm25Retriever,
  buildLlmContext,
  buildStepAwarenessBundle,
  type CompileInputs,
  compile,
  defineStages,
  estimateCounter,
  loadTokenizer,
  type TokenBudgetOptions,
  tokenBudget,
} from "@orangebox/context"
import { describe, expect, test } from "vitest"
import { spacedJson } from "../src/plain-json.js"
import { headroomTokens } from "../src/token-budget.js"
import { TRUNCATION_MARKER } from "../src/truncate.js"
import { outcome, PIPELINE_FILES, RESULTS, setupOver } from "./workspace.js"

const plain = defineStages({ name: "plain", version: "1", stages: [{ id: 1, name: "plain", mission: "Answer." }] })
const words = (count: number, word = "word"): string => Array.from({ length: count }, () => word).join(" ")
const inputs = (more: Partial<CompileInputs>): CompileInputs => ({
  runId: "run_1",
  generatedAt: "2026-01-01T00:00:00Z",
  ...more,
})
const userInput = (text: string) => ({ id: "question", type: "user_input", text, sourceRef: "event:1" }) as const

describe("the numbers", () => {
  test("[B-02] the defaults are those of a 32K window, and the headroom is computed", () => {
    expect(tokenBudget()).toEqual({
      ctx_max_tokens: 32_768,
      tier0_reserved: 1_200,
      tier1_cap: 3_000,
      history_cap: 6_000,
      telemetry_cap: 3_000,
      generation_reserve_tokens: 2_000,
    })
    expect(headroomTokens(tokenBudget())).toBe(17_568)
  })

  test("[B-02] both entry points take budgets of their own", () => {
    const budgets = { ctxMaxTokens: 4096, generationReserveTokens: 500 }
    expect(buildStepAwarenessBundle({ stepId: 1, budgets }, setupOver()).budgets).toMatchObject({
      ctx_max_tokens: 4096,
      generation_reserve_tokens: 500,
      tier1_cap: 3_000,
    })
    expect(buildLlmContext({ stepId: 1, budgets }, setupOver()).manifest.token_budget).toMatchObject({
      ctx_max_tokens: 4096,
      tiers: { generation: { reserved: 500, used: 0, left: 500 } },
    })
  })

  test.each([
    [{ ctxMaxTokens: -1 }, "ctxMaxTokens"],
    [{ tier1Cap: -5 }, "tier1Cap"],
    [{ historyCap: 1.5 }, "historyCap"],
    [{ telemetryCap: Number.NaN }, "telemetryCap"],
    [{ ctxMaxTokens: 1_000, generationReserveTokens: 2_000 }, "generationReserveTokens"],
    [{ ctxMaxTokens: 2_500 }, "tier0Reserved"],
  ] satisfies [TokenBudgetOptions, string][])(
    "[B-02] an impossible budget %j is refused, naming %s",
    (budgets, field) => {
      expect(() => buildLlmContext({ stepId: 1, budgets }, setupOver())).toThrow(
        expect.objectContaining({ code: "CONTEXT_BUDGET", where: `budgets.${field}` }),
      )
    },
  )

  test("[B-02] the estimate is 1.3 tokens a word, rounded up", () => {
    expect([0, 1, 3, 10].map((count) => estimateCounter.count(words(count)))).toEqual([0, 2, 4, 13])
    expect(estimateCounter.count(" a\tb\n c\u3000d ")).toBe(6)
  })

  test("[B-08] a real tokenizer counts what the estimate cannot see, and takes special tokens for text", async () => {
    const counter = await loadTokenizer()
    expect(counter.count("hello world")).toBe(2)
    expect(counter.count("<|endoftext|>")).toBeGreaterThan(1)
    expect(counter.count("x".repeat(5_000))).toBeGreaterThan(500)
    const { manifest } = compile(plain.stage(1), inputs({ counter, items: [userInput("hello world")] }))
    expect(manifest.token_budget.counter).toEqual({ id: "gpt-tokenizer/o200k_base", version: "3.4.0" })
  })
})

describe("the rules", () => {
  test("[B-02] rule 1: tier 0 over its reservation is still there in full, and the others shrink", () => {
    const catalog = defineStages({
      name: "long",
      version: "1",
      stages: [{ id: 1, name: "long", mission: words(500), keyMetrics: ["note"] }],
    })
    const compiled = compile(
      catalog.stage(1),
      inputs({
        results: { note: words(400) },
        budgets: { ctxMaxTokens: 1_000, tier0Reserved: 100, generationReserveTokens: 200 },
      }),
    )
    const { tier0, tier1 } = compiled.manifest.token_budget.tiers
    expect(compiled.bundle.context.mission).toBe(words(500))
    expect(tier0).toEqual({ reserved: 100, used: 653, left: 0 })
    expect(tier1.reserved).toBe(1_000 - 200 - 653)
    expect(tier1.used).toBeLessThanOrEqual(tier1.reserved)
  })

  test("[B-02] tier 0 plus the reserve over the window is an error that says so", () => {
    const catalog = defineStages({ name: "l", version: "1", stages: [{ id: 1, name: "l", mission: words(500) }] })
    const budgets = { ctxMaxTokens: 800, tier0Reserved: 100, generationReserveTokens: 200 }
    expect(() => compile(catalog.stage(1), inputs({ budgets }))).toThrow(
      "tier 0 needs 653 tokens, and with a generation reserve of 200 that is more than the window of 800",
    )
  })

  test("[B-02] rule 2: tier 1 is cut at its cap with the visible mark; the cut item counts as included, with both sizes", () => {
    const { bundle, manifest, prompt } = compile(
      plain.stage(1),
      inputs({ items: [userInput(words(1_000))], budgets: { tier1Cap: 100 } }),
    )
    expect(bundle.context.inputs![0]!.text).toMatch(/^(word )+\[\.\.\. truncated to fit token budget \.\.\.\]$/)
    expect(prompt).toContain(TRUNCATION_MARKER)
    const [entry] = manifest.inclusion_log.filter(({ item_id }) => item_id === "question")
    expect(entry).toMatchObject({ from_tokens: 1_307, to_tokens: entry!.tokens })
    expect(entry!.tokens).toBeLessThanOrEqual(100)
    // One word more would be over the cap.
    expect(entry!.tokens).toBeGreaterThan(97)
    expect(manifest.exclusion_log).toEqual([])
  })

  test("[B-02] rule 2: a cut never falls inside a character", () => {
    const counter = { id: "units", version: "1", count: (text: string) => text.length }
    for (const tier1Cap of [90, 91, 92, 93]) {
      const { prompt } = compile(
        plain.stage(1),
        inputs({ counter, items: [userInput("😀".repeat(200))], budgets: { tier1Cap } }),
      )
      expect(prompt).toMatch(/\n {4}(😀)+ \[\.\.\. truncated/u)
      expect(prompt).not.toContain("\ufffd")
    }
  })

  test("[B-02] rule 2: a long list of results is cut too, and later ones are left out as budget_limit", () => {
    const results = { mean_score: 1, score_std: 2, top_candidates: Array.from({ length: 5_000 }, (_, i) => i) }
    const { bundle, manifest } = buildLlmContext({ stepId: 3, results, budgets: { tier1Cap: 90 } }, setupOver())
    expect(bundle.context.inputs_summary["top_candidates"]).toMatch(
      /^\[0, 1, .*truncated to fit token budget \.\.\.\]$/,
    )
    expect(manifest.token_budget.tiers.tier1.used).toBeLessThanOrEqual(90)
    const tight = buildLlmContext({ stepId: 3, results, budgets: { tier1Cap: 10 } }, setupOver()).manifest
    expect(tight.exclusion_log.filter(({ excluded_reason }) => excluded_reason === "budget_limit")).not.toEqual([])
  })

  test("[B-02] rule 3: tier 2 fills what is left, history before telemetry, each within its own cap", () => {
    const summaries = Object.fromEntries(
      Array.from({ length: 50 }, (_, i) => [
        `chapter13/summaries/${String(i).padStart(3, "0")}.json`,
        outcome({ result: words(20), run_id: `run_${i}` }),
      ]),
    )
    const files = { ...PIPELINE_FILES, ...summaries }
    const roomy = buildLlmContext({ stepId: 3, results: RESULTS }, setupOver(files))
    expect(roomy.bundle.context.recent_outcomes).toHaveLength(52)
    expect(roomy.bundle.context.open_incidents).toHaveLength(1)

    const capped = buildLlmContext({ stepId: 3, budgets: { historyCap: 100 } }, setupOver(files))
    expect(capped.manifest.token_budget.tiers.history).toMatchObject({ reserved: 100 })
    expect(capped.bundle.context.recent_outcomes).toHaveLength(4)
    expect(capped.bundle.context.open_incidents).toHaveLength(1)

    const small = { ctxMaxTokens: 700, tier0Reserved: 300, generationReserveTokens: 200 }
    const tight = buildLlmContext({ stepId: 3, budgets: small }, setupOver(files))
    expect(tight.bundle.context.recent_outcomes.length).toBeGreaterThan(0)
    expect(tight.bundle.context.trend_summary).toEqual([])
    expect(tight.manifest.exclusion_log).toContainEqual(
      expect.objectContaining({ item_id: "watcher_failures.jsonl#L1", excluded_reason: "budget_limit" }),
    )
  })

  test("[B-02] rule 4: a counter whose whole is more than its parts still cannot touch the reserve", () => {
    // The estimate on every part, but twice as much for anything that holds two sections.
    const counter = {
      id: "superadditive",
      version: "1",
      count: (text: string) => estimateCounter.count(text) * ((text.match(/^# /gm)?.length ?? 0) > 1 ? 2 : 1),
    }
    const chunks = Array.from({ length: 20 }, (_, i) => ({ id: `c${i}`, text: words(30, `alpha${i} alpha`) }))
    const { manifest } = compile(
      plain.stage(1),
      inputs({
        counter,
        query: "alpha",
        retrievers: [bm25Retriever({ chunks })],
        budgets: { ctxMaxTokens: 1_000, tier0Reserved: 50, generationReserveTokens: 300 },
      }),
    )
    expect(manifest.token_budget.prompt_tokens).toBeLessThanOrEqual(700)
    expect(manifest.selected_chunk_ids.length).toBeGreaterThan(0)
    expect(manifest.inclusion_log.length + manifest.exclusion_log.length).toBe(manifest.considered_count)
  })

  test("[B-02] a counter that answers nonsense is named", () => {
    const counter = { id: "broken", version: "1", count: () => Number.NaN }
    expect(() => compile(plain.stage(1), inputs({ counter }))).toThrow("token counter broken answered NaN")
  })
})

test("JSON with room to breathe keeps its strings, however long they are", () => {
  expect(spacedJson({ a: [1, 2], b: 'x,y:"z\\', c: "," })).toBe('{"a": [1, 2], "b": "x,y:\\"z\\\\", "c": ","}')
  const long = "a,".repeat(10_000_000)
  expect(spacedJson([long])).toHaveLength(long.length + 4)
})
