import { MemorySink, Recorder, type Run, recordAiSdk, wrapTools } from "@orangebox/recorder"
import { APICallError, generateText, stepCountIs, streamText, tool, wrapLanguageModel } from "ai"
import { MockLanguageModelV3, simulateReadableStream } from "ai/test"
import { expect, test } from "vitest"
import { z } from "zod"
import { parseProfile, planFork, replayRecorder, type Tape } from "../src/index.js"
import { messages, recordingOf, withUpstream } from "./recorded.js"

type Result = Awaited<ReturnType<MockLanguageModelV3["doGenerate"]>>
type Part = Awaited<ReturnType<MockLanguageModelV3["doStream"]>>["stream"] extends ReadableStream<infer P> ? P : never

const usage: Result["usage"] = {
  inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 3, text: 3, reasoning: 0 },
}
const stop = { unified: "stop" as const, raw: "end_turn" }
const says = (text: string): Result => ({
  content: [
    { type: "text", text },
    { type: "file", data: Uint8Array.of(1, 2, 3), mediaType: "image/png" },
  ],
  finishReason: stop,
  usage,
  warnings: [],
})
const asks: Result = {
  content: [{ type: "tool-call", toolCallId: "call_1", toolName: "weather", input: '{"city":"Bern"}' }],
  finishReason: { unified: "tool-calls", raw: "tool_use" },
  usage,
  warnings: [],
}
const parts = (text: string): Part[] => [
  { type: "stream-start", warnings: [] },
  { type: "response-metadata", id: "r1", modelId: "model-x-1", timestamp: new Date(1_700_000_000_000) },
  { type: "text-start", id: "t" },
  ...[...text].map((delta): Part => ({ type: "text-delta", id: "t", delta })),
  { type: "text-end", id: "t" },
  { type: "finish", finishReason: stop, usage },
]

const tooBusy = (): APICallError =>
  new APICallError({ message: "busy", url: "http://x", requestBodyValues: {}, statusCode: 529, isRetryable: true })

/** A world that answers a little differently each time, and says how often it was asked. */
function world() {
  let asked = 0
  let isBusy = true
  const model = new MockLanguageModelV3({
    provider: "mock.chat",
    modelId: "model-x",
    doGenerate: async ({ prompt }) => {
      asked++
      if (JSON.stringify(prompt).includes("busy?") && isBusy) {
        isBusy = false
        throw tooBusy()
      }
      return prompt.at(-1)!.role === "user" && JSON.stringify(prompt).includes("weather?")
        ? asks
        : says(`answer ${asked}`)
    },
    doStream: async ({ prompt }) => {
      const said = parts(`stream ${++asked}`)
      if (!JSON.stringify(prompt).includes("break")) return { stream: simulateReadableStream({ chunks: said }) }
      const broken = [...said.slice(0, 5), { type: "error" as const, error: new RangeError(`broke ${asked}`) }]
      return { stream: simulateReadableStream({ chunks: broken }) }
    },
  })
  return { model, asked: () => asked, look: () => `sunny ${++asked}` }
}

/** An agent as people write them: it knows the AI SDK and the handles, and nothing of replays. */
const agent =
  ({ model: inner, look }: Pick<ReturnType<typeof world>, "model" | "look">) =>
  async (run: Run) => {
    const model = wrapLanguageModel({ model: inner, middleware: recordAiSdk(run) })
    const weather = tool({ inputSchema: z.object({ city: z.string() }), execute: async ({ city }) => city + look() })
    const tools = wrapTools({ weather }, run)
    const result = await generateText({ model, tools, prompt: "weather?", stopWhen: stepCountIs(3) })
    const files = result.files.map(({ base64 }) => base64)
    const retried = await generateText({ model, prompt: "busy?", maxRetries: 2 })
    const streamed = streamText({ model, prompt: "tell" })
    const deltas: string[] = []
    for await (const delta of streamed.textStream) deltas.push(delta)
    const response = await streamed.response
    const failures: string[] = []
    const broken = streamText({ model, prompt: "break", onError: ({ error }) => void failures.push(String(error)) })
    const before: string[] = []
    for await (const delta of broken.textStream) before.push(delta)
    const said = { text: result.text, files, retried: retried.text, deltas, at: response.timestamp, failures, before }
    run.complete({ output: said })
    return said
  }

async function record(agentOf: (run: Run) => Promise<unknown>) {
  const sink = new MemorySink()
  const recorder = Recorder.open({ app: "test", environment: "local", capture: "full", sink })
  const said = await agentOf(recorder.startRun({ entrypoint: "agent" }))
  recorder.close()
  return { said, ...recordingOf(sink) }
}

const replaying = (tape: Tape, more: Partial<Parameters<typeof replayRecorder>[1]> = {}) =>
  replayRecorder(tape, { app: "test", environment: "local", capture: "full", sink: new MemorySink(), ...more })

test("[P-03] an agent on the AI SDK replays unchanged: tools, files, retries, streams and broken streams, and no model is asked", async () => {
  const live = world()
  const source = await record(agent(live))
  const before = live.asked()
  const replay = replaying(source.tape)
  expect(await agent(live)(replay.startRun({ entrypoint: "agent" }))).toEqual(source.said)
  replay.close()
  expect(live.asked()).toBe(before)
  const certification = replay.certify(source)
  expect({ issued: certification.issued, divergences: certification.report.divergences }).toEqual({
    issued: true,
    divergences: [],
  })
})

/** A provider as they are made: its `fetch` and the headers of the call are all it gets from outside. */
const providerOn = (baseURL: string, fetch: typeof globalThis.fetch): MockLanguageModelV3 =>
  new MockLanguageModelV3({
    doStream: async ({ prompt, headers }) => {
      const body = messages([JSON.stringify(prompt)], { stream: true })
      const sent = Object.entries(headers ?? {}).filter((entry): entry is [string, string] => entry[1] !== undefined)
      const response = await fetch(`${baseURL}/v1/messages`, { method: "POST", headers: sent, body })
      const text = [...(await response.text()).matchAll(/"text":"(\w+)"/g)].map(([, word]) => word).join("")
      return { stream: simulateReadableStream({ chunks: parts(text) }) }
    },
  })

test("[P-03] what an AI SDK provider sent over the wire is answered there, so the provider reads the recorded bytes again", async () => {
  await withUpstream(
    ({ count }, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" })
      response.end(
        `event: content_block_delta\ndata: {"delta":{"text":"sonnig${count}"}}\n\nevent: message_stop\ndata: {}\n\n`,
      )
    },
    async (baseURL, asked) => {
      const speak = async (recorder: Pick<Recorder, "fetch">, run: Run) => {
        const model = wrapLanguageModel({ model: providerOn(baseURL, recorder.fetch), middleware: recordAiSdk(run) })
        const text = await streamText({ model, prompt: "Wetter?" }).text
        run.complete({ output: text })
        return text
      }
      const sink = new MemorySink()
      const recorder = Recorder.open({ app: "test", environment: "local", capture: "full", sink })
      const said = await speak(recorder, recorder.startRun({ entrypoint: "agent" }))
      recorder.close()
      const source = recordingOf(sink)
      const replay = replaying(source.tape)
      expect([said, await speak(replay, replay.startRun({ entrypoint: "agent" }))]).toEqual(["sonnig1", "sonnig1"])
      replay.close()
      expect(asked()).toBe(1)
      const certification = replay.certify(source)
      expect({ issued: certification.issued, found: certification.report.divergences }).toEqual({
        issued: true,
        found: [],
      })
    },
  )
})

test("[P-04] behind a fork the AI SDK's model is asked again, whole and streamed, and the answer is recorded like any other", async () => {
  const live = world()
  const ask = async (run: Run) => {
    const model = wrapLanguageModel({ model: live.model, middleware: recordAiSdk(run) })
    const { text } = await generateText({ model, prompt: "one" })
    const said = [text, await streamText({ model, prompt: `two ${text}` }).text]
    run.complete()
    return said
  }
  const source = await record(ask)
  const profile = parseProfile({ schema_version: 1, rules: [] })
  const plan = planFork(source.tape, { stepId: source.tape.calls[0]!.stepId, profile })
  if (!plan.ok) throw new Error("no plan")
  const sink = new MemorySink()
  const replay = replaying(source.tape, { fork: plan.fork, sink })
  expect(await ask(replay.startRun({ entrypoint: "agent" }))).toEqual(["answer 3", "stream 4"])
  replay.close()
  const results = sink.events.filter((event) => event.event_type === "model_result")
  expect(results.map(({ determinism_mode }) => determinism_mode)).toEqual(["live", "live"])
  const last = results.at(-1)!
  const bytes = last.event_type === "model_result" ? sink.bodies.get(last.payload.response_ref!) : undefined
  expect(Buffer.from(bytes!).toString().split("\n")[0]).toBe('{"type":"stream-start","warnings":[]}')
})
