import { canonicalHash, type Event } from "@orangebox/contract"
import fc from "fast-check"
import { expect, test } from "vitest"
import { actionsOf, DecisionEvent, decisionsOf, evaluateRun, type RecordedRun } from "../src/index.js"
import { answer, fixerRun, REQUEST, request, SYSTEM, TOOLS } from "./agent-runs.js"
import { recordInMemory, withoutBodies } from "./recorded.js"

const expectValid = (run: RecordedRun): void => {
  for (const decision of decisionsOf(run)) expect(DecisionEvent.safeParse(decision).error).toBeUndefined()
}

test("[D-01] the actions of a run are DecisionEvents with session, request, provenance, output, action and evaluation", async () => {
  const run = await fixerRun()
  const decisions = decisionsOf(run)
  expectValid(run)
  expect(decisions.map(({ agent_action }) => [agent_action.action_type, agent_action.action_summary])).toEqual([
    ["plan", "asks for Edit: I change the constant."],
    ["edit", "Edit src/date.ts +2 −1"],
    ["plan", "asks for Bash, Bash"],
    ["run_tests", "Bash npx vitest run (Tests 1 failed | 10 passed | 2 skipped)"],
    ["command", 'Bash git commit -am "Leap years"'],
    ["message", "Done."],
  ])
  const edit = decisions[1]!
  expect(edit).toMatchObject({
    schema_version: "0.2",
    session: {
      session_id: "talk-1",
      run_id: run.events[0]!.run_id,
      agent_id: "fixer",
      agent_version: "1.2.0",
      environment: "local",
    },
    request: {
      request_id: "req-7",
      user_request_raw: REQUEST,
      constraints: [{ id: "scope.src", type: "scope", rule: "paths.only src/**" }],
      context: { channel: "cli", repo: "acme/dates", branch: "main", ticket_id: "T-1" },
    },
    prompt_provenance: {
      provider: "anthropic",
      model: "claude-x",
      capture_mode: "redacted",
      parameters: { temperature: 0.2, top_p: null, max_tokens: 1024 },
    },
    model_output: {
      completion_id: "msg_1",
      output_raw: "I change the constant.",
      output_structured: null,
      tool_calls: [{ id: "tu_1", name: "Edit", runs_at: "client" }],
      usage: { input_tokens: 412, output_tokens: 12 },
    },
    agent_action: {
      tool_results: [{ tool_call_id: "tu_1", tool_name: "Edit", status: "success" }],
    },
    evaluation: {
      alignment: { status: "unknown", score: null, violations: [] },
      quality: { status: "unknown", checks: [] },
      policy: { status: "unknown", checks: [] },
    },
  })
})

test("[D-01] every span id is used once, every tool hangs below the call that asked for it, the trace is one", async () => {
  const decisions = decisionsOf(await fixerRun())
  const spans = decisions.map(({ span_id }) => span_id)
  expect(new Set(spans).size).toBe(spans.length)
  expect(new Set(decisions.map(({ trace_id }) => trace_id)).size).toBe(1)
  expect(decisions[1]!.parent_span_id).toBe(decisions[0]!.span_id)
  expect(decisions[3]!.parent_span_id).toBe(decisions[2]!.span_id)
  expect(decisions[4]!.parent_span_id).toBe(decisions[2]!.span_id)
})

test("[D-01] two readings give the same decisions with the same ids, in whatever order the events come", async () => {
  const run = await fixerRun()
  const expected = JSON.stringify(decisionsOf(run))
  expect(new Set(decisionsOf(run).map(({ event_id }) => event_id)).size).toBe(6)
  await fc.assert(
    fc.property(fc.shuffledSubarray(run.events as Event[], { minLength: run.events.length }), (events) => {
      expect(JSON.stringify(decisionsOf({ ...run, events }))).toBe(expected)
    }),
    { numRuns: 20 },
  )
})

test("[D-01] whatever part of a run is left, its decisions fit the schema and have an evaluation", async () => {
  const run = await fixerRun()
  await fc.assert(
    fc.property(fc.subarray(run.events as Event[]), fc.boolean(), (events, keepsBodies) => {
      expectValid(keepsBodies ? { ...run, events } : withoutBodies({ ...run, events }))
    }),
    { numRuns: 100 },
  )
})

test("[D-01] without any text, digests stand for it and say that they do", async () => {
  const run = withoutBodies(await fixerRun())
  const [plan, edit] = decisionsOf(run)
  expect(edit!.request).toMatchObject({
    user_request_raw: expect.stringMatching(/^sha256:/),
    user_request_form: "hash",
  })
  expect(plan!.model_output).toMatchObject({ output_raw: expect.stringMatching(/^sha256:/), output_form: "hash" })
  expect(edit!.agent_action.tool_results[0]).toMatchObject({ result_form: "hash" })
  expect(edit!.agent_action.action_type).toBe("edit")
  expect(edit!.evaluation.alignment.status).toBe("unknown")
})

test("[D-01] a decision the application states is one of its own, also when it is to do nothing", () => {
  const { recorder, recorded } = recordInMemory()
  const run = recorder.startRun({ entrypoint: "watch" })
  run.emit("decision", { action_type: "no_op", action_summary: "nothing changed since yesterday" }, {})
  run.complete()
  expect(decisionsOf(recorded()).map(({ agent_action }) => agent_action)).toMatchObject([
    { action_type: "no_op", action_summary: "nothing changed since yesterday" },
  ])
  expectValid(recorded())
})

test("[D-03] a decision stated inside a tool step says what that action is", async () => {
  const { recorder, recorded } = recordInMemory()
  const run = recorder.startRun({ entrypoint: "ship" })
  await run.tool({ name: "ship_it", args: { to: "prod" } }, async ({ step }) => {
    step.emit("decision", { action_type: "deploy", action_summary: "ships build 7 to prod" }, {})
  })
  run.complete()
  expect(decisionsOf(recorded()).map(({ agent_action }) => agent_action)).toMatchObject([
    { action_type: "deploy", action_summary: "ships build 7 to prod" },
  ])
})

test("[E-04] a person's word is a decision and stands beside the verdict it is about", async () => {
  const run = await fixerRun()
  const subject = decisionsOf(run)[1]!.span_id
  const said: Event<"override"> = {
    ...(run.events[0] as Event<"run_started">),
    event_id: "019570a1-0000-7000-8000-0000000000ff",
    event_type: "override",
    step_id: null,
    parent_step_id: null,
    sequence_no: null,
    artifact_refs: [],
    payload: { author: "mira", subject_step_id: subject, verdict: "fail", reason: "wrong file" },
  }
  const decisions = decisionsOf({ ...run, events: [...run.events, said] })
  expect(decisions[1]!.evaluation.overrides).toMatchObject([{ author: "mira", verdict: "fail", reason: "wrong file" }])
  expect(decisions.at(-1)).toMatchObject({
    agent_action: { action_type: "override", action_summary: "mira says fail: wrong file" },
    parent_span_id: subject,
  })
  expectValid({ ...run, events: [...run.events, said] })
})

test("[D-02] the prompt bundle holds system, history and tools as they were sent, and its hash is that of its canonical form", async () => {
  const decisions = decisionsOf(await fixerRun())
  const { prompt_bundle: bundle, prompt_bundle_hash: hash } = decisions[3]!.prompt_provenance
  expect(bundle.source).toBe("request")
  expect(bundle.messages).toEqual([
    { role: "system", content: SYSTEM },
    { role: "user", content: REQUEST },
    {
      role: "assistant",
      content: "I change the constant.",
      tool_calls: [{ id: "tu_1", name: "Edit", arguments: expect.stringContaining("src/date.ts") }],
    },
    { role: "tool", content: "The file src/date.ts has been updated.", tool_call_id: "tu_1" },
  ])
  expect(bundle.tools).toEqual(
    TOOLS.map(({ name, description, input_schema }) => ({ name, description, schema: input_schema })),
  )
  for (const { prompt_provenance } of decisions) {
    expect(prompt_provenance.prompt_bundle_hash).toBe(canonicalHash(prompt_provenance.prompt_bundle))
  }
  expect(hash).not.toBe(decisions[0]!.prompt_provenance.prompt_bundle_hash)
})

test("[D-02] what a template built and what was sent differ: the change is listed with its place", async () => {
  const { recorder, recorded } = recordInMemory()
  const run = recorder.startRun({ entrypoint: "chat" })
  const built = request([{ role: "user", content: "hello" }])
  const sent = { ...built, system: "You fix bugs. Be brief." }
  const call = run.step("ask")
  call.promptRendered({ prompt: built, templateId: "ask", templateVersion: "3" })
  await call.model({ provider: "anthropic", model: "claude-x", request: sent }, async () => answer("m", "hi"))
  call.end()
  run.complete()
  expect(decisionsOf(recorded())[0]!.prompt_provenance.prompt_bundle.transformations).toEqual([
    { type: "template", summary: "ask 3" },
    { type: "rewrite", summary: "1 change between what was built and what was sent: /system" },
  ])
})

test("[D-02] a history that was cut or rewritten between two calls is a transformation, marked as inferred", async () => {
  const { recorder, recorded } = recordInMemory()
  const run = recorder.startRun({ entrypoint: "chat" })
  const talk = ["one", "two", "three", "four"].map((content, at) => ({ role: at % 2 ? "assistant" : "user", content }))
  for (const messages of [talk.slice(0, 3), [...talk.slice(2), { role: "user", content: "five" }]]) {
    await run.model({ provider: "anthropic", model: "claude-x", request: request(messages) }, async () =>
      answer("m", "four"),
    )
  }
  run.complete()
  const [first, second] = decisionsOf(recorded())
  expect(first!.prompt_provenance.prompt_bundle.transformations).toEqual([])
  expect(second!.prompt_provenance.prompt_bundle.transformations).toEqual([
    { type: "other", summary: "the first 2 messages of the history are gone", is_inferred: true },
  ])
})

test("[D-02] what was retrieved for a call is in its bundle", async () => {
  const { recorder, recorded } = recordInMemory()
  const run = recorder.startRun({ entrypoint: "ask" })
  const step = run.step("answer")
  await step.retrieval({ retriever: "bm25", query: "leap", topK: 2 }, async () => [
    { chunkId: "c1", sourceUri: "docs/dates.md", content: "A leap year has 366 days." },
  ])
  await step.model(
    { provider: "anthropic", model: "claude-x", request: request([{ role: "user", content: "leap?" }]) },
    async () => answer("m", "366"),
  )
  step.end()
  run.complete()
  const { retrieval } = decisionsOf(recorded()).at(-1)!.prompt_provenance.prompt_bundle
  expect(retrieval).toMatchObject({
    enabled: true,
    sources: [{ retriever_id: "bm25", top_k: 2, candidate_count: 1, source_uris: ["docs/dates.md"] }],
    snippets: "A leap year has 366 days.",
  })
})

test("[D-01] a run captured as hashes has its decisions with hashes, usage and latency, and no text", async () => {
  const run = await fixerRun({ capture: "hashed" })
  const decisions = decisionsOf(run)
  expectValid(run)
  expect(decisions.map(({ agent_action }) => agent_action.action_type)).toEqual([
    "plan",
    "edit",
    "plan",
    "command",
    "command",
    "message",
  ])
  const text = JSON.stringify(decisions)
  for (const said of ["I change the constant.", REQUEST, "const d = 28", "npx vitest"]) expect(text).not.toContain(said)
  expect(decisions[1]).toMatchObject({
    prompt_provenance: { capture_mode: "hashed", prompt_bundle_hash: expect.stringMatching(/^sha256:/) },
    model_output: { output_form: "hash", usage: { latency_ms: expect.any(Number) } },
  })
})

test("[D-02] a call that leans on context the provider keeps says so in its bundle", async () => {
  const { recorder, recorded } = recordInMemory()
  const run = recorder.startRun({ entrypoint: "chat" })
  const sent = { model: "gpt-x", previous_response_id: "resp_1", input: "and then?", instructions: "Be brief." }
  await run.model({ provider: "openai", model: "gpt-x", request: sent }, async () => ({
    id: "resp_2",
    object: "response",
    status: "completed",
    model: "gpt-x",
    output: [{ type: "message", role: "assistant", content: [{ type: "output_text", text: "The end." }] }],
  }))
  run.complete()
  const [decision] = decisionsOf(recorded())
  expect(decision!.model_output).toMatchObject({ completion_id: "resp_2", output_raw: "The end." })
  expect(decision!.prompt_provenance.prompt_bundle).toMatchObject({
    messages: [
      { role: expect.stringMatching(/system|developer/), content: "Be brief." },
      { role: "user", content: "and then?" },
    ],
    transformations: [{ type: "other", summary: "the provider adds what it keeps itself: previous_response" }],
  })
})

test("[E-03] a verdict recorded when the text was there stands when it is gone", async () => {
  const run = await fixerRun({ capture: "hashed" })
  const edit = decisionsOf(run)[1]!
  const judged: Event<"evaluation"> = {
    ...(run.events[0] as Event<"run_started">),
    event_id: "019570a1-0000-7000-8000-0000000000fe",
    event_type: "evaluation",
    step_id: null,
    parent_step_id: null,
    sequence_no: null,
    artifact_refs: [],
    payload: {
      evaluator: "orangebox.checks",
      subject_step_id: edit.span_id,
      alignment: "fail",
      quality: "unknown",
      policy: "unknown",
      score: 0,
      evaluation_ref: null,
    },
  }
  const later = { ...run, events: [...run.events, judged] }
  const evaluation = evaluateRun(actionsOf(later), [{ id: "src", type: "scope", rule: "paths.only src/**" }])
  expect(decisionsOf(later, { evaluation })[1]!.evaluation.alignment.status).toBe("fail")
})

test("[D-04] an edit whose diff the application recorded itself is told once, as the application saw it", async () => {
  const { recorder, recorded } = recordInMemory()
  const run = recorder.startRun({ entrypoint: "x" })
  await run.tool({ name: "edit_file", args: { path: "a.js", find: "x", replace: "y\nz" } }, ({ step }) => {
    step.artifact({
      id: "d1",
      type: "file_edit",
      summary: "a.js",
      path: "a.js",
      content: "-x\n+y",
      linesAdded: 2,
      linesRemoved: 1,
    })
  })
  await run.tool({ name: "edit_file", args: { path: "b.js", find: "x", replace: "y" } }, () => "ok")
  run.complete()
  const artifacts = decisionsOf(recorded()).flatMap(({ agent_action }) => agent_action.artifacts)
  expect(
    artifacts.map(({ id, metadata }) => [id.replace(/^\w{16}/, ""), metadata.path, metadata.lines_removed]),
  ).toEqual([
    ["d1", "a.js", 1],
    ["/file_edit/1", "b.js", 1],
  ])
})
