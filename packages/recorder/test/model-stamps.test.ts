import type { CaptureMode, Event } from "@orangebox/contract"
import { expect, onTestFinished, test, vi } from "vitest"
import type { ModelDescription } from "../src/index.js"
import { contractProblems, recordInMemory } from "./recording.js"

const SECRET = `sk-ant-api03-${"Ab3dE6".repeat(12)}`
const sse = (events: readonly object[]): string => events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("")

/** One call in each protocol: what is asked, what is answered, whole and streamed. */
const CALLS = [
  {
    provider: "anthropic",
    url: "https://api.anthropic.com/v1/messages",
    model: "claude-sonnet-4-5",
    request: {
      model: "claude-sonnet-4-5",
      max_tokens: 64,
      system: [{ type: "text", text: `Be brief. Key ${SECRET}`, cache_control: { type: "ephemeral", ttl: "1h" } }],
      tools: [{ name: "ls", description: "lists", input_schema: { type: "object" } }],
      messages: [
        { role: "user", content: "Look." },
        { role: "assistant", content: [{ type: "tool_use", id: "toolu_1", name: "ls", input: { path: "." } }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "a.txt", is_error: false }] },
      ],
    },
    answer: {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "claude-sonnet-4-5",
      content: [{ type: "tool_use", id: "toolu_2", name: "ls", input: { path: "src" } }],
      stop_reason: "tool_use",
      usage: { input_tokens: 5, cache_read_input_tokens: 400, cache_creation_input_tokens: 7, output_tokens: 9 },
    },
    usage: { prompt: 412, completion: 9, total: 421, cache_read: 400, cache_write: 7 },
    streamed: sse([
      {
        type: "message_start",
        message: {
          id: "msg_1",
          type: "message",
          role: "assistant",
          model: "claude-sonnet-4-5",
          content: [],
          usage: { input_tokens: 5, cache_read_input_tokens: 400, cache_creation_input_tokens: 7, output_tokens: 1 },
        },
      },
      {
        type: "content_block_start",
        index: 0,
        content_block: { type: "tool_use", id: "toolu_2", name: "ls", input: {} },
      },
      { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: '{"path":"src"}' } },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 9 } },
      { type: "message_stop" },
    ]),
  },
  {
    provider: "openai",
    url: "https://api.openai.com/v1/chat/completions",
    model: "gpt-5.1",
    request: {
      model: "gpt-5.1",
      messages: [
        { role: "system", content: `Be brief. Key ${SECRET}` },
        { role: "user", content: "Look." },
      ],
      tools: [{ type: "function", function: { name: "ls", parameters: { type: "object" } } }],
    },
    answer: {
      id: "chatcmpl-1",
      object: "chat.completion",
      model: "gpt-5.1",
      choices: [
        {
          index: 0,
          message: {
            role: "assistant",
            content: null,
            tool_calls: [{ id: "call_1", type: "function", function: { name: "ls", arguments: "{}" } }],
          },
          finish_reason: "tool_calls",
        },
      ],
      usage: {
        prompt_tokens: 412,
        completion_tokens: 9,
        total_tokens: 421,
        prompt_tokens_details: { cached_tokens: 400 },
      },
    },
    usage: { prompt: 412, completion: 9, total: 421, cache_read: 400 },
    streamed: `${sse([
      {
        id: "chatcmpl-1",
        object: "chat.completion.chunk",
        model: "gpt-5.1",
        choices: [
          {
            index: 0,
            delta: {
              tool_calls: [{ index: 0, id: "call_1", type: "function", function: { name: "ls", arguments: "{}" } }],
            },
            finish_reason: null,
          },
        ],
      },
      { object: "chat.completion.chunk", choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] },
      {
        object: "chat.completion.chunk",
        choices: [],
        usage: {
          prompt_tokens: 412,
          completion_tokens: 9,
          total_tokens: 421,
          prompt_tokens_details: { cached_tokens: 400 },
        },
      },
    ])}data: [DONE]\n\n`,
  },
  {
    provider: "openai",
    url: "https://api.openai.com/v1/responses",
    model: "gpt-5.1",
    request: {
      model: "gpt-5.1",
      instructions: `Be brief. Key ${SECRET}`,
      input: [{ role: "user", content: [{ type: "input_text", text: "Look." }] }],
      tools: [{ type: "function", name: "ls", parameters: { type: "object" } }],
    },
    answer: {
      id: "resp_1",
      object: "response",
      status: "completed",
      model: "gpt-5.1",
      output: [{ type: "function_call", id: "fc_1", call_id: "call_1", name: "ls", arguments: "{}" }],
      usage: { input_tokens: 412, output_tokens: 9, total_tokens: 421, input_tokens_details: { cached_tokens: 400 } },
    },
    usage: { prompt: 412, completion: 9, total: 421, cache_read: 400 },
    streamed: sse([
      {
        type: "response.completed",
        response: {
          id: "resp_1",
          object: "response",
          status: "completed",
          model: "gpt-5.1",
          output: [{ type: "function_call", id: "fc_1", call_id: "call_1", name: "ls", arguments: "{}" }],
          usage: {
            input_tokens: 412,
            output_tokens: 9,
            total_tokens: 421,
            input_tokens_details: { cached_tokens: 400 },
          },
        },
      },
    ]),
  },
  {
    provider: "gcp.gemini",
    url: "https://generativelanguage.googleapis.com/v1beta/models/gemini-3-pro:generateContent",
    model: "gemini-3-pro",
    request: {
      model: "gemini-3-pro",
      systemInstruction: { parts: [{ text: `Be brief. Key ${SECRET}` }] },
      contents: [{ role: "user", parts: [{ text: "Look." }] }],
      tools: [{ functionDeclarations: [{ name: "ls", parameters: { type: "OBJECT" } }] }],
    },
    answer: {
      responseId: "r1",
      modelVersion: "gemini-3-pro",
      candidates: [
        { content: { parts: [{ functionCall: { id: "f1", name: "ls", args: {} } }] }, finishReason: "STOP" },
      ],
      usageMetadata: {
        promptTokenCount: 412,
        candidatesTokenCount: 9,
        totalTokenCount: 421,
        cachedContentTokenCount: 400,
      },
    },
    usage: { prompt: 412, completion: 9, total: 421, cache_read: 400 },
    streamed: sse([
      {
        responseId: "r1",
        modelVersion: "gemini-3-pro",
        candidates: [
          { content: { parts: [{ functionCall: { id: "f1", name: "ls", args: {} } }] }, finishReason: "STOP" },
        ],
        usageMetadata: {
          promptTokenCount: 412,
          candidatesTokenCount: 9,
          totalTokenCount: 421,
          cachedContentTokenCount: 400,
        },
      },
    ]),
  },
]

const MODES: readonly CaptureMode[] = ["full", "redacted", "hashed"]
// Of one key, so that what two recorders key can be compared.
const KEY = Buffer.alloc(32, 7)

async function overWire(call: (typeof CALLS)[number], mode: CaptureMode, body: string) {
  vi.stubGlobal("fetch", async () => new Response(body))
  onTestFinished(() => void vi.unstubAllGlobals())
  const seen = recordInMemory({ capture: mode, key: KEY })
  const run = seen.recorder.startRun({ entrypoint: "wire", input: "x" })
  await (await run.fetch(call.url, { method: "POST", body: JSON.stringify(call.request) })).text()
  run.complete()
  return seen
}

async function told(
  call: (typeof CALLS)[number],
  mode: CaptureMode,
  form: "whole" | "streamed",
  description: ModelDescription = {},
) {
  const seen = recordInMemory({ capture: mode, key: KEY })
  const run = seen.recorder.startRun({ entrypoint: "told", input: "x" })
  const { provider, model, request } = call
  if (form === "whole") {
    await run.model({ provider, model, request, describe: () => description }, () => call.answer as object)
  } else {
    const step = run.startModel({ provider, model, request })
    const bytes = Buffer.from(call.streamed)
    for (let at = 0; at < bytes.length; at += 31) step.chunk(bytes.subarray(at, at + 31))
    step.endModel(description)
  }
  run.complete()
  expect(contractProblems(seen.sink)).toEqual([])
  return seen
}

const STAMPED = [
  "call_signature_hash",
  "shape_digest",
  "canon_version",
  "prefix_fingerprint",
  "prefix_length",
  "cache_use",
  "temperature",
  "max_tokens",
] as const

const stampsOf = ({ payload }: Event<"model_called">) =>
  Object.fromEntries(STAMPED.map((name) => [name, payload[name]]))

for (const mode of MODES) {
  for (const call of CALLS) {
    const name = new URL(call.url).pathname
    test(`[R-15] [H-01] step.model stamps what the wire stamps: ${mode}, ${name}`, async () => {
      for (const form of ["whole", "streamed"] as const) {
        const wire = await overWire(call, mode, form === "whole" ? JSON.stringify(call.answer) : call.streamed)
        const seen = await told(call, mode, form)
        const called = seen.only("model_called")
        const { call_signature_hash, ...stamps } = stampsOf(wire.only("model_called"))
        expect(stampsOf(called)).toMatchObject(stamps)
        // An address that names the model is part of the question there, and nothing an application tells.
        if (!name.includes(call.model)) expect(called.payload.call_signature_hash).toBe(call_signature_hash)
        expect(called.payload.wire_digest).toMatch(/^sha256:/)
        const { payload: prompt, inferred_by } = seen.only("prompt_assembled")
        expect(prompt).toEqual(wire.only("prompt_assembled").payload)
        expect(prompt.segments.length).toBeGreaterThan(2)
        expect(inferred_by).toBe("dialects")
        const result = seen.only("model_result").payload
        const { token_usage, finish_reason, requested_tools, usage_ref, model_id } = wire.only("model_result").payload
        expect(result).toMatchObject({ token_usage, finish_reason, requested_tools, usage_ref, model_id })
        expect(result.token_usage).toMatchObject(call.usage)
        expect(JSON.stringify(seen.sink.events)).not.toContain(mode === "full" ? "\0" : SECRET)
      }
    })
  }
}

test("[R-15] the provider's own counts are read as everywhere, whatever the application made of them", async () => {
  const { only } = await told(CALLS[0]!, "full", "whole", { usage: { prompt: 5, completion: 9 }, finishReason: "done" })
  expect(only("model_result").payload).toMatchObject({ token_usage: CALLS[0]!.usage, finish_reason: "done" })
})

test("[R-15] a call that step.model tells and the wire sees is one call, its prompt said once", async () => {
  const { provider, model, request, url, answer } = CALLS[0]!
  vi.stubGlobal("fetch", async () => new Response(JSON.stringify(answer)))
  onTestFinished(() => void vi.unstubAllGlobals())
  const { recorder, eventsOf, only } = recordInMemory()
  const run = recorder.startRun({ entrypoint: "both", input: "x" })
  await run.model({ provider, model, request }, async (_send, step) => {
    const sent = await step.fetch(url, { method: "POST", body: JSON.stringify({ ...request, stream: false }) })
    return sent.json()
  })
  run.complete()
  const [call, attempt] = eventsOf("model_called")
  expect(attempt).toMatchObject({ attempt_no: 1, parent_step_id: call!.step_id })
  expect(stampsOf(call!)).toEqual(stampsOf(attempt!))
  expect(only("prompt_assembled").step_id).toBe(call!.step_id)
})

test("[R-15] where the wire carries another prompt than was told, both are said", async () => {
  const { provider, model, request, url, answer } = CALLS[0]!
  vi.stubGlobal("fetch", async () => new Response(JSON.stringify(answer)))
  onTestFinished(() => void vi.unstubAllGlobals())
  const { recorder, eventsOf } = recordInMemory()
  const run = recorder.startRun({ entrypoint: "both", input: "x" })
  await run.model({ provider, model, request }, async (_send, step) => {
    const messages = [...request.messages!, { role: "user", content: "and hurry" }]
    const sent = await step.fetch(url, { method: "POST", body: JSON.stringify({ ...request, messages }) })
    return sent.json()
  })
  run.complete()
  expect(eventsOf("prompt_assembled").map(({ payload }) => payload.segments.length)).toEqual([5, 6])
})

test("[R-15] an unknown provider is said to be unknown, and its calls are still told apart", async () => {
  const { recorder, eventsOf } = recordInMemory()
  const run = recorder.startRun({ entrypoint: "x", input: "x" })
  const request = { model: "m", messages: [{ role: "user", content: "hi" }] }
  await run.model({ provider: "our-own", model: "m", request }, () => ({ text: "hello" }))
  await run.model(
    { provider: "our-own", model: "m", request: { messages: request.messages, model: "m" } },
    () => "hello",
  )
  run.complete()
  const [one, two] = eventsOf("model_called").map(({ payload }) => payload)
  expect(one).toMatchObject({ cache_use: "unknown", prefix_fingerprint: null, prefix_length: null, canon_version: 0 })
  expect(one!.call_signature_hash).toBe(two!.call_signature_hash)
  expect(one!.wire_digest).not.toBe(two!.wire_digest)
  expect(eventsOf("prompt_assembled")).toEqual([])
  expect(eventsOf("model_result")[0]!.payload.token_usage).toEqual({ prompt: null, completion: null, total: null })
})

test("[R-15] an answer that can only be one protocol's is read, also of a provider nobody knows", async () => {
  const { recorder, only } = recordInMemory()
  const run = recorder.startRun({ entrypoint: "x", input: "x" })
  await run.model({ provider: "our-own", model: "m", request: "hi" }, () => CALLS[1]!.answer as object)
  run.complete()
  expect(only("model_result").payload.token_usage).toMatchObject({ prompt: 412, cache_read: 400 })
})

test("[R-15] providers are known by the names applications call them", async () => {
  const messages = [{ role: "user", content: "hi" }]
  const known = async (provider: string, request: object) => {
    const { recorder, eventsOf } = recordInMemory()
    const run = recorder.startRun({ entrypoint: "x", input: "x" })
    await run.model({ provider, model: "m", request }, () => "hello")
    return eventsOf("prompt_assembled").length === 1
  }
  for (const provider of ["anthropic", "Anthropic", "anthropic.messages", "azure.ai.openai", "groq", "openai.chat"]) {
    expect([provider, await known(provider, { messages })]).toEqual([provider, true])
  }
  // The name alone is not enough, and neither is a shape that several protocols have.
  for (const [provider, request] of [
    ["anthropic", { prompt: "hi" }],
    ["acme", { model: "m", messages }],
    ["openai", "hi"],
  ] as const) {
    expect([provider, await known(provider, request as object)]).toEqual([provider, false])
  }
})
