import {
  bm25Retriever,
  buildLlmContext,
  ContextManifest,
  compile,
  defineStages,
  rebuildContext,
  renderPromptFromBundle,
  STEP_AWARENESS_PRESET,
  withSchemaRepair,
} from "@orangebox/context"
import { bodyHash, textHash, validatePayload } from "@orangebox/contract"
import { describe, expect, test } from "vitest"
import { PIPELINE_FILES, RESULTS, setupOver } from "./workspace.js"

const chunks = [
  { id: "scoring-notes", text: "Scores near 0.5 separate nothing. CANARY-chunk", sourceRef: "file:notes.md#L1" },
  { id: "old-notes", text: "Scoring was slower before. CANARY-old", sourceRef: "file:notes.md#L9" },
]
const full = () =>
  compile(defineStages(STEP_AWARENESS_PRESET).stage(3), {
    runId: "run_7",
    stepId: "00f067aa0ba902b7",
    generatedAt: "2026-01-01T00:00:00Z",
    reader: setupOver(PIPELINE_FILES).reader,
    objective: "Decide whether scoring may go on",
    invariants: ["never skip a survivor"],
    results: { ...RESULTS, log: "CANARY-log" },
    items: [{ id: "question", type: "user_input", text: "May we go on? CANARY-user", sourceRef: "event:e1" }],
    query: "scores separate",
    retrievers: [bm25Retriever({ chunks })],
    manifestPath: "agent_manifests/full_scoring.json",
  })

describe("the manifest", () => {
  test("[M-01] it has every required field, and is what its schema says", () => {
    const { manifest } = full()
    expect(ContextManifest.parse(manifest)).toEqual(manifest)
    expect(manifest).toMatchObject({
      run_id: "run_7",
      step_id: "00f067aa0ba902b7",
      snapshot_id: expect.stringMatching(/^snapshot_[0-9a-f]{32}$/),
      intent: { objective: "Decide whether scoring may go on", invariants: ["never skip a survivor"] },
      retrieval_query: "scores separate",
      candidate_chunk_ids: [{ chunk_id: "scoring-notes", score: 1 }],
      selected_chunk_ids: ["scoring-notes"],
      reranker_model: "orangebox-score-share",
      reranker_version: "1.0.0",
      compiler_version: "1.1.0",
      prefix_hash: expect.stringMatching(/^sha256:/),
      prefix_length: expect.any(Number),
    })
    expect(manifest.token_budget.tiers.tier1).toEqual({
      reserved: 3_000,
      used: manifest.inclusion_log.filter(({ tier }) => tier === 1).reduce((sum, { tokens }) => sum + tokens, 0),
      left: 3_000 - manifest.token_budget.tiers.tier1.used,
    })
  })

  test("[M-01] the snapshot id stays while the sources stay, and changes with any of them", () => {
    const of = (files: Record<string, string>) => buildLlmContext({ stepId: 3 }, setupOver(files)).manifest.snapshot_id
    expect(of(PIPELINE_FILES)).toBe(of(PIPELINE_FILES))
    expect(of({ ...PIPELINE_FILES, "watcher_failures.jsonl": "" })).not.toBe(of(PIPELINE_FILES))
  })

  test("[M-01] the prefix is the tier-0 part of the prompt and the same for every run of the stage", () => {
    const { manifest, prompt } = full()
    const prefix = Buffer.from(prompt).subarray(0, manifest.prefix_length)
    expect(bodyHash(prefix)).toBe(manifest.prefix_hash)
    expect(prefix.toString()).toMatch(/^# Mission\n.*\n# Guardrails\n.*\n$/s)
    expect(prefix.toString()).not.toContain("# Step inputs")
    const other = buildLlmContext({ stepId: 3, results: { mean_score: 9 }, runNumber: 5 }, setupOver()).manifest
    expect(other).toMatchObject({ prefix_hash: manifest.prefix_hash, prefix_length: manifest.prefix_length })
  })

  test("[M-01] its counts and hashes are what a context_manifest event asks for", () => {
    const { manifest } = full()
    const payload = {
      manifest_ref: textHash(JSON.stringify(manifest)),
      snapshot_id: manifest.snapshot_id,
      revision: manifest.revision,
      included_count: manifest.inclusion_log.length,
      excluded_count: manifest.exclusion_log.length,
      prefix_hash: manifest.prefix_hash,
      prefix_length: manifest.prefix_length,
    }
    expect(validatePayload("context_manifest", payload)).toEqual([])
  })

  test("[M-02] each included item says what it is, from where, why and how large", () => {
    const { manifest } = full()
    const entry = (id: string) => manifest.inclusion_log.find(({ item_id }) => item_id === id)
    expect(entry("mission")).toMatchObject({
      item_type: "policy",
      source_ref: "catalog:step-awareness@1.0.0#3.mission",
      included_reason: "policy_requirement",
      tier: 0,
    })
    expect(entry("question")).toMatchObject({
      item_type: "user_input",
      source_ref: "event:e1",
      included_reason: "plan_dependency",
      tier: 1,
    })
    expect(entry("scoring-notes")).toMatchObject({
      item_type: "evidence",
      source_ref: "file:notes.md#L1",
      included_reason: "retrieval_trigger",
      tier: 2,
      source_hash: textHash(chunks[0]!.text),
    })
  })

  test("[M-02] what was available and left out is there with its reason", () => {
    const { manifest } = full()
    expect(manifest.exclusion_log).toContainEqual({
      item_id: "results#log",
      item_type: "tool_output",
      source_ref: "results#log",
      excluded_reason: "not_a_key_metric",
    })
    const logged = [...manifest.inclusion_log, ...manifest.exclusion_log].map(({ item_id }) => item_id)
    expect(new Set(logged).size).toBe(logged.length)
    expect(logged.length).toBe(manifest.considered_count)
  })

  test("[M-04] every kind of source appears with its own item type", () => {
    const types = new Set(full().manifest.inclusion_log.map(({ item_type }) => item_type))
    expect([...types].toSorted()).toEqual(["evidence", "memory", "policy", "summary", "tool_output", "user_input"])
    for (const { source_ref } of full().manifest.inclusion_log) expect(source_ref).not.toBe("")
  })

  test("[M-03] pointers only: no text that was put into the prompt is in the manifest", () => {
    const { manifest, prompt } = full()
    expect(prompt).toContain("CANARY-chunk")
    expect(JSON.stringify(manifest)).not.toContain("CANARY")
    expect(JSON.stringify(manifest)).not.toContain("worker 4 timed out")
  })

  test("[M-03] a long objective and query stand in full behind their refs", () => {
    const long = `begin ${"x".repeat(500)} end`
    const { manifest, bodies } = compile(defineStages(STEP_AWARENESS_PRESET).stage(3), {
      runId: "r",
      generatedAt: "2026-01-01T00:00:00Z",
      reader: setupOver().reader,
      objective: long,
      retrievers: [bm25Retriever({ chunks })],
    })
    expect(manifest.intent.objective.length).toBeLessThanOrEqual(240)
    const text = (ref: string) => Buffer.from(bodies.get(ref)!).toString()
    expect(text(manifest.retrieval_query_ref!)).toBe(long)
    expect(JSON.parse(text(manifest.intent_ref)).objective).toBe(long)
  })
})

describe("rebuilding", () => {
  test("[M-03] manifest and bodies give the prompt back byte for byte, also after both went through JSON", () => {
    const { manifest, bodies, prompt, bundle } = full()
    expect(rebuildContext(manifest, bodies)).toEqual({ ok: true, prompt })
    expect(rebuildContext(JSON.parse(JSON.stringify(manifest)), (ref) => bodies.get(ref))).toEqual({ ok: true, prompt })
    expect(renderPromptFromBundle(bundle)).toBe(prompt)
  })

  test("[M-03] a body that is gone is named as missing, one that differs as changed", () => {
    const { manifest, bodies } = full()
    const entry = (id: string) => manifest.inclusion_log.find(({ item_id }) => item_id === id)!
    const rebuilt = rebuildContext(manifest, (ref, item) =>
      item.item_id === "question"
        ? undefined
        : item.item_id === "scoring-notes"
          ? Buffer.from("other")
          : bodies.get(ref),
    )
    expect(rebuilt).toMatchObject({
      ok: false,
      missing: [{ item_id: "question", source_ref: "event:e1", rendered_ref: entry("question").rendered_ref }],
      changed: [{ item_id: "scoring-notes", source_ref: "file:notes.md#L1" }],
    })
    expect(!rebuilt.ok && rebuilt.partial).toContain("[... question is missing ...]")
  })

  test("[M-03] without bodies, compiling the sources again tells what changed in them", () => {
    const first = buildLlmContext({ stepId: 3, results: RESULTS }, setupOver(PIPELINE_FILES))
    const changedFiles = {
      ...PIPELINE_FILES,
      "watcher_failures.jsonl": '{"id":"w1","step":3,"message":"worker 5 timed out"}',
    }
    const again = buildLlmContext({ stepId: 3, results: RESULTS }, setupOver(changedFiles))
    const byItem = new Map(again.manifest.inclusion_log.map(({ item_id, rendered_ref }) => [item_id, rendered_ref]))
    const rebuilt = rebuildContext(first.manifest, (_, { item_id }) => again.bodies.get(byItem.get(item_id) ?? ""))
    expect(rebuilt).toMatchObject({
      ok: false,
      missing: [],
      changed: [{ item_id: "watcher_failures.jsonl#L1", source_ref: "file:watcher_failures.jsonl#L1" }],
    })
  })

  test("[M-03] a log that was reordered does not pass for the original", () => {
    const { manifest, bodies } = full()
    const tampered = { ...manifest, inclusion_log: manifest.inclusion_log.toReversed() }
    expect(rebuildContext(tampered, bodies)).toMatchObject({ ok: false, changed: [{ item_id: "inclusion_log" }] })
  })
})

describe("verifying, as far as no recorder is needed", () => {
  test("[M-01] a normal step gives a manifest with both logs", () => {
    const { manifest, faults } = buildLlmContext({ stepId: 1, results: { survivor_count: 3 } }, setupOver())
    expect(manifest.inclusion_log).not.toEqual([])
    expect(manifest.exclusion_log).not.toEqual([])
    expect(faults).toEqual([])
  })

  test("[F-03] [M-01] after a schema repair failure the revised manifest references the artifacts", async () => {
    const { manifest, prompt } = full()
    const repaired = await withSchemaRepair({
      output: "not json",
      validate: () => ({ ok: false, problems: ["is not JSON"] }),
      repair: () => "still not json",
    })
    if (repaired.ok) throw new Error("the repair cannot succeed")
    const snapshot = {
      artifact_id: "snapshot-1",
      path: "artifacts/prompt.txt",
      hash: textHash(prompt),
      size_bytes: Buffer.byteLength(prompt),
      created_at: "2026-01-01T00:00:00Z",
    }
    const { trigger, detail, missing } = repaired.fault
    const fault = { trigger, detail, missing: [...missing], artifacts: [snapshot] }
    expect(trigger).toBe("schema_repair_failure")
    expect(ContextManifest.parse({ ...manifest, revision: 1, faults: [fault] })).toMatchObject({ faults: [fault] })
  })

  test("[M-03] however large the inputs, no value in the manifest is a blob", () => {
    const blob = "blob ".repeat(20_000)
    const { manifest } = compile(defineStages(STEP_AWARENESS_PRESET).stage(3), {
      runId: "r",
      generatedAt: "2026-01-01T00:00:00Z",
      reader: setupOver().reader,
      objective: blob,
      results: { ...RESULTS, [blob]: 1, mean_score: blob },
      items: [{ id: blob, type: "user_input", text: blob, sourceRef: blob }],
      retrievers: [{ id: "one", version: "1", retrieve: () => [{ chunk: { id: blob, text: blob }, score: 1 }] }],
    })
    expect(ContextManifest.safeParse(manifest).error).toBeUndefined()
    const longest = Math.max(
      ...JSON.stringify(manifest)
        .split('"')
        .map((text) => text.length),
    )
    expect(longest).toBeLessThan(4_096)
  })
})
