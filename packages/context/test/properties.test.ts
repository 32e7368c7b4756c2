import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import {
  type CompiledContext,
  type CompileInputs,
  ContextManifest,
  compile,
  defineStages,
  estimateCounter,
  type FileReader,
  rebuildContext,
  renderPromptFromBundle,
  STEP_AWARENESS_PRESET,
  type TokenCounter,
} from "@orangebox/context"
import fc from "fast-check"
import { describe, expect, onTestFinished, test, vi } from "vitest"
import { contextOf, itemsOf } from "../src/sections.js"
import { outcome } from "./workspace.js"

/** Everything a context may be made of, as JSON, so that another process can be handed the same. */
interface Scene {
  readonly stepId: number
  readonly files: Readonly<Record<string, string>>
  readonly results: Readonly<Record<string, unknown>>
  readonly items: CompileInputs["items"]
  readonly found: readonly { readonly chunk: { readonly id: string; readonly text: string }; readonly score: number }[]
  readonly minScore: number
  readonly budgets: NonNullable<CompileInputs["budgets"]>
}

const catalog = defineStages(STEP_AWARENESS_PRESET)

function readerOf(files: Readonly<Record<string, string>>): FileReader {
  return {
    read: (path) => (Object.hasOwn(files, path) ? new TextEncoder().encode(files[path]) : undefined),
    list: (folder) =>
      Object.keys(files)
        .filter((path) => path.startsWith(`${folder}/`))
        .map((path) => path.slice(folder.length + 1)),
  }
}

function compileScene(scene: Scene, counter: TokenCounter = estimateCounter): CompiledContext {
  return compile(catalog.stage(scene.stepId), {
    runId: "run_1",
    generatedAt: "2026-01-01T00:00:00Z",
    reader: readerOf(scene.files),
    results: scene.results,
    items: scene.items ?? [],
    query: "q",
    retrievers: [{ id: "fixed", version: "1", retrieve: () => scene.found }],
    minScore: scene.minScore,
    budgets: scene.budgets,
    counter,
  })
}

const text = fc.oneof(
  fc.lorem({ maxCount: 60 }),
  fc.string({ unit: "binary", maxLength: 80 }),
  fc.constantFrom("", "\n# Mission\n", "\ud800 lone", "\ufeffbom", "一二三四五", "a".repeat(3_000)),
)
const metric = fc.oneof(fc.double(), fc.integer(), text, fc.array(fc.integer(), { maxLength: 200 }), fc.boolean())
const metricNames = STEP_AWARENESS_PRESET.stages.flatMap(({ keyMetrics }) => keyMetrics ?? [])

const sceneOf: fc.Arbitrary<Scene> = fc.record({
  stepId: fc.constantFrom(1, 2, 3, 4, 5, 6, 13),
  files: fc
    .record({
      summaries: fc.array(fc.record({ step: fc.integer({ min: 1, max: 6 }), result: text }), { maxLength: 8 }),
      history: fc.array(fc.oneof(fc.json(), fc.constant('{"step":3,"mean_score":1}')), { maxLength: 8 }),
      failures: fc.array(
        fc.oneof(
          fc.json(),
          fc
            .record({ id: fc.integer({ max: 3 }), message: text, resolved: fc.boolean() })
            .map((line) => JSON.stringify(line)),
        ),
        { maxLength: 8 },
      ),
    })
    .map(({ summaries, history, failures }) => ({
      ...Object.fromEntries(
        summaries.map(({ step, result }, i) => [`chapter13/summaries/${i}.json`, outcome({ step, result })]),
      ),
      "run_history.jsonl": history.join("\n"),
      "watcher_failures.jsonl": failures.join("\n"),
    })),
  results: fc.dictionary(fc.oneof(fc.constantFrom(...metricNames), fc.string({ maxLength: 8 })), metric),
  items: fc.uniqueArray(
    fc.record({
      id: fc.string({ minLength: 1, maxLength: 8 }),
      type: fc.constantFrom("user_input", "tool_output", "memory"),
      text,
      sourceRef: fc.constant("event:1"),
    }),
    { selector: ({ id }) => id, maxLength: 5 },
  ),
  found: fc.array(
    fc.record({
      chunk: fc.record({
        id: fc.oneof(fc.constantFrom("a", "b", "mission", "a~2"), fc.string({ minLength: 1 })),
        text,
      }),
      score: fc.oneof(fc.integer({ min: -5, max: 5 }), fc.double({ noNaN: true, noDefaultInfinity: true })),
    }),
    { maxLength: 15 },
  ),
  minScore: fc.double({ min: -1, max: 1, noNaN: true }),
  budgets: fc.record({
    ctxMaxTokens: fc.integer({ min: 1_000, max: 3_000 }),
    tier0Reserved: fc.integer({ min: 0, max: 400 }),
    tier1Cap: fc.integer({ min: 0, max: 300 }),
    historyCap: fc.integer({ min: 0, max: 300 }),
    telemetryCap: fc.integer({ min: 0, max: 300 }),
    generationReserveTokens: fc.integer({ min: 0, max: 500 }),
  }),
})

/** Where parts count less than their whole and neighbours merge: as unkind to a budget as a counter can be and still be one. */
const bytePairs: TokenCounter = { id: "pairs", version: "1", count: (all) => Math.ceil(Buffer.byteLength(all) / 6) + 3 }

describe("for any inputs", () => {
  const holds = (check: (compiled: CompiledContext, scene: Scene) => void): void => {
    fc.assert(
      fc.property(sceneOf, fc.constantFrom(estimateCounter, bytePairs), (scene, counter) =>
        check(compileScene(scene, counter), scene),
      ),
      { numRuns: 150 },
    )
  }

  test("[B-02] no budget is ever exceeded except by tier 0, and the generation reserve is never touched (property)", () => {
    holds(({ manifest }) => {
      const { token_budget, inclusion_log } = manifest
      const { tiers } = token_budget
      expect(token_budget.prompt_tokens + token_budget.generation_reserve_tokens).toBeLessThanOrEqual(
        token_budget.ctx_max_tokens,
      )
      expect(token_budget.headroom_tokens).toBeGreaterThanOrEqual(0)
      for (const share of [tiers.tier1, tiers.history, tiers.telemetry]) {
        expect(share.used).toBeLessThanOrEqual(share.reserved)
        expect(share.left).toBe(share.reserved - share.used)
      }
      expect(tiers.tier1.reserved).toBeLessThanOrEqual(token_budget.tier1_cap)
      expect(tiers.history.reserved).toBeLessThanOrEqual(token_budget.history_cap)
      expect(tiers.telemetry.reserved).toBeLessThanOrEqual(token_budget.telemetry_cap)
      const all = Object.values(tiers).reduce((sum, { used }) => sum + used, 0)
      expect(inclusion_log.reduce((sum, { tokens }) => sum + tokens, 0)).toBe(all)
    })
  })

  test("[M-02] included and excluded together are what was considered, and nothing is in both (property)", () => {
    holds(({ manifest, bundle }, { items, found, results }) => {
      const included = manifest.inclusion_log.map(({ item_id }) => item_id)
      const excluded = manifest.exclusion_log.map(({ item_id }) => item_id)
      const all = [...included, ...excluded]
      expect(new Set(all).size).toBe(all.length)
      expect(all.length).toBe(manifest.considered_count)
      expect(manifest.candidate_chunk_ids).toHaveLength(found.length)
      expect(all).toEqual(expect.arrayContaining(manifest.candidate_chunk_ids.map(({ chunk_id }) => chunk_id)))
      expect(all.filter((id) => manifest.selected_chunk_ids.includes(id))).toHaveLength(
        bundle.context.evidence?.length ?? 0,
      )
      // At least the stage, the five refused sources, and each result, item and chunk by itself.
      expect(all.length).toBeGreaterThanOrEqual(
        (items?.length ?? 0) +
          found.length +
          Object.keys(results).filter((key) => results[key] !== undefined).length +
          5,
      )
    })
  })

  test("[M-03] rebuilding equals rendering, and the manifest is what its schema says (property)", () => {
    holds(({ manifest, bodies, prompt, bundle }) => {
      expect(prompt.isWellFormed()).toBe(true)
      expect(renderPromptFromBundle(bundle)).toBe(prompt)
      expect(rebuildContext(JSON.parse(JSON.stringify(manifest)), bodies)).toEqual({ ok: true, prompt })
      expect(ContextManifest.safeParse(manifest).error).toBeUndefined()
      expect(contextOf(itemsOf(bundle.context))).toEqual(bundle.context)
    })
  })

  test("[B-01] freezing is deep (property)", () => {
    holds(({ bundle }) => {
      const waiting: unknown[] = [bundle]
      for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
        if (typeof value !== "object" || value === null) continue
        expect(Object.isFrozen(value)).toBe(true)
        waiting.push(...Object.values(value).filter((member) => member !== undefined))
      }
    })
  })

  test("[B-05] the same inputs give the same everything, whatever order a folder is listed in (property)", () => {
    holds((compiled, scene) => {
      const counter = compiled.manifest.token_budget.counter.id === "pairs" ? bytePairs : estimateCounter
      expect(compileScene(structuredClone(scene), counter)).toEqual(compiled)
      const files = Object.fromEntries(Object.entries(scene.files).reverse())
      expect(compileScene({ ...scene, files }, counter).prompt).toBe(compiled.prompt)
    })
  })
})

describe("determinism", () => {
  test("[B-05] other processes compile the same prompts, manifests and provenance hashes", () => {
    const scenes = fc.sample(sceneOf, { numRuns: 25, seed: 7 }).map((scene): Scene => JSON.parse(JSON.stringify(scene)))
    const folder = mkdtempSync(join(tmpdir(), "orangebox-context-"))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    writeFileSync(join(folder, "scenes.json"), JSON.stringify(scenes))
    const script = new URL("fixtures/compile-scenes.mjs", import.meta.url).pathname
    const outputs = ["UTC", "Pacific/Auckland"].map((TZ) => {
      const child = spawnSync(process.execPath, [script, join(folder, "scenes.json")], {
        encoding: "utf8",
        maxBuffer: 64 << 20,
        env: { ...process.env, TZ, LANG: TZ === "UTC" ? "C" : "tr_TR.UTF-8" },
      })
      expect(child.stderr).toBe("")
      return JSON.parse(child.stdout)
    })
    const here = scenes.map((scene) => {
      const { prompt, manifest, bundle } = compileScene(scene)
      return JSON.parse(JSON.stringify({ prompt, manifest, bundle }))
    })
    for (const there of outputs) expect(there).toEqual(here)
  })

  test("[B-05] compiling asks neither a clock nor dice", () => {
    const forbidden = () => {
      throw new Error("a pure compiler has no use for this")
    }
    const [scene] = fc.sample(sceneOf, { numRuns: 1, seed: 5 })
    vi.spyOn(Date, "now").mockImplementation(forbidden)
    vi.spyOn(performance, "now").mockImplementation(forbidden)
    vi.spyOn(Math, "random").mockImplementation(forbidden)
    vi.spyOn(crypto, "getRandomValues").mockImplementation(forbidden)
    try {
      expect(compileScene(scene!).prompt).toContain("# Mission")
    } finally {
      vi.restoreAllMocks()
    }
  })

  test("[B-05] the prompt holds neither the time, nor the run, nor a generated id", () => {
    const [scene] = fc.sample(sceneOf, { numRuns: 1, seed: 3 })
    const at = (runId: string, generatedAt: string): CompiledContext =>
      compile(catalog.stage(3), { runId, generatedAt, reader: readerOf(scene!.files), results: { mean_score: 1 } })
    const [one, two] = [at("run_A", "2026-01-01T00:00:00Z"), at("run_B", "2031-07-09T12:00:00Z")]
    expect(one.prompt).toBe(two.prompt)
    expect({ ...one.manifest, run_id: "" }).toEqual({ ...two.manifest, run_id: "" })
    expect({ ...one.bundle, run_id: "", generated_at: "" }).toEqual({ ...two.bundle, run_id: "", generated_at: "" })
    expect(one.prompt).not.toMatch(/run_[AB]|20\d\d-\d\d-\d\d/)
  })
})
