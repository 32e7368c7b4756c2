import { createHash } from "node:crypto"
import { chmodSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { buildLlmContext, buildStepAwarenessBundle, type ContextSetup, type FileReader } from "@orangebox/context"
import { describe, expect, test } from "vitest"
import { asOrdinaryUser } from "./ordinary-user.js"
import { diskReader, outcome, PIPELINE_FILES, setupOver, workspace } from "./workspace.js"

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex")
const withReader = (reader: FileReader): ContextSetup => ({ reader, now: () => 0, newRunId: () => "run_1" })

describe("provenance", () => {
  test("[B-06] every contributing file is recorded with its hash and size, the retrieval files included", () => {
    const bundle = buildStepAwarenessBundle(
      { stepId: 3, manifestPath: "agent_manifests/full_scoring.json", statePaths: ["survivors.json"] },
      setupOver(PIPELINE_FILES),
    )
    expect(bundle.provenance).toEqual(
      [
        "agent_manifests/full_scoring.json",
        "survivors.json",
        "chapter13/summaries/0001.json",
        "chapter13/summaries/0002.json",
        "run_history.jsonl",
        "watcher_failures.jsonl",
      ].map((path) => {
        const content = PIPELINE_FILES[path as keyof typeof PIPELINE_FILES]
        return { path, sha256: sha256(content), size_bytes: Buffer.byteLength(content) }
      }),
    )
  })

  test("[B-06] a missing file is FILE_NOT_FOUND with size 0, and assembly goes on without a fault", () => {
    const { bundle, prompt, faults } = buildLlmContext(
      { stepId: 3, manifestPath: "gone.json", statePaths: ["also/gone.json"] },
      setupOver(),
    )
    expect(bundle.provenance).toEqual(
      ["gone.json", "also/gone.json", "chapter13/summaries", "run_history.jsonl", "watcher_failures.jsonl"].map(
        (path) => ({ path, sha256: "FILE_NOT_FOUND", size_bytes: 0 }),
      ),
    )
    expect(prompt).toContain("# Mission")
    expect(faults).toEqual([])
  })

  test("[B-06] only a missing source that is marked critical is a fault, returned as a value and named in the manifest", () => {
    const options = { stepId: 3, statePaths: ["gone.json", { path: "vital.json", isCritical: true }] }
    const { faults, manifest, prompt } = buildLlmContext(options, setupOver())
    const fault = {
      trigger: "missing_pointer",
      detail: "critical source vital.json cannot be resolved",
      missing: ["vital.json"],
    }
    expect(faults).toEqual([fault])
    expect(manifest.faults).toEqual([{ ...fault, artifacts: [] }])
    expect(prompt).toContain("# Mission")
    expect(buildLlmContext(options, setupOver({ "vital.json": "{}" })).faults).toEqual([])
  })

  test("[B-06] a file that is there and cannot be read is told apart from a missing one", () => {
    const folder = workspace({})
    mkdirSync(join(folder, "state.json"))
    const { bundle, problems } = buildLlmContext(
      { stepId: 3, statePaths: ["state.json"] },
      withReader(diskReader(folder)),
    )
    expect(bundle.provenance[0]).toEqual({ path: "state.json", sha256: "FILE_UNREADABLE", size_bytes: 0 })
    expect(problems[0]).toMatchObject({ code: "file_unreadable", subject: "state.json" })
    expect(problems[0]!.reason).toContain("EISDIR")
  })

  test("[B-06] so is one that the process may not read", () => {
    const folder = workspace({ "run_history.jsonl": "{}" })
    chmodSync(join(folder, "run_history.jsonl"), 0)
    const { bundle } = asOrdinaryUser(folder, () => buildLlmContext({ stepId: 3 }, withReader(diskReader(folder))))
    expect(bundle.provenance).toContainEqual({ path: "run_history.jsonl", sha256: "FILE_UNREADABLE", size_bytes: 0 })
  })

  test("[B-06] the bytes that were hashed are the bytes that were used: each file is read once", () => {
    const reads: string[] = []
    const inner = diskReader(workspace(PIPELINE_FILES))
    const reader: FileReader = {
      ...inner,
      read(path) {
        reads.push(path)
        return inner.read(path)
      },
    }
    buildLlmContext({ stepId: 3, statePaths: ["run_history.jsonl", "./run_history.jsonl"] }, withReader(reader))
    expect(reads.filter((path) => path === "run_history.jsonl")).toHaveLength(1)
  })

  test.each(["/etc/passwd", "../outside.json", "C:\\x", ""])(
    "[B-06] a path that leads out of the workspace is refused by field: %j",
    (path) => {
      expect(() => buildLlmContext({ stepId: 3, statePaths: ["ok.json", path] }, setupOver())).toThrow(
        expect.objectContaining({ code: "CONTEXT_PATH", where: "statePaths[1]" }),
      )
    },
  )
})

describe("the three retrieval sources", () => {
  test("[B-07] outcomes of the step come newest first; those of other steps are logged as such", () => {
    const { bundle, manifest } = buildLlmContext(
      { stepId: 3 },
      setupOver({
        "chapter13/summaries/a.json": outcome({ run_id: "old", timestamp: "2025-01-01T00:00:00Z" }),
        "chapter13/summaries/b.json": `[${outcome({ run_id: "new", timestamp: "2026-01-01T00:00:00+01:00" })},${outcome({ step: 4, run_id: "other" })}]`,
        "chapter13/summaries/notes.txt": "not read",
      }),
    )
    expect(bundle.context.recent_outcomes.map(({ run_id }) => run_id)).toEqual(["new", "old"])
    expect(manifest.exclusion_log).toContainEqual({
      item_id: "chapter13/summaries/b.json#1",
      item_type: "memory",
      source_ref: "file:chapter13/summaries/b.json#1",
      excluded_reason: "other_stage",
    })
    expect(bundle.provenance.map(({ path }) => path)).not.toContain("chapter13/summaries/notes.txt")
  })

  test("[B-07] chapter 13 sees the outcomes of all steps", () => {
    const files = {
      "chapter13/summaries/a.json": outcome({ step: 3 }),
      "chapter13/summaries/b.json": outcome({ step: 6 }),
    }
    const { context } = buildStepAwarenessBundle({ stepId: 13 }, setupOver(files))
    expect(context.recent_outcomes.map(({ step }) => step).toSorted()).toEqual([3, 6])
  })

  test("[B-07] trends are computed per key metric over the last five runs of the step", () => {
    const history = [9, 1, 2, 3, 3, 5].map((mean_score) => ({
      step: 3,
      mean_score,
      score_std: 0.1,
      top_candidates: [1],
    }))
    const lines = [...history, { step: 4, mean_score: 100 }, { step: 3, metrics: { completion_rate: 0.5 } }]
    const { context } = buildStepAwarenessBundle(
      { stepId: 3 },
      setupOver({ "run_history.jsonl": lines.map((line) => JSON.stringify(line)).join("\n") }),
    )
    expect(context.trend_summary).toEqual([
      { metric_name: "mean_score", direction: "rising", recent_values: [1, 2, 3, 3, 5], window_size: 5 },
      { metric_name: "score_std", direction: "flat", recent_values: [0.1, 0.1, 0.1, 0.1, 0.1], window_size: 5 },
    ])
  })

  test("[B-07] incidents are open until a line of theirs says resolved", () => {
    const lines = [
      { id: 1, step: 3, message: "disk full" },
      { id: 2, step: 3, message: "worker lost" },
      { id: 1, resolved: true },
      { message: "cluster slow" },
      { step: 4, error: "not ours" },
      { step: 3, error: "over", status: "resolved" },
      { id: 2, step: 3, message: "worker\nlost again" },
    ]
    const { bundle, manifest, prompt } = buildLlmContext(
      { stepId: 3 },
      setupOver({ "watcher_failures.jsonl": lines.map((line) => JSON.stringify(line)).join("\n") }),
    )
    expect(bundle.context.open_incidents).toEqual(["step 3: worker\nlost again", "cluster slow"])
    expect(prompt).toContain("- step 3: worker lost again\n")
    const reasons = Object.fromEntries(
      manifest.exclusion_log
        .filter(({ item_id }) => item_id.startsWith("watcher"))
        .map(({ item_id, excluded_reason }) => [item_id.split("#")[1], excluded_reason]),
    )
    expect(reasons).toEqual({ L1: "resolved", L3: "resolved", L6: "resolved", L5: "other_stage", L2: "duplicate" })
  })

  test("[B-07] malformed files and lines are reported by place, and the good ones are used", () => {
    const folder = workspace({
      "chapter13/summaries/a.json": "{not json",
      "chapter13/summaries/b.json": outcome(),
      "chapter13/summaries/c.json": `[1,${outcome({ metric_delta: "much" })}]`,
      "run_history.jsonl": '{"step":3,"mean_score":1}\nnull\n[1]\n{"step":3,"mean_score":2}\n{"step":3,"mean_sc',
    })
    writeFileSync(join(folder, "watcher_failures.jsonl"), Buffer.from([0xff, 0xfe, 0x0a, 0x7b, 0x7d, 0x0a]))
    const { bundle, problems } = buildLlmContext({ stepId: 3 }, withReader(diskReader(folder)))
    expect(bundle.context.recent_outcomes).toHaveLength(1)
    expect(bundle.context.trend_summary[0]!.recent_values).toEqual([1, 2])
    expect(problems.map(({ code, subject, field }) => [code, subject, field])).toEqual([
      ["malformed_outcome", "chapter13/summaries/a.json", ""],
      ["malformed_outcome", "chapter13/summaries/c.json", "[0]"],
      ["malformed_outcome", "chapter13/summaries/c.json", "[1]"],
      ["malformed_line", "run_history.jsonl", "line 2"],
      ["malformed_line", "run_history.jsonl", "line 3"],
      ["malformed_line", "run_history.jsonl", "line 5"],
      ["malformed_line", "watcher_failures.jsonl", "line 1"],
      ["malformed_line", "watcher_failures.jsonl", "line 2"],
    ])
  })
})
