import { validatePayload } from "@orangebox/contract"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { dialectOf, foldResponse, responseFolder } from "../src/index.js"
import { ANTHROPIC, anthropicEvents, CHAT, GEMINI, RESPONSES, responsesEvents, STREAMS } from "./streams.js"

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const fold = (dialect: string, text: string) => foldResponse(dialectOf(dialect)!, bytes(text))
const sse = (events: readonly unknown[]): string => events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("")

describe("[K-03] a streamed answer folds to what the API gives without streaming", () => {
  test.each(STREAMS)("$dialect", ({ dialect, stream, whole }) => {
    const streamed = fold(dialect, stream)
    const plain = fold(dialect, JSON.stringify(whole))
    expect(streamed.message).toEqual(whole)
    expect({ ...streamed, form: "json", eventCount: 0, toolCalls: [], parts: [] }).toEqual({
      ...plain,
      toolCalls: [],
      parts: [],
    })
    expect(streamed).toMatchObject({ form: "stream", ended: "complete", error: null, unknownEvents: [] })
  })

  test.each(STREAMS)("[P7] any cut of the $dialect stream folds identically", ({ dialect, stream }) => {
    const body = bytes(stream)
    const expected = fold(dialect, stream)
    fc.assert(
      fc.property(fc.array(fc.nat(body.length), { maxLength: 20 }), (cuts) => {
        const folder = responseFolder(dialectOf(dialect)!)
        const places = [0, ...cuts.sort((a, b) => a - b), body.length]
        for (let i = 1; i < places.length; i++) folder.push(body.subarray(places[i - 1], places[i]))
        expect(folder.finish()).toEqual(expected)
      }),
      { numRuns: 50 },
    )
  })

  test("a stream read byte by byte is the same answer", () => {
    const body = bytes(ANTHROPIC.stream)
    const single = foldResponse(
      dialectOf("anthropic-messages")!,
      Array.from(body, (byte) => Uint8Array.of(byte)),
    )
    expect(single).toEqual(fold("anthropic-messages", ANTHROPIC.stream))
  })
})

describe("[K-03] what an answer says", () => {
  test("text, thinking and tool calls are told apart, and arguments keep every digit", () => {
    const streamed = fold("anthropic-messages", ANTHROPIC.stream)
    expect(streamed.text).toBe("Ich sehe in Zürich nach. 🌦")
    expect(streamed.thinking).toBe("The user wants weather.")
    expect(streamed.toolCalls).toEqual([
      { id: "toolu_1", name: "weather", arguments: '{"city": "Zürich", "n": 12345678901234567890}', runsAt: "client" },
    ])
    const plain = fold(
      "anthropic-messages",
      '{"content":[{"type":"tool_use","id":"t","name":"n","input":{"n":12345678901234567890}}]}',
    )
    expect(plain.toolCalls[0]!.arguments).toBe('{"n":12345678901234567890}')
  })

  test("finish reasons keep their spelling and get one meaning", () => {
    expect(
      STREAMS.map(({ dialect, stream }) => fold(dialect, stream)).map((f) => [f.finishReason, f.finishKind]),
    ).toEqual([
      ["tool_use", "tool_call"],
      ["tool_calls", "tool_call"],
      ["tool_calls", "tool_call"],
      ["STOP", "stop"],
    ])
  })

  test("an error instead of an answer, and an error in mid-stream, are errors", () => {
    const refused = fold(
      "anthropic-messages",
      '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
    )
    expect(refused.error).toEqual({ type: "overloaded_error", code: null, message: "Overloaded" })
    const broken = fold(
      "anthropic-messages",
      sse([...anthropicEvents.slice(0, 9), { type: "error", error: { type: "api_error", message: "boom" } }]),
    )
    expect(broken).toMatchObject({ text: "Ich sehe in Zürich ", ended: "partial", error: { type: "api_error" } })
    const chat = fold(
      "openai-chat",
      '{"error":{"message":"Rate limit","type":"requests","code":"rate_limit_exceeded"}}',
    )
    expect(chat.error).toEqual({ type: "requests", code: "rate_limit_exceeded", message: "Rate limit" })
    const failed = fold("openai-responses", sse([{ type: "error", code: "ERR_SOMETHING", message: "No", param: null }]))
    expect(failed.error).toEqual({ type: "error", code: "ERR_SOMETHING", message: "No" })
  })

  test("events of an unknown type are kept verbatim", () => {
    const odd = { type: "content_block_delta", index: 0, delta: { type: "hologram_delta", hologram: "…" } }
    const folded = fold("anthropic-messages", sse([anthropicEvents[0], odd, { type: "message_stop" }]))
    expect(folded.unknownEvents).toEqual([{ event: null, data: JSON.stringify(odd) }])
    expect(fold("openai-responses", sse([{ type: "response.dream.delta", delta: "z" }])).unknownEvents).toHaveLength(1)
  })

  test("a key called __proto__ stays a key", () => {
    const folded = fold(
      "openai-chat",
      'data: {"choices":[{"index":0,"delta":{"__proto__":{"polluted":true},"content":"x"}}]}\n\n',
    )
    expect(folded.text).toBe("x")
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined()
  })
})

describe("[K-03] an aborted stream gives what was there", () => {
  test.each([ANTHROPIC, CHAT, RESPONSES])(
    "$dialect cut at every byte never throws and never grows backwards",
    ({ dialect, stream }) => {
      const body = bytes(stream)
      let before = 0
      for (let end = 0; end <= body.length; end += 37) {
        const folded = foldResponse(dialectOf(dialect)!, body.subarray(0, end))
        expect(folded.text.length).toBeGreaterThanOrEqual(before)
        before = folded.text.length
      }
      expect(fold(dialect, stream.slice(0, stream.length / 2)).ended).toBe("partial")
    },
  )

  test("half a tool call keeps the half that came", () => {
    const folded = fold("anthropic-messages", sse(anthropicEvents.slice(0, 13)))
    expect(folded.toolCalls).toEqual([{ id: "toolu_1", name: "weather", arguments: '{"city": "Zür', runsAt: "client" }])
    expect(folded.ended).toBe("partial")
  })

  test("a Responses stream without its terminal event is what its items said", () => {
    const folded = fold("openai-responses", sse(responsesEvents.slice(0, -2)))
    expect(folded).toMatchObject({
      text: "Done – really.",
      thinking: "Planning.",
      ended: "partial",
      finishReason: "in_progress",
    })
    expect(folded.toolCalls[0]).toMatchObject({ id: "call_1", name: "run", arguments: '{"cmd":"npm test"}' })
    expect(folded.usage.tokens).toEqual({ prompt: null, completion: null, total: null })
  })

  test("nothing at all is an empty, partial answer", () => {
    expect(fold("openai-chat", "")).toMatchObject({ form: "empty", ended: "partial", text: "", message: null })
    expect(fold("openai-chat", '{"id":"chatcmpl-1","choi')).toMatchObject({ form: "other", ended: "partial" })
  })
})

describe("[K-04] usage is normalised by one table", () => {
  const tokensOf = (dialect: string, stream: string) => fold(dialect, stream).usage

  test("Anthropic counts add up; later nulls do not erase earlier counts", () => {
    const usage = tokensOf("anthropic-messages", ANTHROPIC.stream)
    expect(usage.tokens).toEqual({
      prompt: 2112,
      completion: 57,
      total: 2169,
      cache_read: 2000,
      cache_write: 100,
      reasoning: null,
    })
    expect(usage).toMatchObject({ cacheWrite5m: 40, cacheWrite1h: 60, serviceTier: "standard" })
  })

  test("a compaction billed beside the message is named, not mixed into its counts", () => {
    const compaction = {
      type: "compaction",
      input_tokens: 100,
      output_tokens: 131,
      cache_creation_input_tokens: 55_096,
    }
    const usage = {
      input_tokens: 229,
      output_tokens: 5,
      iterations: [compaction, { type: "message", input_tokens: 229, output_tokens: 5 }],
    }
    const read = dialectOf("anthropic-messages")!.usageOf(usage)
    expect(read.tokens).toMatchObject({ prompt: 229, completion: 5 })
    expect(read.billedExtras).toEqual({ compaction_tokens: 55_327 })
  })

  test("OpenAI and Gemini counts already include the cached part", () => {
    expect(tokensOf("openai-chat", CHAT.stream).tokens).toEqual({
      prompt: 80,
      completion: 20,
      total: 100,
      cache_read: 64,
      cache_write: null,
      reasoning: 8,
    })
    expect(tokensOf("openai-responses", RESPONSES.stream).tokens).toEqual({
      prompt: 300,
      completion: 40,
      total: 340,
      cache_read: 256,
      cache_write: null,
      reasoning: 16,
    })
    expect(tokensOf("gemini", GEMINI.stream).tokens).toEqual({
      prompt: 50,
      completion: 17,
      total: 67,
      cache_read: 32,
      cache_write: null,
      reasoning: 10,
    })
  })

  test("what was not reported is null, the raw object is kept, and both satisfy the contract", () => {
    const silent = tokensOf("openai-chat", '{"object":"chat.completion","choices":[]}')
    expect(silent.tokens).toEqual({ prompt: null, completion: null, total: null })
    const old = fold(
      "anthropic-messages",
      '{"type":"message","content":[],"usage":{"input_tokens":5,"output_tokens":2}}',
    ).usage
    expect(old.tokens).toMatchObject({ prompt: 5, total: 7, cache_read: null, cache_write: null })
    expect(old.raw).toEqual({ input_tokens: 5, output_tokens: 2 })
    const known = STREAMS.map(({ dialect, stream }) => fold(dialect, stream).usage.tokens)
    for (const token_usage of [...known, silent.tokens, old.tokens]) {
      const payload = {
        provider: "p",
        model_id: null,
        finish_reason: null,
        token_usage,
        response_ref: null,
        latency_ms: 1,
      }
      expect(validatePayload("model_result", payload)).toEqual([])
    }
  })
})
