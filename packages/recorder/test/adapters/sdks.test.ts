import Anthropic from "@anthropic-ai/sdk"
import OpenAI from "openai"
import { describe, expect, test } from "vitest"
import { Recorder } from "../../src/index.js"
import { contractProblems, recordInMemory } from "../recording.js"
import { loopback, MESSAGES_REQUEST, messagesStream, sendJson, sendPieces, sseFrame } from "../wire/loopback.js"

const WEATHER = { type: "object" as const, properties: { city: { type: "string" } } }
const CHAT_REQUEST = { model: "gpt-x", messages: [{ role: "user" as const, content: "Wetter in Zürich?" }] }
const CHAT_USAGE = {
  prompt_tokens: 50,
  completion_tokens: 4,
  total_tokens: 54,
  prompt_tokens_details: { cached_tokens: 32 },
}
const chatTool = { id: "call_1", type: "function", function: { name: "weather", arguments: '{"city":"Zürich"}' } }

const chatAnswer = (message: object, finish_reason: string) => ({
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1,
  model: "gpt-x-1",
  choices: [{ index: 0, message: { role: "assistant", content: null, ...message }, finish_reason, logprobs: null }],
  usage: CHAT_USAGE,
})

const chatStream = (): string[] => {
  const chunk = (choices: object[], usage: object | null = null) =>
    sseFrame({ id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "gpt-x-1", choices, usage })
  const delta = (value: object, finish_reason: string | null = null) =>
    chunk([{ index: 0, delta: value, finish_reason }])
  return [
    delta({ role: "assistant", content: "" }),
    delta({ content: "son" }),
    delta({ content: "nig" }),
    delta({ tool_calls: [{ index: 0, ...chatTool, function: { name: "weather", arguments: '{"city":' } }] }),
    delta({ tool_calls: [{ index: 0, function: { arguments: '"Zürich"}' } }] }),
    delta({}, "tool_calls"),
    chunk([], CHAT_USAGE),
    sseFrame("[DONE]"),
  ]
}

const RESPONSE = {
  id: "resp_1",
  object: "response",
  created_at: 1,
  status: "completed",
  model: "gpt-x-1",
  output: [
    {
      id: "msg_1",
      type: "message",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: "sonnig", annotations: [] }],
    },
  ],
  usage: {
    input_tokens: 20,
    output_tokens: 3,
    total_tokens: 23,
    input_tokens_details: { cached_tokens: 16 },
    output_tokens_details: { reasoning_tokens: 0 },
  },
}

const responsesStream = (): string[] => {
  let sequence_number = 0
  const frame = (type: string, data: object) => sseFrame({ type, sequence_number: sequence_number++, ...data }, type)
  const item = RESPONSE.output[0]!
  const part = item.content[0]!
  return [
    frame("response.created", { response: { ...RESPONSE, status: "in_progress", output: [], usage: null } }),
    frame("response.output_item.added", { output_index: 0, item: { ...item, status: "in_progress", content: [] } }),
    frame("response.content_part.added", {
      item_id: item.id,
      output_index: 0,
      content_index: 0,
      part: { ...part, text: "" },
    }),
    frame("response.output_text.delta", { item_id: item.id, output_index: 0, content_index: 0, delta: "son" }),
    frame("response.output_text.delta", { item_id: item.id, output_index: 0, content_index: 0, delta: "nig" }),
    frame("response.output_text.done", { item_id: item.id, output_index: 0, content_index: 0, text: "sonnig" }),
    frame("response.content_part.done", { item_id: item.id, output_index: 0, content_index: 0, part }),
    frame("response.output_item.done", { output_index: 0, item }),
    frame("response.completed", { response: RESPONSE }),
  ]
}

/** One scripted provider for all three protocols: answers by path, streams when asked to, after as many failures as told. */
async function provider(failures: readonly number[] = []) {
  const left = [...failures]
  return loopback(({ url, body }, response) => {
    const status = left.shift()
    if (status !== undefined) {
      return sendJson(
        response,
        { type: "error", error: { type: "overloaded_error", message: `no: ${status}` } },
        status,
        { "retry-after-ms": "1" },
      )
    }
    const asked = JSON.parse(body.toString()) as { stream?: boolean; tools?: unknown[] }
    if (asked.stream) {
      response.writeHead(200, { "content-type": "text/event-stream", "request-id": "req_s" })
      const tool = asked.tools ? { id: "toolu_1", name: "weather", input: '{"city":"Zürich"}' } : undefined
      return sendPieces(
        response,
        url.includes("messages")
          ? messagesStream(["son", "nig"], tool)
          : url.includes("chat")
            ? chatStream()
            : responsesStream(),
      )
    }
    if (url.includes("chat"))
      return sendJson(
        response,
        asked.tools ? chatAnswer({ tool_calls: [chatTool] }, "tool_calls") : chatAnswer({ content: "sonnig" }, "stop"),
      )
    if (url.includes("responses")) return sendJson(response, RESPONSE)
    const content = asked.tools
      ? [{ type: "tool_use", id: "toolu_1", name: "weather", input: { city: "Zürich" } }]
      : [{ type: "text", text: "sonnig" }]
    return sendJson(response, {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "claude-x-1",
      content,
      stop_reason: asked.tools ? "tool_use" : "end_turn",
      stop_sequence: null,
      usage: { input_tokens: 12, output_tokens: 8, cache_creation_input_tokens: 0, cache_read_input_tokens: 100 },
    })
  })
}

type Fetch = typeof globalThis.fetch
const anthropic = (url: string, fetch: Fetch, maxRetries = 0) =>
  new Anthropic({ apiKey: "sk-ant-canary-123456", baseURL: url, fetch, maxRetries })
const openai = (url: string, fetch: Fetch, maxRetries = 0) =>
  new OpenAI({ apiKey: "sk-canary-1234567890", baseURL: `${url}/v1`, fetch, maxRetries })

async function joined<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of stream) all.push(item)
  return all
}

/** What a program does with a client, and what it gets. The same program runs recorded and not. */
const PROGRAMS: Record<string, { ask: (url: string, fetch: Fetch) => Promise<unknown>; told: object }> = {
  Messages: {
    ask: (url, fetch) => anthropic(url, fetch).messages.create(MESSAGES_REQUEST),
    told: {
      finish_reason: "end_turn",
      output_summary: "sonnig",
      token_usage: { prompt: 112, completion: 8, cache_read: 100 },
    },
  },
  "Messages with a tool": {
    ask: (url, fetch) =>
      anthropic(url, fetch).messages.create({
        ...MESSAGES_REQUEST,
        tools: [{ name: "weather", input_schema: WEATHER }],
      }),
    told: { finish_reason: "tool_use", requested_tools: ["weather"] },
  },
  "Messages, streamed": {
    ask: async (url, fetch) =>
      joined(await anthropic(url, fetch).messages.create({ ...MESSAGES_REQUEST, stream: true })),
    told: {
      finish_reason: "end_turn",
      output_summary: "sonnig",
      token_usage: { prompt: 112, completion: 7 },
      stream_end: "complete",
      provider_request_id: "req_s",
    },
  },
  "Messages, stream helper with a tool": {
    ask: async (url, fetch) =>
      anthropic(url, fetch)
        .messages.stream({ ...MESSAGES_REQUEST, tools: [{ name: "weather", input_schema: WEATHER }] })
        .finalMessage(),
    told: { finish_reason: "tool_use", requested_tools: ["weather"], stream_end: "complete" },
  },
  "Chat Completions": {
    ask: (url, fetch) => openai(url, fetch).chat.completions.create(CHAT_REQUEST),
    told: {
      finish_reason: "stop",
      output_summary: "sonnig",
      token_usage: { prompt: 50, completion: 4, total: 54, cache_read: 32 },
    },
  },
  "Chat Completions with a tool": {
    ask: (url, fetch) =>
      openai(url, fetch).chat.completions.create({
        ...CHAT_REQUEST,
        tools: [{ type: "function", function: { name: "weather", parameters: WEATHER } }],
      }),
    told: { finish_reason: "tool_calls", requested_tools: ["weather"] },
  },
  "Chat Completions, streamed": {
    ask: async (url, fetch) =>
      joined(
        await openai(url, fetch).chat.completions.create({
          ...CHAT_REQUEST,
          stream: true,
          stream_options: { include_usage: true },
        }),
      ),
    told: {
      finish_reason: "tool_calls",
      output_summary: "sonnig",
      requested_tools: ["weather"],
      token_usage: { prompt: 50, completion: 4 },
      stream_end: "complete",
    },
  },
  Responses: {
    ask: (url, fetch) => openai(url, fetch).responses.create({ model: "gpt-x", input: "Wetter?" }),
    told: { output_summary: "sonnig", token_usage: { prompt: 20, completion: 3, cache_read: 16 } },
  },
  "Responses, streamed": {
    ask: async (url, fetch) =>
      joined(await openai(url, fetch).responses.create({ model: "gpt-x", input: "Wetter?", stream: true })),
    told: { output_summary: "sonnig", token_usage: { prompt: 20, completion: 3 }, stream_end: "complete" },
  },
}

/** Answers without what the SDKs attach to them. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

describe("[K-03] [K-05] the official SDKs", () => {
  test.each(Object.entries(PROGRAMS))(
    "%s through step.fetch: the program gets the same, the record tells it",
    async (_, { ask, told }) => {
      const server = await provider()
      const { recorder, sink, only } = recordInMemory({ strict: true })
      const run = recorder.startRun({ entrypoint: "ask" })
      const recorded = plain(await ask(server.url, run.fetch))
      run.complete()
      expect(recorded).toEqual(plain(await ask(server.url, globalThis.fetch)))
      expect(recorded).toEqual(plain(await ask(server.url, Recorder.off().startRun({ entrypoint: "off" }).fetch)))
      expect(server.seen[0]!.body).toEqual(server.seen[1]!.body)
      expect(sink.textOf(only("model_called").payload.request_ref)).toBe(server.seen[0]!.body.toString())
      expect(only("model_result").payload).toMatchObject({ status: "success", http_status: 200, ...told })
      expect(contractProblems(sink)).toEqual([])
      for (const bytes of sink.bodies.values()) expect(Buffer.from(bytes).includes("canary-123456")).toBe(false)
    },
  )

  test.each(Object.entries(PROGRAMS))(
    "%s through recorder.fetch: without a step it is a run of its own",
    async (_, { ask, told }) => {
      const server = await provider()
      const { recorder, sink, only } = recordInMemory({ strict: true })
      await ask(server.url, recorder.fetch)
      expect(only("model_result").payload).toMatchObject({ status: "success", ...told })
      expect(only("run_completed").run_id).toBe(only("model_called").run_id)
      expect(contractProblems(sink)).toEqual([])
    },
  )

  test("retries of the SDK are attempts of one logical call, told apart by the header that never leaves", async () => {
    const server = await provider([429, 529])
    const { recorder, sink, eventsOf, only } = recordInMemory({ strict: true })
    const client = anthropic(server.url, recorder.fetch, 3)
    const run = recorder.startRun({ entrypoint: "ask" })
    const reply = await run.model({ provider: "anthropic", model: "claude-x", request: MESSAGES_REQUEST }, (send) =>
      client.messages.create(MESSAGES_REQUEST, send),
    )
    run.complete()
    expect(reply.content[0]).toMatchObject({ text: "sonnig" })
    const [logical, ...attempts] = eventsOf("model_called")
    expect(attempts.map(({ attempt_no, parent_step_id }) => [attempt_no, parent_step_id])).toEqual(
      [1, 2, 3].map((no) => [no, logical!.step_id]),
    )
    const results = new Map(eventsOf("model_result").map((event) => [event.step_id, event.payload]))
    expect(attempts.map(({ step_id }) => results.get(step_id)!.http_status)).toEqual([429, 529, 200])
    expect(sink.textOf(results.get(attempts[0]!.step_id!)!.response_ref)).toContain("no: 429")
    expect(results.get(logical!.step_id)).toMatchObject({
      status: "success",
      finish_reason: "end_turn",
      http_status: 200,
    })
    expect(only("prompt_rendered").step_id).toBe(logical!.step_id)
    expect(server.seen.map(({ headers }) => headers["x-orangebox-step"])).toEqual([undefined, undefined, undefined])
    expect(contractProblems(sink)).toEqual([])
  })

  test("two calls at once through one client stay apart", async () => {
    const server = await provider()
    const { recorder, sink, eventsOf } = recordInMemory({ strict: true })
    const client = openai(server.url, recorder.fetch)
    const run = recorder.startRun({ entrypoint: "ask" })
    const ask = (content: string) => {
      const request = { ...CHAT_REQUEST, messages: [{ role: "user" as const, content }] }
      return run.model({ provider: "openai", model: "gpt-x", request }, (send) =>
        client.chat.completions.create(request, send),
      )
    }
    await Promise.all(["one", "two", "three"].map(ask))
    run.complete()
    const called = eventsOf("model_called")
    for (const attempt of called.filter(({ attempt_no }) => attempt_no !== undefined)) {
      const logical = called.find(({ step_id }) => step_id === attempt.parent_step_id)!
      expect(JSON.parse(sink.textOf(attempt.payload.request_ref)!)).toEqual(
        JSON.parse(sink.textOf(logical.payload.request_ref)!),
      )
    }
    expect(called).toHaveLength(6)
    expect(contractProblems(sink)).toEqual([])
  })

  test("a streamed logical call ends with its stream; one left early is partial", async () => {
    const server = await provider()
    const { recorder, sink, eventsOf } = recordInMemory({ strict: true })
    const client = anthropic(server.url, recorder.fetch)
    const run = recorder.startRun({ entrypoint: "ask" })
    const request = { ...MESSAGES_REQUEST, stream: true as const }
    const ask = () =>
      run.model({ provider: "anthropic", model: "claude-x", request }, (send) => client.messages.create(request, send))
    await joined(await ask())
    for await (const _ of await ask()) break
    run.complete()
    const logical = eventsOf("model_called")
      .filter(({ attempt_no }) => attempt_no === undefined)
      .map(({ step_id }) => step_id)
    const results = eventsOf("model_result").filter(({ step_id }) => logical.includes(step_id))
    expect(results.map(({ payload }) => [payload.status, payload.finish_reason])).toEqual([
      ["success", "end_turn"],
      ["partial", null],
    ])
    expect(sink.textOf(results[0]!.payload.response_ref)).toBe(messagesStream(["son", "nig"]).join(""))
    expect(contractProblems(sink)).toEqual([])
  })

  test("the program gets the SDK's own errors, and the record the provider's", async () => {
    const server = await provider([400, 500])
    const { recorder, sink, eventsOf } = recordInMemory({ strict: true })
    const run = recorder.startRun({ entrypoint: "ask" })
    await expect(anthropic(server.url, run.fetch).messages.create(MESSAGES_REQUEST)).rejects.toBeInstanceOf(
      Anthropic.BadRequestError,
    )
    const client = openai(server.url, recorder.fetch)
    const call = run.model({ provider: "openai", model: "gpt-x", request: CHAT_REQUEST }, (send) =>
      client.chat.completions.create(CHAT_REQUEST, send),
    )
    await expect(call).rejects.toBeInstanceOf(OpenAI.InternalServerError)
    await expect(anthropic("http://127.0.0.1:1", run.fetch).messages.create(MESSAGES_REQUEST)).rejects.toBeInstanceOf(
      Anthropic.APIConnectionError,
    )
    run.complete()
    expect(
      eventsOf("model_result").map(({ payload }) => [payload.status, payload.http_status, payload.error_class]),
    ).toEqual([
      ["error", 400, "overloaded_error"],
      ["error", 500, "overloaded_error"],
      ["error", 500, "InternalServerError"],
      ["error", null, "TypeError"],
    ])
    expect(contractProblems(sink)).toEqual([])
  })

  test("an SDK's time limit reaches the program as its own error", async () => {
    const server = await loopback(() => {})
    const { recorder, only } = recordInMemory({ strict: true })
    const run = recorder.startRun({ entrypoint: "ask" })
    await expect(
      openai(server.url, run.fetch).chat.completions.create(CHAT_REQUEST, { timeout: 50 }),
    ).rejects.toBeInstanceOf(OpenAI.APIConnectionTimeoutError)
    expect(only("model_result").payload).toMatchObject({ stream_end: "client_abort", error_class: "AbortError" })
  })
})
