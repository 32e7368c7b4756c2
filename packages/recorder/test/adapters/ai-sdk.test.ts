import {
  createGateway,
  generateText,
  type LanguageModelMiddleware,
  stepCountIs,
  streamText,
  tool,
  wrapLanguageModel,
} from "ai"
import { MockLanguageModelV3, simulateReadableStream } from "ai/test"
import { describe, expect, expectTypeOf, test } from "vitest"
import { z } from "zod"
import { type AiSdkMiddleware, Recorder, recordAiSdk, wrapTools } from "../../src/index.js"
import { contractProblems, recordInMemory } from "../recording.js"
import { loopback, sendJson, sendPieces, sseFrame } from "../wire/loopback.js"

type GenerateResult = Awaited<ReturnType<MockLanguageModelV3["doGenerate"]>>
type Part = Awaited<ReturnType<MockLanguageModelV3["doStream"]>>["stream"] extends ReadableStream<infer P> ? P : never

const usage: GenerateResult["usage"] = {
  inputTokens: { total: 100, noCache: 20, cacheRead: 80, cacheWrite: 0 },
  outputTokens: { total: 9, text: 7, reasoning: 2 },
  raw: { total: 109 },
}
const stop = { unified: "stop" as const, raw: "end_turn" }
const says = (text: string): GenerateResult => ({
  content: [{ type: "text", text }],
  finishReason: stop,
  usage,
  warnings: [],
})
const asks: GenerateResult = {
  content: [{ type: "tool-call", toolCallId: "call_1", toolName: "weather", input: '{"city":"Bern"}' }],
  finishReason: { unified: "tool-calls", raw: "tool_use" },
  usage,
  warnings: [],
}
const PARTS: Part[] = [
  { type: "stream-start", warnings: [] },
  { type: "response-metadata", id: "r1", modelId: "model-x-1" },
  { type: "text-start", id: "t" },
  { type: "text-delta", id: "t", delta: "son" },
  { type: "text-delta", id: "t", delta: "nig" },
  { type: "text-end", id: "t" },
  { type: "finish", finishReason: stop, usage },
]

describe("[K-05] the AI SDK", () => {
  test("the middleware is one to the AI SDK's types", () => {
    expectTypeOf<AiSdkMiddleware>().toExtend<LanguageModelMiddleware>()
  })

  test("[M-07] under audit each call of a tool loop has its manifest, read off what the SDK sends, and none has to be told", async () => {
    for (const told of [false, true]) {
      const { recorder, sink, eventsOf } = recordInMemory({ strict: true, profile: "audit" })
      const run = recorder.startRun({ entrypoint: "agent" })
      const step = run.step("loop")
      const answers = [asks, asks, says("sonnig")]
      const inner = new MockLanguageModelV3({
        provider: "mock.chat",
        modelId: "model-x",
        doGenerate: async () => answers.shift()!,
      })
      const weather = tool({ inputSchema: z.object({ city: z.string() }), execute: () => "sunny" })
      if (told) step.context({ items: [{ id: "q", type: "user_input", text: "Weather in Bern?" }] })
      const { text } = await generateText({
        model: wrapLanguageModel({ model: inner, middleware: recordAiSdk(step) }),
        prompt: "Weather in Bern?",
        tools: wrapTools({ weather }, step),
        stopWhen: stepCountIs(4),
      })
      step.end()
      run.complete({ output: text })
      const calls = eventsOf("model_called")
      const manifests = eventsOf("context_manifest")
      expect(calls).toHaveLength(3)
      expect(manifests.map(({ inferred_by }) => inferred_by)).toEqual([
        told ? undefined : "dialects",
        "dialects",
        "dialects",
      ])
      expect(manifests.slice(told ? 1 : 0).map(({ step_id }) => step_id)).toEqual(
        calls.slice(told ? 1 : 0).map(({ step_id }) => step_id),
      )
      const [, second, third] = manifests.map(({ payload }) => payload.included_count)
      expect(second).toBeGreaterThan(1)
      expect(third).toBeGreaterThan(second!)
      expect(contractProblems(sink)).toEqual([])
    }
  })

  test("[K-06] generateText with a tool: two model steps with what the application built, and the tool between them", async () => {
    const { recorder, sink, eventsOf } = recordInMemory({ strict: true })
    const run = recorder.startRun({ entrypoint: "agent" })
    const answers = [asks, says("sonnig")]
    const inner = new MockLanguageModelV3({
      provider: "mock.chat",
      modelId: "model-x",
      doGenerate: async () => answers.shift()!,
    })
    const tools = {
      weather: tool({ inputSchema: z.object({ city: z.string() }), execute: async ({ city }) => `sunny in ${city}` }),
    }
    const result = await generateText({
      model: wrapLanguageModel({ model: inner, middleware: recordAiSdk(run) }),
      tools: wrapTools(tools, run),
      temperature: 0.3,
      maxOutputTokens: 50,
      headers: { authorization: "Bearer canary-secret-value" },
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "Wetter?" },
            { type: "file", data: Uint8Array.of(1, 2, 3), mediaType: "image/png" },
          ],
        },
      ],
      stopWhen: stepCountIs(3),
    })
    run.complete()
    expect(result.text).toBe("sonnig")

    const called = eventsOf("model_called")
    expect(called.map(({ payload }) => payload)).toEqual(
      [1, 2].map(() =>
        expect.objectContaining({ provider: "mock.chat", model_id: "model-x", temperature: 0.3, max_tokens: 50 }),
      ),
    )
    const before = eventsOf("prompt_rendered")
    expect(before.map(({ step_id }) => step_id)).toEqual(called.map(({ step_id }) => step_id))
    const options = JSON.parse(sink.textOf(before[0]!.payload.rendered_prompt_ref)!) as {
      prompt: { content: { data?: string }[] }[]
      headers: object
    }
    expect(options.prompt[0]!.content[1]).toMatchObject({ type: "file", data: "AQID" })
    expect(JSON.stringify(options.headers)).not.toContain("secret")
    expect(eventsOf("model_result").map(({ payload }) => payload)).toEqual([
      expect.objectContaining({
        finish_reason: "tool_use",
        requested_tools: ["weather"],
        token_usage: expect.objectContaining({ prompt: 100, completion: 9, cache_read: 80, reasoning: 2 }),
      }),
      expect.objectContaining({ finish_reason: "end_turn", output_summary: "sonnig" }),
    ])
    const [toolCall] = eventsOf("tool_called")
    expect(toolCall!.payload).toMatchObject({ tool_name: "weather", tool_call_id: "call_1" })
    expect(sink.textOf(toolCall!.payload.args_ref)).toBe('{"city":"Bern"}')
    expect(contractProblems(sink)).toEqual([])
  })

  test("streamText: every part is in the record before the application has it, and the end tells what they said", async () => {
    const { recorder, sink, only } = recordInMemory({ strict: true })
    const run = recorder.startRun({ entrypoint: "agent" })
    const inner = new MockLanguageModelV3({
      doStream: async () => ({ stream: simulateReadableStream({ chunks: PARTS }) }),
    })
    const { textStream } = streamText({
      model: wrapLanguageModel({ model: inner, middleware: recordAiSdk(run) }),
      prompt: "Wetter?",
    })
    const texts: string[] = []
    for await (const text of textStream) texts.push(text)
    run.complete()
    expect(texts).toEqual(["son", "nig"])
    const { payload } = only("model_result")
    expect(payload).toMatchObject({
      status: "success",
      model_id: "model-x-1",
      finish_reason: "end_turn",
      output_summary: "sonnig",
      token_usage: { prompt: 100, completion: 9 },
    })
    expect(
      sink
        .textOf(payload.response_ref)!
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual(JSON.parse(JSON.stringify(PARTS)))
    expect(contractProblems(sink)).toEqual([])
  })

  test("[R-15] [H-01] without a recorded wire, the call options themselves say what the prompt is made of", async () => {
    for (const capture of ["full", "redacted", "hashed"] as const) {
      const { recorder, sink, only, eventsOf } = recordInMemory({ strict: true, capture })
      const run = recorder.startRun({ entrypoint: "agent" })
      const inner = new MockLanguageModelV3({
        provider: "anthropic.messages",
        modelId: "model-x",
        doGenerate: async () => says("sonnig"),
      })
      const model = wrapLanguageModel({ model: inner, middleware: recordAiSdk(run) })
      const cached = { anthropic: { cacheControl: { type: "ephemeral", ttl: "1h" } } }
      const messages = [
        { role: "system" as const, content: "Be brief.", providerOptions: cached },
        { role: "user" as const, content: "The weather?" },
      ]
      const tools = { weather: tool({ inputSchema: z.object({ city: z.string() }), execute: async () => "rain" }) }
      const asked = { model, messages, tools, temperature: 0.5, allowSystemInMessages: true }
      await generateText(asked)
      const first = only("prompt_assembled").payload
      expect(first.segments.map(({ contributor, kind, role }) => [contributor, kind, role])).toEqual([
        ["tool:weather", "tool-def", null],
        ["system", "persona", "system"],
        ["user", "user-msg", "user"],
      ])
      await generateText({ ...asked, headers: { "x-note": "another" } })
      const [one, two] = eventsOf("model_called").map(({ payload }) => payload)
      expect(one).toMatchObject({ cache_use: "unknown", temperature: 0.5, prefix_length: expect.any(Number) })
      expect(one!.prefix_fingerprint).toMatch(/^sha256:/)
      expect(two!.call_signature_hash).toBe(one!.call_signature_hash)
      expect(eventsOf("model_result")[0]!.payload.token_usage).toMatchObject({ prompt: 100, cache_read: 80 })
      run.complete()
      expect(contractProblems(sink)).toEqual([])
    }
  })

  test("errors reach the application as they were: thrown, in the stream, and by leaving", async () => {
    const { recorder, sink, eventsOf } = recordInMemory({ strict: true })
    const run = recorder.startRun({ entrypoint: "agent" })
    const mistake = new TypeError("no answer")
    const chunks: Part[] = [...PARTS.slice(0, 4), { type: "error", error: new Error("overloaded") }]
    const inner = new MockLanguageModelV3({
      doGenerate: async () => {
        throw mistake
      },
      doStream: async () => ({ stream: simulateReadableStream({ chunks }) }),
    })
    const model = wrapLanguageModel({ model: inner, middleware: recordAiSdk(run) })
    await expect(generateText({ model, prompt: "x", maxRetries: 0 })).rejects.toBe(mistake)
    const call = { prompt: [{ role: "user" as const, content: [{ type: "text" as const, text: "x" }] }] }
    const parts: Part[] = []
    for await (const part of (await model.doStream(call)).stream) parts.push(part)
    expect(parts).toEqual(chunks)
    await (await model.doStream(call)).stream.cancel()
    run.complete()
    expect(eventsOf("model_result").map(({ payload }) => [payload.status, payload.error_class])).toEqual([
      ["error", "TypeError"],
      ["error", "Error"],
      ["partial", null],
    ])
    expect(contractProblems(sink)).toEqual([])
  })

  test("[K-06] with a provider on recorder.fetch, what went over the wire is an attempt below what the application built", async () => {
    const stream = PARTS.map((part) => sseFrame(part))
    const server = await loopback(({ url, headers }, response) => {
      if (url.includes("config")) return sendJson(response, { models: [] })
      if (headers["ai-language-model-streaming"] !== "true") return sendJson(response, says("sonnig"))
      response.writeHead(200, { "content-type": "text/event-stream" })
      return sendPieces(response, stream)
    })
    const { recorder, sink, eventsOf } = recordInMemory({ strict: true })
    const run = recorder.startRun({ entrypoint: "agent" })
    const provider = createGateway({ baseURL: server.url, apiKey: "canary-gateway-key", fetch: recorder.fetch })
    const model = wrapLanguageModel({ model: provider("anthropic/model-x"), middleware: recordAiSdk(run) })
    expect((await generateText({ model, prompt: "Wetter?" })).text).toBe("sonnig")
    expect(await streamText({ model, prompt: "Wetter?" }).text).toBe("sonnig")
    run.complete()
    expect(server.seen.every(({ headers }) => headers["x-orangebox-step"] === undefined)).toBe(true)
    const steps = new Set(eventsOf("prompt_rendered").map(({ step_id }) => step_id))
    expect(steps.size).toBe(2)
    expect(eventsOf("prompt_rendered")).toHaveLength(2)
    const onWire = sink.events.filter((event) => event.parent_step_id !== null && steps.has(event.parent_step_id))
    expect(
      onWire.filter(({ event_type }) => event_type === "step_started" || event_type === "model_called"),
    ).toHaveLength(2)
    for (const bytes of sink.bodies.values()) expect(Buffer.from(bytes).includes("canary-gateway-key")).toBe(false)
    expect(contractProblems(sink)).toEqual([])
  })

  test("[R-11] with recording off the middleware adds nothing, not even a stream around the stream", async () => {
    const inner = new MockLanguageModelV3({
      doGenerate: async () => says("sonnig"),
      doStream: async () => ({ stream }),
    })
    const stream = simulateReadableStream({ chunks: PARTS })
    const model = wrapLanguageModel({
      model: inner,
      middleware: recordAiSdk(Recorder.off().startRun({ entrypoint: "off" })),
    })
    expect((await generateText({ model, prompt: "x" })).text).toBe("sonnig")
    expect((await model.doStream({ prompt: [] })).stream).toBe(stream)
  })
})
