import type { Event } from "@orangebox/contract"
import { expect, test } from "vitest"
import { bodiesOf, viewRun } from "../src/index.js"
import { RunBuilder } from "./build-run.js"
import { crashedRun, longRun, retriedRun, unknownEvent } from "./sample-runs.js"

test("[Q-01] steps are numbered in opening order, and #1 is the run", () => {
  const view = viewRun(crashedRun())
  expect(view.steps.map((step) => step.n)).toEqual(view.steps.map((_, index) => index + 1))
  expect(view.steps[0]).toMatchObject({ kind: "run", depth: 0, parent: undefined, children: [2, 5, 12, 13] })
  expect(view.steps[3]).toMatchObject({ kind: "tool", name: "read_file", parent: 2, depth: 2, status: "success" })
})

test("tools that run side by side are siblings in the order in which they opened", () => {
  const view = viewRun(retriedRun())
  expect(view.steps[1]).toMatchObject({ name: "lookup", workKind: "retrieval", children: [3, 4] })
  expect(view.steps[2]).toMatchObject({ name: "orders", durationUs: 400_000 })
  expect(view.steps[3]).toMatchObject({ name: "carrier", durationUs: 310_000 })
})

test("the attempts of a call are its children and are not counted as calls or errors", () => {
  const { steps, totals } = viewRun(retriedRun())
  expect(steps[4]).toMatchObject({ kind: "model", attempts: 3, status: "success", attemptNo: undefined })
  expect(steps.slice(5).map((step) => [step.attemptNo, step.status])).toEqual([
    [1, "error"],
    [2, "error"],
    [3, "success"],
  ])
  expect(totals).toMatchObject({ modelCalls: 1, toolCalls: 2, errors: 0, failedAttempts: 2, warnings: 1 })
  expect(totals.tokens).toMatchObject({ input: 3100, output: 96, cacheRead: 2400 })
})

test("a run whose process died is crashed, and so is what it left open", () => {
  const view = viewRun(crashedRun())
  expect(view.status).toBe("crashed")
  expect(view.crash).toMatchObject({ pid: 4711, step: 13, evidence: "pid 4711 is gone, same boot" })
  expect(view.steps[12]).toMatchObject({ status: "crashed", durationUs: undefined })
  expect(view.steps[12]!.partials).toEqual([{ stepId: view.steps[12]!.id, role: "response", byteSize: 1200 }])
  expect(view.steps[11]!.status).toBe("error")
})

test("a recorded end wins over a crash that was said before it arrived", () => {
  const { run } = crashedRun()
  run.complete()
  const view = viewRun({ events: run.events })
  expect(view.status).toBe("completed")
  expect(view.crash).toBeUndefined()
  expect(view.steps[12]!.status).toBe("open")
  expect(view.steps[0]!.notes.map((note) => note.kind)).toContain("crash")
})

test("a run without an end is running only when its writer is known to be alive", () => {
  const { events } = new RunBuilder()
  expect(viewRun({ events }).status).toBe("silent")
  expect(viewRun({ events, isWriterAlive: true }).status).toBe("running")
})

test("an empty list of events is a run of which nothing is known", () => {
  expect(viewRun({ events: [] })).toMatchObject({
    runId: undefined,
    status: "silent",
    steps: [],
    totals: { events: 0 },
  })
})

test("unknown token counts stay unknown and are counted as such", () => {
  const run = new RunBuilder()
  const call = run.callModel("m")
  run.modelAnswers(call, "m", [0, 0, 0], { token_usage: { prompt: null, completion: null, total: null } })
  const view = viewRun({ events: run.events })
  expect(view.steps[1]!.model).toMatchObject({ inputTokens: undefined, outputTokens: undefined })
  expect(view.totals.tokens).toMatchObject({ input: null, callsWithoutUsage: 1 })
})

test("an error that only passes through points to the step where it began", () => {
  const run = new RunBuilder()
  const outer = run.step("outer")
  const inner = run.step("inner", outer)
  const failure = { status: "error", error_class: "TypeError", error_summary: "x is not a function\n at y" } as const
  run.end(inner, failure).end(outer, failure).fail("TypeError", failure.error_summary, inner)
  const [root, first, second] = viewRun({ events: run.events }).steps
  expect(second!.error).toMatchObject({ errorClass: "TypeError", line: "x is not a function", sameAs: undefined })
  expect(first!.error).toMatchObject({ sameAs: 3 })
  expect(root!.error).toMatchObject({ sameAs: 3, blames: 3 })
})

test("losses are the recorded gaps and the holes that none of them explains, each counted once", () => {
  const build = (): RunBuilder => new RunBuilder().lose(3).complete()
  const lost = (gaps: Parameters<typeof viewRun>[0]["gaps"]): number =>
    viewRun({ events: build().events, ...(gaps ? { gaps } : {}) }).totals.lost
  expect(lost(undefined)).toBe(3)
  expect(lost([{ reason: "disk full", count: 3, fromSequence: 1, toSequence: 3 }])).toBe(3)
  expect(lost([{ reason: "disk full", count: 1, fromSequence: 2, toSequence: 2 }])).toBe(3)
  expect(lost([{ reason: "disk full", count: 2, fromSequence: null, toSequence: null }])).toBe(3)
  expect(lost([{ reason: "disk full", count: 5, fromSequence: null, toSequence: null }])).toBe(5)
})

test("a step whose opening was lost keeps its place, and #1 stays the run's", () => {
  const run = new RunBuilder()
  const step = run.step("plan")
  const tool = run.callTool("read_file", "a.ts", step)
  run.toolReturns(tool, "read_file", 10).end(step).complete()
  const withoutOpenings = run.events.filter((event) => !["run_started", "step_started"].includes(event.event_type))
  const view = viewRun({ events: withoutOpenings })
  expect(view.steps.map((one) => [one.n, one.kind, one.id])).toEqual([
    [1, "run", run.root],
    [2, "step", step],
    [3, "tool", tool],
  ])
  expect(view.steps[1]).toMatchObject({ opened: undefined, status: "success", parent: 1 })
})

test("parents that name each other in a circle still give a tree", () => {
  const run = new RunBuilder()
  const a = run.step("a")
  const b = run.step("b", a)
  const circle = run.events.map((event) => (event.step_id === a ? { ...event, parent_step_id: b } : event))
  const view = viewRun({ events: circle })
  for (const step of view.steps.slice(1)) expect(step.parent!).toBeLessThan(step.n)
})

test("event types from a newer minor version are kept as notes", () => {
  const run = new RunBuilder()
  const step = run.step("leap")
  const event = unknownEvent(run, step)
  const view = viewRun({ events: run.events })
  expect(view.steps[1]!.notes).toMatchObject([{ kind: "unknown", weight: "plain", event }])
})

test("what is said later about a step stands with that step and changes none of its facts", () => {
  const run = new RunBuilder()
  const tool = run.callTool("deploy", "prod")
  run.toolReturns(tool, "deploy", 2).complete()
  const before = viewRun({ events: run.events })
  run.annotate("evaluation", {
    evaluator: "judge",
    subject_step_id: tool,
    alignment: "fail",
    quality: "pass",
    policy: "unknown",
    score: null,
    evaluation_ref: null,
  })
  const after = viewRun({ events: run.events })
  expect(after.steps[1]!.notes).toMatchObject([{ kind: "evaluation", weight: "bad" }])
  expect(after.steps[1]!.status).toBe("success")
  expect({ ...after.totals, annotations: 0, warnings: 0 }).toEqual(before.totals)
})

test("attributes set later join those of the opening, and log attributes stay with their line", () => {
  const run = new RunBuilder()
  const step = run.step("plan")
  run.add(step, "attributes_set", {}, { attributes: { tries: 2, __proto__: null } as Event["attributes"] })
  run.add(step, "log", { level: "info", message: "hi" }, { attributes: { line: 7 } })
  expect({ ...viewRun({ events: run.events }).steps[1]!.attributes }).toEqual({ tries: 2 })
})

test("bodies say what they are, how large, and why they are not there", () => {
  const { events } = crashedRun()
  const pruned = events.map((event) =>
    event.event_type === "tool_result"
      ? { ...event, artifact_refs: event.artifact_refs.map((ref) => ({ ...ref, absent: "pruned" as const })) }
      : event,
  )
  const step = viewRun({ events: pruned }).steps[3]!
  expect(bodiesOf(step.events)).toMatchObject([
    { role: "args", byteSize: 64, absent: undefined },
    { role: "result", byteSize: 2048, absent: "pruned" },
  ])
  expect(step.bodyBytes).toBe(2112)
})

test("a run of 10,000 steps is viewed without nesting or quadratic work", () => {
  const view = viewRun(longRun(2500))
  expect(view.totals).toMatchObject({ steps: 10_001, events: 20_002, modelCalls: 2500, toolCalls: 5000, errors: 1 })

  const deep = new RunBuilder()
  let parent = deep.root
  for (let level = 0; level < 10_000; level++) parent = deep.step("down", parent)
  expect(viewRun({ events: deep.events }).steps.at(-1)!.depth).toBe(10_000)
})

test("a process that dies between two steps died in the step around them", () => {
  const run = new RunBuilder()
  const plan = run.step("plan")
  run.toolReturns(run.callTool("grep", "x", plan), "grep", 3)
  run.annotate("process_crashed", { writer_id: "w", pid: 9, last_open_step_id: plan, evidence: "gone" })
  const view = viewRun({ events: run.events })
  expect(view.crash?.step).toBe(2)
  expect(view.steps.map((step) => step.isInnermostOpen)).toEqual([false, true, false])
})

test("links to other runs are notes wherever they were recorded, and the causal chain inside the run is not", () => {
  const run = new RunBuilder()
  const other = "run_01JT9QK2M0A7XK3V5B8D1E6F9H"
  const spawned = run.callTool("delegate", "x", run.root, { links: [{ kind: "spawned", run_id: other }] })
  run.callTool("next", "y", run.root, { links: [{ kind: "follows", step_id: spawned }] })
  run.add(spawned, "link_added", { link: { kind: "caused", run_id: other } })
  const view = viewRun({ events: run.events })
  expect(view.steps[1]!.notes.map((note) => [note.kind, note.link?.kind])).toEqual([
    ["link", "spawned"],
    ["link", "caused"],
  ])
  expect(view.steps[2]!.notes).toEqual([])
})
