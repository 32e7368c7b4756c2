import { bodyHash, type Event } from "@orangebox/contract"
import { expect, test } from "vitest"
import { observabilityOf, type RecordedRun } from "../src/index.js"
import { answer, fixerRun, request } from "./agent-runs.js"
import { recordInMemory, withoutBodies } from "./recorded.js"

const failuresIn = (run: RecordedRun) => observabilityOf(run).failures.map(({ failure, stepNo }) => [failure, stepNo])

/** The run with each event as the function leaves it; undefined takes it away. */
const changed = (run: RecordedRun, change: (event: Event) => Event | undefined): RecordedRun => ({
  ...run,
  events: run.events.flatMap((event) => change(event) ?? []),
})

test("[D-05] a run recorded whole has no hole in its trail", async () => {
  expect(observabilityOf(await fixerRun())).toEqual({ failures: [], bypasses: [], unreadCalls: 0, pendingTools: 0 })
})

test("[D-05] a model call whose request is only a hash is a failure; with the list of its segments it is a bundle in hashed form", async () => {
  const bare = withoutBodies(await fixerRun())
  expect(failuresIn(bare)).toEqual([])
  const unlisted = { ...bare, events: bare.events.filter(({ event_type }) => event_type !== "prompt_assembled") }
  expect(failuresIn(unlisted)).toEqual([
    ["model_call_without_prompt", 3],
    ["model_call_without_prompt", 5],
  ])
  const { recorder, recorded } = recordInMemory()
  const run = recorder.startRun({ entrypoint: "chat" })
  const call = run.startModel({
    provider: "anthropic",
    model: "m",
    request: request([{ role: "user", content: "hello" }]),
  })
  call.promptAssembled({
    segments: [
      { contributor: "system", kind: "persona", role: "system", content: "You fix bugs." },
      { contributor: "tool:Edit", kind: "tool-def", content: "{}" },
      { contributor: "user", kind: "user-msg", role: "user", content: "hello" },
    ],
  })
  call.endModel({ response: answer("m", "hi") })
  run.complete()
  expect(observabilityOf(withoutBodies(recorded()))).toMatchObject({ failures: [], unreadCalls: 1 })
})

test("[D-05] an action of another trace, or below a step that is not there, has no correlation", async () => {
  const run = await fixerRun()
  const isEdit = (event: Event): boolean => (event.payload as { tool_name?: string }).tool_name === "Edit"
  expect(failuresIn(changed(run, (event) => (isEdit(event) ? { ...event, trace_id: "f".repeat(32) } : event)))).toEqual(
    [["action_without_correlation", 4]],
  )
  const lost = changed(run, (event) => (isEdit(event) ? { ...event, parent_step_id: "f".repeat(16) } : event))
  expect(observabilityOf(lost).failures).toMatchObject([
    { failure: "action_without_correlation", detail: expect.stringContaining("ffffffffffffffff") },
  ])
})

test("[D-05] a call that does not say what was kept, in a run that does not either", async () => {
  const run = changed(await fixerRun(), (event) => {
    const { capture_mode: _, ...payload } = event.payload as { capture_mode?: string }
    return { ...event, payload } as Event
  })
  expect(failuresIn(run)).toEqual([
    ["missing_capture_mode", 3],
    ["missing_capture_mode", 5],
  ])
})

test("[D-05] a DecisionEvent that an application recorded without an evaluation", () => {
  const { recorder, sink, recorded } = recordInMemory()
  const run = recorder.startRun({ entrypoint: "chat" })
  const body = Buffer.from(JSON.stringify({ schema_version: "0.2", agent_action: { action_type: "plan" } }))
  const ref = bodyHash(body)
  sink.bodies.set(ref, body)
  run.emit("decision", { action_type: "plan", action_summary: "plans", decision_ref: ref }, {})
  run.complete()
  expect(failuresIn(recorded())).toEqual([["missing_evaluation", 1]])
})

test("[D-05] a history that changed between two calls with nothing on record that explains it", async () => {
  const talk = (explain: boolean) => async () => {
    const { recorder, recorded } = recordInMemory()
    const run = recorder.startRun({ entrypoint: "chat" })
    const ask = (messages: unknown[]) =>
      run.model({ provider: "anthropic", model: "m", request: request(messages) }, async () => answer("m", "two"))
    await ask([{ role: "user", content: "one" }])
    if (explain) run.repair({ kind: "history", before: "a", after: "b" })
    await ask([
      { role: "user", content: "one" },
      { role: "assistant", content: "two" },
      { role: "user", content: "three" },
    ])
    if (explain) run.repair({ kind: "history", before: "a", after: "b" })
    await ask([
      { role: "user", content: "one" },
      { role: "assistant", content: "two, but better" },
      { role: "user", content: "three" },
    ])
    run.complete()
    return recorded()
  }
  expect(failuresIn(await talk(false)())).toEqual([["unrecorded_transformation", 4]])
  expect(failuresIn(await talk(true)())).toEqual([])
})

test("[D-05] a tool that never ended, and one the model asked for that nobody ran", async () => {
  const run = await fixerRun()
  const neverEnded = changed(run, (event) =>
    event.event_type === "tool_result" && event.payload.tool_call_id === "tu_3" ? undefined : event,
  )
  expect(failuresIn(neverEnded)).toEqual([["tool_call_without_result", 7]])
  const neverRun = changed(run, (event) =>
    (event.payload as { tool_call_id?: string }).tool_call_id === "tu_3" ? undefined : event,
  )
  expect(observabilityOf(neverRun).failures).toMatchObject([
    { failure: "tool_call_without_result", stepNo: 5, detail: "the model asked for Bash and no result is on record" },
  ])
})

test("[D-05] in a run that goes on, a tool still at work is no failure yet", async () => {
  const run = await fixerRun()
  const open = changed(run, (event) => {
    if (event.event_type === "run_completed" || event.event_type === "final_output") return undefined
    return event.event_type === "tool_result" && event.payload.tool_call_id === "tu_3" ? undefined : event
  })
  expect(observabilityOf(open)).toMatchObject({ failures: [], pendingTools: 1 })
})

async function talkWith(messages: readonly unknown[], options: { tool?: string } = {}) {
  const { recorder, recorded } = recordInMemory()
  const run = recorder.startRun({ entrypoint: "chat" })
  const first = { role: "user", content: "one" }
  const asked = answer("m1", "Let me look.", { id: "tu_1", name: "Read", input: { file_path: "a" } })
  await run.model({ provider: "anthropic", model: "m", request: request([first]) }, async () => asked)
  await run.tool(
    { name: "Read", args: { file_path: "a" }, ...(options.tool ? { callId: options.tool } : {}) },
    async () => "text of a",
  )
  await run.model({ provider: "anthropic", model: "m", request: request([first, ...messages]) }, async () =>
    answer("m2", "done"),
  )
  run.complete()
  return recorded()
}

const asked = {
  role: "assistant",
  content: [
    { type: "text", text: "Let me look." },
    { type: "tool_use", id: "tu_1", name: "Read", input: { file_path: "a" } },
  ],
}
const result = (id: string, content: string) => ({
  role: "user",
  content: [{ type: "tool_result", tool_use_id: id, content }],
})

test("[D-07] what recorded calls produced is no bypass, with the model's ids or without", async () => {
  for (const tool of ["tu_1", undefined]) {
    const run = await talkWith([asked, result("tu_1", "text of a")], tool === undefined ? {} : { tool })
    expect(observabilityOf(run).bypasses).toEqual([])
  }
})

test("[D-07] an assistant turn that no recorded call produced, and a tool result that no recorded tool gave", async () => {
  const run = await talkWith(
    [
      asked,
      result("tu_1", "text of a"),
      { role: "assistant", content: [{ type: "tool_use", id: "tu_9", name: "Bash", input: { command: "rm -rf x" } }] },
      result("tu_9", "gone"),
      { role: "assistant", content: "I removed it." },
      { role: "user", content: "and now?" },
    ],
    { tool: "tu_1" },
  )
  expect(observabilityOf(run).bypasses.map(({ bypass, stepNo, certainty }) => [bypass, stepNo, certainty])).toEqual([
    ["assistant_turn", 4, "certain"],
    ["tool_result", 4, "certain"],
    ["assistant_turn", 4, "certain"],
  ])
})

test("[D-07] turns a talk begins with may come from an earlier run: possible, and told once", async () => {
  const { recorder, recorded } = recordInMemory()
  const run = recorder.startRun({ entrypoint: "chat" })
  const history = ["a", "b", "c", "d", "e"].map((content, at) => ({ role: at % 2 ? "assistant" : "user", content }))
  await run.model({ provider: "anthropic", model: "m", request: request(history) }, async () => answer("m", "f"))
  run.complete()
  expect(observabilityOf(recorded()).bypasses).toMatchObject([
    {
      bypass: "assistant_turn",
      certainty: "possible",
      detail: "the talk begins with 2 assistant turns of unknown origin",
    },
  ])
})

test("[D-07] a file that changed between two snapshots without an action that could have changed it", async () => {
  const { recorder, recorded } = recordInMemory()
  const run = recorder.startRun({ entrypoint: "chat" })
  const snapshot = (id: string, files: Record<string, string>) =>
    run.artifact({ id, type: "workspace_snapshot", summary: "files", content: { files } })
  snapshot("s1", { "src/a.ts": "1", "src/b.ts": "1" })
  await run.tool(
    { name: "Edit", args: { file_path: "/repo/src/a.ts", old_string: "1", new_string: "2" } },
    async () => "ok",
  )
  snapshot("s2", { "src/a.ts": "2", "src/b.ts": "2" })
  await run.tool({ name: "Bash", args: { command: "make" } }, async () => "ok")
  snapshot("s3", { "src/a.ts": "3", "src/b.ts": "3" })
  run.complete()
  expect(observabilityOf(recorded()).bypasses).toMatchObject([
    { bypass: "workspace_change", detail: "src/b.ts changed and no action changed it" },
  ])
})
