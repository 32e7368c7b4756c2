import Anthropic from "@anthropic-ai/sdk"
import { validateRun } from "@orangebox/contract"
import { viewRun } from "@orangebox/query"
import OpenAI from "openai"
import { expect, test } from "vitest"
import { eventually, type RecordedProxy, recordedProxy } from "./recorded-proxy.js"
import { json, messageRequest, messageStream, startUpstream } from "./upstream.js"

/** Answers in the order given; every answer to the question that is asked. */
async function scripted(answers: readonly Buffer[]): Promise<{ origin: string }> {
  let next = 0
  return startUpstream((_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" })
    response.end(answers[next++])
  })
}

async function ask(proxy: RecordedProxy, body: Buffer, headers: Record<string, string> = {}): Promise<string> {
  const response = await fetch(`${proxy.urlFor("anthropic")}/v1/messages`, { method: "POST", body, headers })
  return response.text()
}

const assistant = (...content: unknown[]) => ({ role: "assistant", content })
const toolUse = (id: string, name: string, input: unknown) => ({ type: "tool_use", id, name, input })
const toolResult = (id: string, content: string, more: object = {}) => ({
  role: "user",
  content: [{ type: "tool_result", tool_use_id: id, content, ...more }],
})

test("[K-09] an agent nobody instrumented reads like one that was: turns, tools and their results, sub-agents, side calls", async () => {
  const task = "Find every caller of parseDate and tell me which of them pass a string"
  const upstream = await scripted([
    messageStream({ text: "Fix date test" }),
    messageStream({ text: "Let me look.", tool: { id: "t1", name: "read_file", input: { path: "src/date.ts" } } }),
    messageStream({ tool: { id: "t2", name: "agent", input: { prompt: task } } }),
    messageStream({ tool: { id: "s1", name: "grep", input: { pattern: "parseDate" } } }),
    messageStream({ text: "Two callers pass strings." }),
    messageStream({ text: "The month was off by one." }),
    messageStream({ text: "Committed." }),
  ])
  const proxy = await recordedProxy({ anthropic: upstream.origin })
  await ask(
    proxy,
    messageRequest(
      [{ role: "user", content: "Write a short title for this conversation: Fix the failing date test" }],
      { tools: undefined, system: "You name conversations." },
    ),
  )
  const history: unknown[] = [{ role: "user", content: "Fix the failing date test" }]
  const turn = (...more: unknown[]): Buffer => {
    history.push(...more)
    return messageRequest(history)
  }
  await ask(proxy, turn())
  await ask(
    proxy,
    turn(
      assistant({ type: "text", text: "Let me look." }, toolUse("t1", "read_file", { path: "src/date.ts" })),
      toolResult("t1", "export function parseDate() {}"),
    ),
  )
  const sub: unknown[] = [{ role: "user", content: task }]
  const agent = { system: "You search code." }
  await ask(proxy, messageRequest(sub, agent))
  sub.push(
    assistant(toolUse("s1", "grep", { pattern: "parseDate" })),
    toolResult("s1", "no such flag", { is_error: true }),
  )
  await ask(proxy, messageRequest(sub, agent))
  await ask(
    proxy,
    turn(assistant(toolUse("t2", "agent", { prompt: task })), toolResult("t2", "Two callers pass strings.")),
  )
  await ask(
    proxy,
    turn(assistant({ type: "text", text: "The month was off by one." }), { role: "user", content: "Commit it" }),
  )
  await proxy.close()
  proxy.run.complete()

  const events = proxy.events().filter((event) => event.run_id === proxy.run.runId)
  expect(validateRun(events)).toEqual([])
  const view = viewRun({ events })
  const tree = view.steps.map(({ depth, kind, workKind, name, tool, status }) => {
    const what = [workKind ?? kind, kind === "run" ? "" : name, tool?.args].filter(Boolean).join(" ")
    return `${"  ".repeat(depth)}${what}${status === "success" ? "" : ` (${status})`}`
  })
  expect(tree).toEqual([
    "run",
    "  model claude-sonnet-4-5",
    "  turn Fix the failing date test",
    "    model claude-sonnet-4-5",
    "    tool read_file src/date.ts",
    "    model claude-sonnet-4-5",
    `    tool agent prompt=${task}`,
    `      agent ${task}`,
    "        model claude-sonnet-4-5",
    "        tool grep parseDate (error)",
    "        model claude-sonnet-4-5",
    "    model claude-sonnet-4-5",
    "  turn Commit it",
    "    model claude-sonnet-4-5",
  ])
  expect(view.steps.filter((step) => step.inferredBy).map((step) => step.workKind ?? step.kind)).toEqual([
    "turn",
    "tool",
    "tool",
    "agent",
    "tool",
    "turn",
  ])
  const called = proxy.all("model_called")
  expect(called[0]!.attributes).toMatchObject({ auxiliary: true, side_call: "title" })
  const lanes = called.map((event) => event.lane_id)
  expect(new Set(lanes).size).toBe(3)
  for (const event of proxy.all("tool_called")) expect(event.inferred_by).toMatch(/^wire-reducer/)
  for (const event of called) expect(event.inferred_by).toBeUndefined()
  const follows = proxy.all("link_added").filter((event) => event.payload.link.kind === "follows")
  expect(follows.length).toBeGreaterThanOrEqual(4)
  expect(follows.every((event) => event.inferred_by !== undefined)).toBe(true)
})

test("[K-09] a standing proxy makes a run of every conversation and ends it by idleness, marked inferred", async () => {
  const upstream = await scripted(
    [1, 2, 3].map((n) => messageStream({ text: `answer ${n}, which is long enough to be told apart from any other` })),
  )
  const proxy = await recordedProxy({ anthropic: upstream.origin }, { standing: true, idleRunMs: 300 })
  await ask(proxy, messageRequest([{ role: "user", content: "First question" }]), {
    "x-claude-code-session-id": "session-7",
  })
  await ask(
    proxy,
    messageRequest([{ role: "user", content: "Second, unrelated question" }], { system: "Another agent" }),
  )
  const ends = await eventually(() => proxy.all("run_completed").length === 2 && proxy.all("run_completed"), "two ends")
  expect(ends.map((event) => event.inferred_by)).toEqual(["wire-reducer@1", "wire-reducer@1"])
  expect(ends[0]!.attributes).toMatchObject({ ended_by: "idleness" })
  const started = proxy.all("run_started").slice(1)
  expect(started.map((event) => event.payload.input_summary)).toEqual(["First question", "Second, unrelated question"])
  expect(started[0]!.conversation_id).toBe("session-7")

  await ask(
    proxy,
    messageRequest([
      { role: "user", content: "First question" },
      assistant({ type: "text", text: "answer 1, which is long enough to be told apart from any other" }),
      { role: "user", content: "And then?" },
    ]),
  )
  const again = proxy.all("run_started").at(-1)!
  const link = proxy
    .all("link_added")
    .find((event) => event.run_id === again.run_id && event.payload.link.kind === "caused_by")
  expect(link!.payload.link.run_id).toBe(started[0]!.run_id)
})

test("[K-09] a compaction goes on in the same run and is said in the trace", async () => {
  const summary =
    "This session fixed the date parser, whose month was off by one, and added a test for leap years. ".repeat(6)
  const upstream = await scripted([
    messageStream({ text: "Looking at the parser now." }),
    messageStream({ text: summary }),
    messageStream({ text: "Going on." }),
  ])
  const proxy = await recordedProxy({ anthropic: upstream.origin })
  const first = [{ role: "user", content: "Fix the failing date test" }]
  await ask(proxy, messageRequest(first))
  await ask(
    proxy,
    messageRequest([
      ...first,
      assistant({ type: "text", text: "Looking at the parser now." }),
      { role: "user", content: "Summarize this session" },
    ]),
  )
  await ask(
    proxy,
    messageRequest([
      { role: "user", content: `This session is being continued from a previous conversation: ${summary}` },
    ]),
  )
  const log = proxy.all("log").find((event) => event.payload.message.includes("summary"))
  expect(log).toMatchObject({
    inferred_by: "wire-reducer@1",
    payload: { level: "warn" },
    attributes: { history: "compaction" },
  })
})

test("[R-17] a client's own compaction is a step of that kind, and the turn after it goes on from the summary", async () => {
  const summary = "The month was off by one in the date parser, and a test for leap years was added. ".repeat(6)
  const tools = [{ name: "read", input_schema: { type: "object" } }]
  const upstream = await scripted(["Looking.", summary, "Going on.", "Done."].map((text) => messageStream({ text })))
  const proxy = await recordedProxy({ anthropic: upstream.origin })
  const first = [{ role: "user", content: "Fix the failing date test" }]
  const session = { "x-claude-code-session-id": "session-7" }
  await ask(proxy, messageRequest(first, { tools }), session)
  const history = [...first, assistant({ type: "text", text: "Looking." })]
  const prompt = "Your task is to create a detailed summary of the conversation so far, paying close attention to it."
  await ask(proxy, messageRequest([...history, { role: "user", content: prompt }], { tools }), session)
  const again = [{ role: "user", content: `This session is being continued from a previous conversation.\n${summary}` }]
  await ask(proxy, messageRequest(again, { tools }), session)
  const steps = proxy.all("step_started").map(({ payload, inferred_by }) => [payload.kind, payload.name, inferred_by])
  expect(steps).toEqual([
    ["turn", "Fix the failing date test", "wire-reducer@1"],
    ["compaction", "the history is summed up", "wire-reducer@1"],
    ["turn", "goes on from the summary", "wire-reducer@1"],
  ])
  const calls = proxy.all("model_called")
  expect(calls.map(({ parent_step_id }) => parent_step_id)).toEqual(
    proxy.all("step_started").map(({ step_id }) => step_id),
  )
  expect(calls.map(({ conversation_id }) => conversation_id)).toEqual(["session-7", "session-7", "session-7"])
})

test("[K-11] a call that an instrumented agent records itself is forwarded without the mark, and only linked", async () => {
  const upstream = await startUpstream((_, response) => response.end(messageStream({ text: "Hello" })))
  const proxy = await recordedProxy({ anthropic: upstream.origin })
  const runId = "run_01JT9QK2M0A7XK3V5B8D1E6F9G"
  await ask(proxy, messageRequest([{ role: "user", content: "Hi" }]), {
    "x-orangebox-step": `${runId}/0123456789abcdef`,
  })
  expect(upstream.seen[0]!.rawHeaders.join().toLowerCase()).not.toContain("x-orangebox")
  expect(proxy.all("model_called")).toHaveLength(0)
  expect(proxy.all("link_added").map((event) => event.payload.link)).toEqual([
    { kind: "mentions", run_id: runId, step_id: "0123456789abcdef", reason: "recorded by the agent itself" },
  ])
  expect(proxy.stats()).toMatchObject({ linkedCalls: 1, modelCalls: 0 })
})

test("[K-02] the official Anthropic SDK works through the proxy, streaming and not, and its retry is one call", async () => {
  let calls = 0
  const upstream = await startUpstream((request, response) => {
    calls++
    if (calls === 1) {
      response.writeHead(529, { "retry-after-ms": "5", "content-type": "application/json" })
      response.end('{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}')
      return
    }
    const isStream = (JSON.parse(request.body.toString()) as { stream?: boolean }).stream
    response.writeHead(200, { "content-type": isStream ? "text/event-stream" : "application/json" })
    response.end(
      isStream
        ? messageStream({ text: "Streamed" })
        : json({
            id: "msg_1",
            type: "message",
            role: "assistant",
            model: "claude-sonnet-4-5",
            content: [{ type: "text", text: "Plain" }],
            stop_reason: "end_turn",
            usage: { input_tokens: 9, output_tokens: 2 },
          }),
    )
  })
  const proxy = await recordedProxy({ anthropic: upstream.origin })
  const client = new Anthropic({ apiKey: "sk-ant-test-0123456789", baseURL: proxy.urlFor("anthropic") })
  const params = { model: "claude-sonnet-4-5", max_tokens: 64, messages: [{ role: "user" as const, content: "Hi" }] }
  const message = await client.messages.create(params)
  expect(message.content).toEqual([{ type: "text", text: "Plain" }])
  const stream = client.messages.stream({ ...params, messages: [{ role: "user", content: "Hi again" }] })
  expect(await stream.finalText()).toBe("Streamed")
  expect(calls).toBe(3)
  const steps = proxy.all("model_called").filter((event) => event.attempt_no === undefined)
  expect(steps).toHaveLength(2)
  expect(proxy.stats()).toMatchObject({ modelCalls: 2, errors: 0, failedAttempts: 1, outputTokens: 22 })
})

test("[K-02] the official OpenAI SDK works through the proxy, streaming and not", async () => {
  const upstream = await startUpstream((request, response) => {
    const { stream } = JSON.parse(request.body.toString()) as { stream?: boolean }
    const chunk = (delta: object, finish: string | null) =>
      `data: ${JSON.stringify({ id: "c1", object: "chat.completion.chunk", created: 1, model: "gpt-5", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
    response.writeHead(200, { "content-type": stream ? "text/event-stream" : "application/json" })
    if (stream)
      response.end(
        `${chunk({ role: "assistant", content: "Stre" }, null)}${chunk({ content: "amed" }, "stop")}data: [DONE]\n\n`,
      )
    else
      response.end(
        json({
          id: "c2",
          object: "chat.completion",
          created: 1,
          model: "gpt-5",
          choices: [{ index: 0, message: { role: "assistant", content: "Plain" }, finish_reason: "stop" }],
          usage: { prompt_tokens: 7, completion_tokens: 1, total_tokens: 8 },
        }),
      )
  })
  const proxy = await recordedProxy({ openai: upstream.origin })
  const client = new OpenAI({ apiKey: "sk-test-0123456789", baseURL: `${proxy.urlFor("openai")}/v1` })
  const plain = await client.chat.completions.create({ model: "gpt-5", messages: [{ role: "user", content: "Hi" }] })
  expect(plain.choices[0]!.message.content).toBe("Plain")
  let text = ""
  for await (const piece of await client.chat.completions.create({
    model: "gpt-5",
    stream: true,
    messages: [{ role: "user", content: "More" }],
  })) {
    text += piece.choices[0]?.delta.content ?? ""
  }
  expect(text).toBe("Streamed")
  const results = await eventually(
    () => proxy.all("model_result").length === 2 && proxy.all("model_result"),
    "two results",
  )
  expect(results.map((event) => event.payload.finish_reason)).toEqual(["stop", "stop"])
  expect(results[1]!.payload.token_usage.prompt).toBeNull()
  expect(proxy.stats()).toMatchObject({ modelCalls: 2, callsWithoutUsage: 1, unpricedCalls: 1 })
})

test("[H-01] every model call is stamped with its prefix, signatures and cache counts", async () => {
  const upstream = await scripted([
    messageStream({ text: "ok", usage: { cache_read_input_tokens: 900, cache_creation_input_tokens: 50 } }),
  ])
  const proxy = await recordedProxy({ anthropic: upstream.origin })
  await ask(
    proxy,
    messageRequest([{ role: "user", content: [{ type: "text", text: "Hi", cache_control: { type: "ephemeral" } }] }]),
  )
  const [called] = proxy.all("model_called")
  expect(called!.payload).toMatchObject({
    prefix_fingerprint: expect.stringMatching(/^sha256:/),
    call_signature_hash: expect.stringMatching(/^sha256:/),
    wire_digest: expect.stringMatching(/^sha256:/),
    cache_use: expect.stringMatching(/warm|real|unknown/),
  })
  const [assembled] = proxy.all("prompt_assembled")
  expect(assembled!.payload.segments.every((segment) => segment.segment_hash)).toBe(true)
  const [result] = proxy.all("model_result")
  expect(result!.payload.token_usage).toMatchObject({ prompt: 1050, cache_read: 900, cache_write: 50 })
  expect(proxy.stats()).toMatchObject({ cacheReadTokens: 900, cacheableTokens: 1050 })
})

test("[R-17] a client says warm or real in a header of ours, which nobody behind the proxy sees; accounts are told apart by a tag", async () => {
  const seen: string[] = []
  const upstream = await startUpstream((request, response) => {
    seen.push(JSON.stringify(request.headers))
    response.writeHead(200, { "content-type": "text/event-stream" })
    response.end(messageStream({ text: "ok" }))
  })
  const proxy = await recordedProxy({ anthropic: upstream.origin })
  const request = messageRequest([{ role: "user", content: "Hi" }])
  await ask(proxy, request, { "x-orangebox-cache-use": "warm", "x-api-key": "canary-key-one" })
  await ask(proxy, request, { "X-Orangebox-Cache-Use": "real", "x-api-key": "canary-key-two" })
  const [first, second] = proxy.all("model_called").map(({ payload }) => payload)
  expect([first!.cache_use, second!.cache_use]).toEqual(["warm", "real"])
  expect(first!.account_tag).toMatch(/^hmac:/)
  expect(second!.account_tag).not.toBe(first!.account_tag)
  expect(seen.join()).not.toContain("orangebox")
  expect(JSON.stringify(proxy.all("model_called"))).not.toContain("canary-key")
})

test("[R-17] a tool's result on the wire says what the model was told of it", async () => {
  const upstream = await scripted([
    messageStream({ tool: { id: "toolu_1", name: "sh", input: {} } }),
    messageStream({ text: "ok" }),
  ])
  const proxy = await recordedProxy({ anthropic: upstream.origin })
  const first = { role: "user", content: "Run it." }
  await ask(proxy, messageRequest([first]))
  const asked = assistant(toolUse("toolu_1", "sh", {}))
  await ask(proxy, messageRequest([first, asked, toolResult("toolu_1", "exit 1", { is_error: true })]))
  const { payload } = await eventually(() => proxy.all("tool_result")[0], "the result")
  expect(payload.told_model).toEqual({ is_error: true, ref: payload.result_ref })
})
