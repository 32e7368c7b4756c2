import { recordAiSdk, wrapTools } from "@orangebox/recorder"
import {
  generateText,
  type ModelMessage,
  simulateReadableStream,
  stepCountIs,
  streamText,
  tool,
  wrapLanguageModel,
} from "ai"
import { MockLanguageModelV3 } from "ai/test"
import { describe, expect, test } from "vitest"
import { z } from "zod"
import { decisionsOf, observabilityOf } from "../src/index.js"
import { recordInMemory } from "./recorded.js"

const usage = {
  inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 5, text: 5, reasoning: 0 },
}
const askRead = { type: "tool-call" as const, toolCallId: "call_ai1", toolName: "read", input: '{"p":1}' }
const asksTools = { unified: "tool-calls" as const, raw: "tool_calls" }
const stops = { unified: "stop" as const, raw: "stop" }

/** An agent as the docs show it, `turns` turns long; the first asks for the tool. */
async function recordLoop(capture: "redacted" | "hashed", result: unknown, isStreamed: boolean, turns = 1) {
  const { recorder, recorded } = recordInMemory({ capture })
  const run = recorder.startRun({ entrypoint: "ai", input: "go" })
  const step = run.step("turn")
  let asked = 0
  const saying = (text: string) => [
    { type: "text-start" as const, id: "t" },
    ...text.split(/(?<= )/).map((delta) => ({ type: "text-delta" as const, id: "t", delta })),
    { type: "text-end" as const, id: "t" },
  ]
  const mock = new MockLanguageModelV3({
    provider: "mock",
    modelId: "mock-1",
    doGenerate: async () => {
      asked++
      const text = { type: "text" as const, text: `answer number ${asked}` }
      return asked === 1
        ? { content: [askRead], finishReason: asksTools, usage, warnings: [] }
        : { content: [text], finishReason: stops, usage, warnings: [] }
    },
    doStream: async () => {
      asked++
      const isFirst = asked === 1
      const chunks = [
        ...saying(isFirst ? "let me read" : `answer number ${asked}`),
        ...(isFirst ? [askRead] : []),
        { type: "finish" as const, finishReason: isFirst ? asksTools : stops, usage },
      ]
      return { stream: simulateReadableStream({ chunks, initialDelayInMs: null, chunkDelayInMs: null }) }
    },
  })
  const model = wrapLanguageModel({ model: mock, middleware: recordAiSdk(step) })
  const read = tool({ description: "reads", inputSchema: z.object({ p: z.number() }), execute: async () => result })
  const tools = wrapTools({ read }, step)
  const messages: ModelMessage[] = [{ role: "user", content: "go on" }]
  for (let turn = 0; turn < turns; turn++) {
    const options = { model, system: "You are AI", messages, tools, stopWhen: stepCountIs(4) }
    const done = isStreamed ? streamText(options) : await generateText(options)
    if ("textStream" in done) for await (const _ of done.textStream);
    messages.push(...(await done.response).messages, { role: "user", content: "and then?" })
  }
  step.end()
  run.complete({ output: "done" })
  return recorded()
}

describe("[D-08] a tool loop of the AI SDK is no bypass: results are known by the model's id for the call", () => {
  const results = { text: "content 1", object: { rows: [1, 2], name: "x" }, long: "word ".repeat(2_000) }
  for (const capture of ["redacted", "hashed"] as const) {
    for (const [what, result] of Object.entries(results)) {
      test(`a result that is ${what}, ${capture}`, async () => {
        const run = await recordLoop(capture, result, false)
        expect(observabilityOf(run)).toMatchObject({ failures: [], bypasses: [] })
      })
    }
    test(`streamed, over three turns, ${capture}`, async () => {
      const run = await recordLoop(capture, "content 1", true, 3)
      expect(observabilityOf(run)).toMatchObject({ failures: [], bypasses: [] })
    })
  }

  test("its prompt bundles say who spoke and which call a result answers, with the schemas of the tools", async () => {
    const decisions = decisionsOf(await recordLoop("redacted", "content 1", true))
    const answered = decisions.find(({ agent_action }) => agent_action.action_summary === "answer number 2")
    expect(answered?.prompt_provenance.prompt_bundle).toMatchObject({
      messages: [
        { role: "system", content: "You are AI" },
        { role: "user", content: "go on" },
        { role: "assistant", content: "let me read", tool_calls: [{ id: "call_ai1", name: "read" }] },
        { role: "tool", content: "content 1", tool_call_id: "call_ai1" },
      ],
      tools: [{ name: "read", description: "reads", schema: { type: "object" } }],
    })
  })
})
