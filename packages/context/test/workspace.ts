import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, relative } from "node:path"
import type { ContextSetup, FileReader } from "@orangebox/context"
import { onTestFinished } from "vitest"

/** A folder of real files that is gone after the test. */
export function workspace(files: Readonly<Record<string, string | Uint8Array>> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), "orangebox-context-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
  return folder
}

/** The thin edge an application writes: twelve lines. */
export function diskReader(root: string): FileReader {
  const orMissing = <T>(read: () => T): T | undefined => {
    try {
      return read()
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined
      throw error
    }
  }
  return {
    read: (path) => orMissing(() => readFileSync(join(root, path))),
    list: (folder) =>
      orMissing(() =>
        readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
          .filter((entry) => entry.isFile())
          .map((entry) => relative(join(root, folder), join(entry.parentPath, entry.name))),
      ),
  }
}

export function setupOver(files: Readonly<Record<string, string | Uint8Array>> = {}): ContextSetup {
  return {
    reader: diskReader(workspace(files)),
    now: () => Date.UTC(2026, 1, 2),
    newRunId: () => "run_generated",
  }
}

export const RESULTS = {
  success: true,
  confidence: 0.9,
  completion_rate: 1,
  survivors_scored: 90,
  survivors_total: 90,
  feature_dimensions: 50,
  mean_score: 0.47,
  score_std: 0.1,
  top_candidates: [4, 8, 15],
}

/** What a real pipeline's folder holds. */
export const PIPELINE_FILES = {
  "agent_manifests/full_scoring.json": '{"agent":"full_scoring"}',
  "survivors.json": "[1,2,3]",
  "chapter13/summaries/0001.json": outcome({ run_id: "run_41", timestamp: "2026-01-01T00:00:00Z" }),
  "chapter13/summaries/0002.json": outcome({ run_id: "run_42", metric_delta: -0.5, timestamp: "2026-01-03T00:00:00Z" }),
  "run_history.jsonl": [0.41, 0.44, 0.46]
    .map((mean_score) => JSON.stringify({ step: 3, metrics: { mean_score } }))
    .join("\n"),
  "watcher_failures.jsonl": '{"id":"w1","step":3,"message":"worker 4 timed out"}\n',
}

export function outcome(fields: Readonly<Record<string, unknown>> = {}): string {
  return JSON.stringify({
    step: 3,
    run_id: "run_1",
    result: "improved",
    metric_delta: 0.02,
    key_metric: "mean_score",
    timestamp: "2026-01-02T00:00:00Z",
    ...fields,
  })
}
