import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { bm25Retriever, buildLlmContext, chunksOfFolder, compile, defineStages } from "@orangebox/context"
import { Recorder, type RecorderOptions, type Run } from "@orangebox/recorder"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { diskReader } from "../../context/test/workspace.js"
import { FAKES } from "../../redaction/test/fake-secrets.js"
import { jsonOf, orangeboxHere, type Scratch, scratchFolder } from "./command.js"

let scratch: Scratch
let data: string
beforeEach(() => {
  scratch = scratchFolder()
  data = join(scratch.path, "data")
  mkdirSync(join(scratch.path, "work/notes"), { recursive: true })
})
afterEach(() => scratch.remove())

const write = (path: string, text: string): void => writeFileSync(join(scratch.path, "work", path), text)
const ask = (...args: string[]) => orangeboxHere([...args, "--data", data])
const rebuild = (step: string, ...more: string[]) =>
  ask("context", step, "--rebuild", "--workspace", join(scratch.path, "work"), ...more)

interface Rebuilt {
  readonly ok: boolean
  readonly from: string
  readonly text: string
  readonly missing: readonly { item_id: string; why?: string }[]
  readonly changed: readonly { item_id: string }[]
  readonly masked: readonly string[]
}

async function record(work: (run: Run) => Promise<void>, options: Partial<RecorderOptions> = {}): Promise<void> {
  const recorder = Recorder.open({ app: "desk", folder: data, profile: "audit", ...options })
  const run = recorder.startRun({ entrypoint: "judge", input: "May it go out?" })
  await work(run)
  run.complete({ output: "yes" })
  recorder.close()
}

const CATALOG = {
  name: "desk",
  version: "2",
  stages: [{ id: "judge", name: "judge", mission: "Say whether it may go out.", guardrails: ["Invent nothing."] }],
}

const RED = "1 test of 812 is red\n".repeat(9)

/** A prompt of every kind of source: a catalog, the call's own wishes, a tool, a file, lines of a file. */
async function judge(run: Run, text = RED): Promise<string> {
  const step = run.step("judge")
  const call = step.tool({ name: "read_report", args: {} }, () => text)
  const reader = diskReader(join(scratch.path, "work"))
  const { chunks } = chunksOfFolder({ reader, folder: "notes", wordsPerChunk: 3 })
  const compiled = compile(defineStages(CATALOG).stage("judge"), {
    runId: run.runId,
    stepId: step.id,
    generatedAt: "2026-01-01T00:00:00Z",
    reader,
    objective: "Is build 4.1 fine?",
    items: [
      { id: "rules", type: "policy", text: "Red is red.\n", sourceRef: "file:rules.md" },
      { id: "report", type: "tool_output", text: await call, sourceRef: call.sourceRef, title: "the report" },
    ],
    query: "flaky leap",
    retrievers: [bm25Retriever({ chunks })],
    budgets: { tier1Cap: 60 },
  })
  step.context(compiled)
  const request = { messages: [{ role: "user", content: compiled.prompt }] }
  await step.model({ provider: "anthropic", model: "m", request }, () => "yes")
  step.end()
  return compiled.prompt
}

describe("[M-08] a prompt that was not kept is rendered again from what its pointers lead to", () => {
  beforeEach(() => {
    write("notes/a.md", "The date test\nis flaky on leap days.\nNobody minds\nany more.\n")
    write("rules.md", "Red is red.\n")
    writeFileSync(join(scratch.path, "catalog.json"), JSON.stringify(CATALOG))
  })
  const catalog = () => ["--catalog", join(scratch.path, "catalog.json")]

  test("[M-08] byte for byte, where all of it is still there; the output of a tool needs to have been kept", async () => {
    let prompt = ""
    await record(async (run) => {
      prompt = await judge(run)
    })
    const kept = jsonOf<Rebuilt>(await rebuild("last#5", ...catalog(), "--json"))
    expect(kept).toMatchObject({ ok: false, changed: [] })
    expect(kept.missing).toEqual([expect.objectContaining({ item_id: "report", why: "its bytes were not kept" })])
    // The same output was kept in another run, and bodies are one for all.
    await record((run) => run.tool({ name: "read_report", args: {} }, () => RED).then(() => {}), { bodies: "always" })
    await record(async (run) => {
      prompt = await judge(run)
    })
    const whole = await rebuild("last#5", ...catalog())
    expect([whole.exitCode, whole.stdout]).toEqual([0, prompt])
    expect(whole.stderr).toContain("rendered again from what its pointers lead to")
    await record(
      async (run) => {
        prompt = await judge(run, "812 of 812 are green")
      },
      { bodies: "always" },
    )
    expect(jsonOf(await rebuild("last#5", "--json"))).toMatchObject({ ok: true, from: "manifest", text: prompt })
  })

  test("[M-08] what changed and what is gone is named with its reason, and no text of it is shown", async () => {
    await record(async (run) => void (await judge(run)))
    write("notes/a.md", "The date test\nis FINE on leap days.\nNobody minds\nany more.\n")
    rmSync(join(scratch.path, "work/rules.md"))
    const json = jsonOf<Rebuilt>(await rebuild("last#5", "--json"))
    expect(json.ok).toBe(false)
    expect(Object.fromEntries(json.missing.map(({ item_id, why }) => [item_id, why]))).toMatchObject({
      mission: "the catalog desk@2 is not here",
      report: "its bytes were not kept",
      rules: "there is no rules.md here",
    })
    expect(json.changed.map(({ item_id }) => item_id)).toEqual(["notes/a.md#L2-L2"])
    const { stdout, stderr, exitCode } = await rebuild("last#5")
    expect([exitCode, stdout]).toEqual([1, ""])
    expect(stderr).toContain("missing  mission")
    expect(stderr).toContain("the catalog desk@2 is not here")
    expect(stderr).not.toContain("FINE")
  })

  test("[M-08] the preset's outcomes, trends and incidents are read from their files again", async () => {
    const reader = diskReader(join(scratch.path, "work"))
    mkdirSync(join(scratch.path, "work/chapter13/summaries"), { recursive: true })
    const outcome = { step: 3, run_id: "r1", result: "kept", metric_delta: 0.1, key_metric: "mean_score" }
    write("chapter13/summaries/a.json", JSON.stringify({ ...outcome, timestamp: "2026-01-01T00:00:00Z" }))
    write("watcher_failures.jsonl", '{"id":"w1","step":3,"message":"worker 4 timed out"}\n')
    let prompt = ""
    await record(async (run) => {
      const step = run.step("judge")
      const compiled = buildLlmContext(
        { stepId: 3, runId: run.runId },
        { reader, now: () => 0, newRunId: () => run.runId, recordedStepId: step.id },
      )
      prompt = compiled.prompt
      step.context(compiled)
      await step.model({ provider: "x", model: "m", request: { prompt } }, () => "yes")
      step.end()
    })
    const again = await rebuild("last#3")
    expect([again.exitCode, again.stdout]).toEqual([0, prompt])
    expect(again.stderr).toContain("rendered again from what its pointers lead to, to the recorded hash")
    write("watcher_failures.jsonl", '{"id":"w1","step":3,"message":"worker 4 timed out","resolved":true}\n')
    const { missing } = jsonOf<Rebuilt>(await rebuild("last#3", "--json"))
    expect(missing).toEqual([expect.objectContaining({ why: "watcher_failures.jsonl no longer has it" })])
  })

  test("[M-08] [M-07] of a prompt that its application put together, each item is looked for", async () => {
    await record(async (run) => {
      const step = run.step("s")
      const items = [
        { id: "rules", type: "policy", text: "Red is red.\n", sourceRef: "file:rules.md" },
        { id: "lines", type: "evidence", text: "is flaky on leap days.", sourceRef: "file:notes/a.md#L2" },
        { id: "question", type: "user_input", text: "May it go out?" },
      ] as const
      const request = { messages: items.map(({ text }) => ({ role: "user", content: text })) }
      step.context({ items, request })
      await step.model({ provider: "anthropic", model: "m", request }, () => "yes")
      step.end()
    })
    write("notes/a.md", "The date test\nis FINE on leap days.\n")
    const json = jsonOf<Rebuilt & { reason: string }>(await rebuild("last#3", "--json"))
    expect(json.reason).toBe("the request's body is not there: not kept; 1 of 3 items are as they were")
    expect(json.changed.map(({ item_id }) => item_id)).toEqual(["lines"])
    expect(json.missing).toEqual([
      expect.objectContaining({ item_id: "question", why: "nobody said where it comes from" }),
    ])
  })

  test("[M-08] a recorded pointer does not lead out of the workspace", async () => {
    writeFileSync(join(scratch.path, "secret.md"), "hunter2 hunter2")
    symlinkSync(join(scratch.path, "secret.md"), join(scratch.path, "work/link.md"))
    await record(async (run) => {
      const step = run.step("s")
      const items = ["../secret.md", "link.md"].map((path) => ({
        ...({ id: path, type: "evidence", text: "hunter2 hunter2", sourceRef: `file:${path}` } as const),
      }))
      const stage = defineStages(CATALOG).stage("judge")
      step.context(compile(stage, { runId: run.runId, generatedAt: "2026-01-01T00:00:00Z", items }))
      await step.model({ provider: "x", model: "m", request: {} }, () => "yes")
      step.end()
    })
    const { missing } = jsonOf<Rebuilt>(await rebuild("last#3", ...catalog(), "--json"))
    expect(missing.map(({ why }) => why)).toEqual(["there is no ../secret.md here", "there is no link.md here"])
  })

  test("[M-08] a prompt in which secrets were masked says so", async () => {
    await record((run) => judge(run, `key ${FAKES["anthropic-key"]}`).then(() => {}), { bodies: "always" })
    const { stderr, exitCode } = await rebuild("last#5")
    expect(exitCode).toBe(0)
    expect(stderr).toContain("secrets were masked when #5 was recorded")
    expect(stderr).toContain("report")
    expect(jsonOf<Rebuilt>(await rebuild("last#5", "--json")).masked).toEqual(["report"])
  })
})

describe("[M-08] verify finds pointers that lead to nothing", () => {
  const told = (run: Run, sourceRef: string) => {
    const step = run.step("s")
    step.context({
      items: [{ id: "a", type: "tool_output", text: "t", sourceRef }],
      excluded: [{ id: "b", reason: "duplicate", sourceRef }],
    })
    step.end()
  }

  test.each(["tool:0123456789abcdef", "tool:no_such_tool", "event:m1", "step:gone"])("[M-08] %s", async (ref) => {
    await record(async (run) => told(run, ref))
    const { stdout, exitCode } = await ask("verify", "last")
    expect(exitCode).toBe(1)
    expect(stdout).toContain(`item a comes from ${ref}, which leads to nothing`)
  })

  test("[M-08] and takes what a run recorded, what another run recorded, and what stands outside", async () => {
    let elsewhere = ""
    await record(async (run) => {
      const call = run.tool({ name: "read_report", args: {}, callId: "toolu_1" }, () => "red")
      await call
      elsewhere = call.sourceRef
      for (const ref of [
        call.sourceRef,
        "tool:read_report",
        "tool:toolu_1",
        `step:${run.id}`,
        "file:a.md",
        "user:anna",
        "chunk:7",
      ]) {
        told(run, ref)
      }
    })
    expect((await ask("verify", "last")).stdout).toContain("0 findings")
    await record(async (run) => told(run, elsewhere))
    expect((await ask("verify", "last")).stdout).toContain("0 findings")
  })
})

test("[M-08] [M-07] a good run under audit is found fault with by nobody", async () => {
  write("notes/a.md", "flaky on leap days\n")
  write("rules.md", "Red is red.\n")
  await record(async (run) => void (await judge(run)))
  const verified = await ask("verify", "last")
  expect([verified.exitCode, verified.stdout]).toEqual([0, expect.stringMatching(/^ok .*completed/m)])
  expect((await ask("report", "last")).stdout).toContain("0 observability failures, 0 bypasses")
})
