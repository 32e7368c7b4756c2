// The three items under "How to verify" of the context observability specification, on real files, through the real collector and store.
import { join } from "node:path"
import { bm25Retriever, ContextManifest, compile, defineStages, recordSchemaRepair } from "@orangebox/context"
import type { Event } from "@orangebox/contract"
import { Recorder, type Run, type Step } from "@orangebox/recorder"
import { isAbsent, openStoreReader, type TraceReader } from "@orangebox/store"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { jsonOf, orangebox, orangeboxHere, type Scratch, scratchFolder } from "./command.js"

const stage = defineStages({
  name: "judging",
  version: "1",
  stages: [{ id: "judge", name: "judge", mission: "Judge the work." }],
}).stage("judge")

const LARGE = "A line of the build log that nobody will read again.\n".repeat(4000)

/** One judgement under audit: context, model, tool. */
async function judge(run: Run, work: (step: Step, prompt: string) => Promise<void> | void): Promise<string> {
  const step = run.step("judge")
  const context = compile(stage, {
    runId: run.runId,
    stepId: step.id,
    generatedAt: "2026-01-01T00:00:00Z",
    objective: "Say whether the build is sound",
    items: [{ id: "question", type: "user_input", text: "Is the build sound?", sourceRef: "user:e1" }],
    query: "build scores",
    retrievers: [
      bm25Retriever({
        chunks: [
          { id: "notes", text: "Build scores near one half separate nothing." },
          { id: "log", text: `build ${LARGE}` },
        ],
      }),
    ],
    budgets: { historyCap: 100 },
  })
  step.context(context)
  const request = { model: "m", messages: [{ role: "user", content: context.prompt }] }
  await step.model({ provider: "p", model: "m", request }, () => "not json")
  await step.tool({ name: "read_log", args: { path: "build.log" } }, () => LARGE)
  await work(step, context.prompt)
  step.end()
  return context.prompt
}

describe("how to verify", () => {
  let scratch: Scratch
  let store: TraceReader | undefined
  let runId: string
  beforeEach(() => {
    scratch = scratchFolder()
  })
  afterEach(async () => {
    await store?.close()
    store = undefined
    scratch.remove()
  })

  async function recorded(work: (run: Run) => Promise<void>): Promise<Event[]> {
    const recorder = Recorder.open({ app: "judge", folder: scratch.path, profile: "audit" })
    const run = recorder.startRun({ entrypoint: "judge" })
    runId = run.runId
    await work(run)
    run.complete()
    recorder.close()
    await orangeboxHere(["collect", "--data", scratch.path])
    store = openStoreReader(join(scratch.path, "store"))
    return [...(await store.eventsOf(runId, { from: 0 })).events]
  }

  async function textOf(hash: string | null): Promise<string | undefined> {
    const reading = await store!.readBody(hash ?? "")
    return isAbsent(reading) ? undefined : Buffer.from(reading.bytes).toString()
  }

  async function manifests(events: readonly Event[]): Promise<ContextManifest[]> {
    const found: ContextManifest[] = []
    for (const event of events) {
      if (event.event_type !== "context_manifest") continue
      found.push(ContextManifest.parse(JSON.parse((await textOf(event.payload.manifest_ref))!)))
    }
    return found
  }

  test("[M-01] [M-02] run a normal step and confirm a manifest with inclusion/exclusion logs is stored", async () => {
    const events = await recorded(async (run) => void (await judge(run, () => {})))
    const [manifest, ...others] = await manifests(events)
    expect(others).toEqual([])
    expect(manifest).toMatchObject({ run_id: runId, revision: 0, retrieval_query: "build scores", faults: [] })
    expect(manifest!.inclusion_log.map(({ item_id }) => item_id)).toEqual(["mission", "objective", "question", "notes"])
    expect(manifest!.exclusion_log).toMatchObject([{ item_id: "log", excluded_reason: "budget_limit" }])
    expect(events.some(({ event_type }) => event_type === "artifact_recorded" || event_type === "fault")).toBe(false)
    const shown = await orangeboxHere(["context", "last#2", "--data", scratch.path])
    expect(shown.stdout).toMatch(/left out \(1 budget_limit\)/)
  })

  test("[F-01] [F-03] trigger a schema repair failure and confirm that snapshots are stored and referenced", async () => {
    let prompt = ""
    const events = await recorded(async (run) => {
      prompt = await judge(run, async (step) => {
        const repaired = await recordSchemaRepair(step, {
          output: "not json",
          validate: () => ({ ok: false, problems: ["is no JSON"] }),
          repair: () => "still not json",
          maxAttempts: 2,
        })
        expect(repaired.ok).toBe(false)
      })
    })
    const repairs = events.flatMap((event) => (event.event_type === "repair" ? [event.payload] : []))
    expect(repairs).toMatchObject([
      { kind: "schema", outcome: "failed", attempt: 1, max_attempts: 2 },
      { kind: "schema", outcome: "failed", attempt: 2, max_attempts: 2 },
    ])

    const artifacts = events.flatMap((event) => (event.event_type === "artifact_recorded" ? [event.payload] : []))
    const stored = async (type: string) =>
      Promise.all(artifacts.filter((one) => one.artifact_type === type).map(({ content_ref }) => textOf(content_ref)))
    expect((await stored("prompt_snapshot")).some((text) => text === prompt)).toBe(true)
    expect(await stored("tool_output_snapshot")).toContain(LARGE)

    const ids = artifacts.map(({ artifact_id }) => artifact_id)
    const faults = events.flatMap((event) => (event.event_type === "fault" ? [event.payload] : []))
    expect(faults).toMatchObject([{ trigger: "schema_repair_failure", artifact_ids: ids }])
    const revised = (await manifests(events)).at(-1)!
    expect(revised).toMatchObject({ revision: 1, faults: [{ trigger: "schema_repair_failure" }] })
    expect(revised.faults[0]!.artifacts.map(({ artifact_id }) => artifact_id)).toEqual(ids)
    expect((await orangeboxHere(["verify", "--data", scratch.path])).exitCode).toBe(0)
  })

  test("[S-04] confirm no raw blobs > 64 KB are stored in the database; only pointers are", async () => {
    await recorded(async (run) => void (await judge(run, (step) => void step.snapshot())))
    const ask = async (query: string) =>
      jsonOf<{ rows: (string | number | null)[][] }>(
        await orangebox(["sql", query, "--json", "--limit", "1000", "--data", scratch.path]),
      ).rows
    const columns = await ask(
      "SELECT m.name AS tbl, c.name AS col FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table' AND m.sql NOT LIKE 'CREATE VIRTUAL%'",
    )
    expect(columns.length).toBeGreaterThan(50)
    const quoted = (name: unknown): string => `"${String(name).replaceAll('"', '""')}"`
    const longest = columns.map(
      ([table, column]) =>
        `SELECT '${table}.${column}' AS place, max(length(CAST(${quoted(column)} AS BLOB))) AS longest FROM ${quoted(table)}`,
    )
    const over: unknown[] = []
    for (let i = 0; i < longest.length; i += 100) {
      const union = longest.slice(i, i + 100).join(" UNION ALL ")
      over.push(...(await ask(`SELECT * FROM (${union}) WHERE longest > 65536`)))
    }
    expect(over).toEqual([])
  })
})
