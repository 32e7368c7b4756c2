import { readJson } from "@orangebox/contract"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import {
  callSignature,
  canonicalRequestText,
  createRequestMemory,
  dialectOf,
  EMPTY_WIRE_STATE,
  maskText,
  type RequestAnatomy,
  type RequestMemory,
  readBody,
  readRequest,
  reduceWire,
  type WireFact,
  type WireState,
} from "../src/index.js"

type Json = Record<string, unknown>

const words = fc.oneof(
  fc.constantFrom(
    "yes",
    "",
    " ",
    "line\nline",
    'a "quote" and a \\',
    "Zürich",
    "雨 🌧",
    "\u0000\u001f",
    "x".repeat(200),
  ),
  fc.string({ maxLength: 30 }),
)
const mark = fc.constantFrom<Json>({}, {}, {}, { cache_control: { type: "ephemeral" } })
// Few ids, so that they meet again: in another message, in another order, as a result without a call.
const id = fc.constantFrom("toolu_1", "toolu_2", "toolu_3", "toolu_4")
const args = fc.constantFrom<Json>({}, { path: "a.ts", n: 1 }, { n: 1.0, path: "a.ts", text: "a\nb" })

/** For each dialect: one message, and a request around messages. */
interface Style {
  readonly path: string
  readonly message: fc.Arbitrary<Json>
  request(messages: readonly Json[], system: string, tools: readonly Json[], isPromptFirst: boolean): Json
}

const block = fc.oneof(
  fc.tuple(words, mark).map(([text, more]) => ({ type: "text", text, ...more })),
  fc.tuple(id, args, mark).map(([call, input, more]) => ({ type: "tool_use", id: call, name: "read", input, ...more })),
  fc
    .tuple(id, words, mark)
    .map(([call, content, more]) => ({ type: "tool_result", tool_use_id: call, content, ...more })),
  fc.tuple(id, words).map(([call, text]) => ({
    type: "tool_result",
    tool_use_id: call,
    content: [{ type: "text", text, cache_control: { type: "ephemeral" } }],
  })),
  fc.constantFrom<Json>(
    { type: "image", source: { type: "base64", media_type: "image/png", data: "aGFsbG8=" } },
    { type: "document", source: { type: "file", file_id: "file_1" } },
    { type: "thinking", thinking: "hm", signature: "EqQB" },
    { type: "redacted_thinking", data: "EqQB" },
  ),
)

const styles: Readonly<Record<string, Style>> = {
  "anthropic-messages": {
    path: "/v1/messages",
    message: fc.record({
      role: fc.constantFrom("user", "assistant"),
      content: fc.oneof(words, fc.array(block, { maxLength: 3 })),
    }),
    request(messages, text, tools, isPromptFirst) {
      const system = [
        { type: "text", text: `x-anthropic-billing-header: cch=1;\n${text}`, cache_control: { type: "ephemeral" } },
      ]
      const model = { model: "claude-sonnet-4-5", max_tokens: 100 }
      return isPromptFirst ? { ...model, system, tools, messages } : { ...model, messages, system, tools, stream: true }
    },
  },
  "openai-chat": {
    path: "/v1/chat/completions",
    message: fc.oneof(
      fc.record({ role: fc.constantFrom("user", "assistant", "system"), content: words }),
      fc.tuple(id, words).map(([call, content]) => ({ role: "tool", tool_call_id: call, content })),
      fc.tuple(id, args).map(([call, input]) => ({
        role: "assistant",
        content: null,
        tool_calls: [{ id: call, type: "function", function: { name: "read", arguments: JSON.stringify(input) } }],
      })),
    ),
    request: (messages, system, tools, isPromptFirst) =>
      isPromptFirst
        ? { model: "gpt-5", tools, messages: [{ role: "system", content: system }, ...messages] }
        : { model: "gpt-5", messages: [...messages, { role: "system", content: system }], tools },
  },
  "openai-responses": {
    path: "/v1/responses",
    message: fc.oneof(
      fc.record({ role: fc.constantFrom("user", "assistant"), content: words }),
      fc.tuple(id, words).map(([call, output]) => ({ type: "function_call_output", call_id: call, output })),
      fc.tuple(id, args).map(([call, input]) => ({
        type: "function_call",
        id: `fc_${call}`,
        call_id: call,
        name: "read",
        arguments: JSON.stringify(input),
      })),
    ),
    request: (input, instructions, tools, isPromptFirst) =>
      isPromptFirst ? { model: "gpt-5", instructions, tools, input } : { model: "gpt-5", input, instructions, tools },
  },
  gemini: {
    path: "/v1beta/models/gemini-2.5-pro:generateContent",
    message: fc.record({
      role: fc.constantFrom("user", "model"),
      parts: fc.array(
        fc.oneof(
          words.map((text) => ({ text })),
          args.map((input) => ({ functionCall: { name: "read", args: input } })),
          words.map((output) => ({ functionResponse: { name: "read", response: { output } } })),
        ),
        { maxLength: 3 },
      ),
    }),
    request: (contents, text, tools, isPromptFirst) => {
      const systemInstruction = { parts: [{ text }] }
      const functionDeclarations = [{ functionDeclarations: tools }]
      return isPromptFirst
        ? { systemInstruction, tools: functionDeclarations, contents }
        : { contents, tools: functionDeclarations, systemInstruction }
    },
  },
}

const tool = (name: string, more: Json = {}): Json => ({
  name,
  description: name,
  input_schema: { type: "object" },
  ...more,
})
const TOOLS = [
  [],
  [tool("read")],
  [tool("write"), tool("read", { cache_control: { type: "ephemeral" } })],
  [tool("read"), tool("read", { description: "again" })],
]

/** What happens to the history between two requests. */
/** Asked for, so that two of them can be compared. */
const withDetails = (anatomy: RequestAnatomy | undefined) => anatomy && { ...anatomy, detailed: anatomy.detailed() }

const change = (message: fc.Arbitrary<Json>) =>
  fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({ do: fc.constant("append" as const), messages: fc.array(message, { maxLength: 3 }) }),
    },
    fc.record({ do: fc.constant("truncate" as const), from: fc.nat(3) }),
    fc.record({ do: fc.constant("rewrite" as const), at: fc.nat(8), message }),
    fc.record({ do: fc.constant("prompt" as const), system: words, tools: fc.nat(TOOLS.length - 1) }),
    fc.record({ do: fc.constant("again" as const) }),
    fc.record({ do: fc.constant("other" as const), isPromptFirst: fc.boolean() }),
  )

describe.each(Object.entries(styles))("%s", (dialectId, style) => {
  const dialect = dialectOf(dialectId)!
  const address = { method: "POST", path: style.path }

  function told(bytes: Uint8Array, memory: RequestMemory | undefined, state: WireState, call: string) {
    const body = readBody(bytes, memory)
    const signed = { ...address, body, dialect }
    const step: { state: WireState; facts: readonly WireFact[] } = reduceWire(state, {
      kind: "request",
      call,
      atMs: 0,
      ...address,
      body,
    })
    return {
      root: body.root,
      anatomy: withDetails(readRequest(dialect, body, style.path)),
      signature: callSignature(signed),
      known: callSignature({ ...signed, producerOf: (name) => `made-${call}-${name}` }),
      masked: callSignature({ ...signed, mask: maskText(["hex"]) }),
      text: canonicalRequestText(signed),
      step,
    }
  }

  test("[K-03] anatomy, signatures and lanes of a session are the same with and without a memory", () => {
    fc.assert(
      fc.property(fc.array(change(style.message), { maxLength: 12 }), fc.boolean(), (changes, startsPromptFirst) => {
        const memory = createRequestMemory()
        const states = { remembered: EMPTY_WIRE_STATE, plain: EMPTY_WIRE_STATE }
        let messages: Json[] = [{ role: "user", content: "begin", parts: [{ text: "begin" }] }]
        let [system, tools, isPromptFirst] = ["You help.", TOOLS[1]!, startsPromptFirst]
        changes.forEach((next, index) => {
          if (next.do === "append") messages = [...messages, ...next.messages]
          else if (next.do === "truncate") messages = messages.slice(next.from)
          else if (next.do === "rewrite") messages = messages.map((old, at) => (at === next.at ? next.message : old))
          else if (next.do === "prompt") [system, tools] = [next.system, TOOLS[next.tools]!]
          else if (next.do === "other") isPromptFirst = next.isPromptFirst
          const bytes = Buffer.from(JSON.stringify(style.request(messages, system, tools, isPromptFirst)))
          const remembered = told(bytes, memory, states.remembered, `c${index}`)
          const plain = told(bytes, undefined, states.plain, `c${index}`)
          expect(remembered).toEqual(plain)
          // A mask that changes nothing keeps both memory and notes out of it.
          const call = { ...address, body: bytes, dialect, mask: (text: string) => text }
          expect(remembered.text).toBe(canonicalRequestText(call))
          expect(remembered.signature).toEqual(callSignature(call))
          states.remembered = remembered.step.state
          states.plain = plain.step.state
        })
      }),
      { numRuns: 60 },
    )
  })
})

test("a body that is not JSON is not remembered, and one that begins like it is read", () => {
  const memory = createRequestMemory()
  expect(readBody(Buffer.from('{"a":[1,2'), memory).root).toBeUndefined()
  const whole = Buffer.from('{"a":[1,2],"b":"x"}')
  const broken = Buffer.from('{"a":[1,2],"b":"x')
  for (const bytes of [whole, broken, whole]) {
    const reading = readJson(bytes.toString())
    expect(readBody(bytes, memory).root).toEqual(reading.ok ? reading.node : undefined)
  }
})

test("two conversations and a byte order mark do not mix", () => {
  const memory = createRequestMemory()
  const dialect = dialectOf("anthropic-messages")!
  const ask = (...said: string[]) =>
    JSON.stringify({
      model: "m",
      system: "s".repeat(100),
      messages: said.map((content) => ({ role: "user", content })),
    })
  for (const text of [
    ask("a"),
    ask("b"),
    `\ufeff${ask("a", "é")}`,
    ask("b", "c"),
    ask("a", "é", "d"),
    ask("b", "c", "d"),
  ]) {
    const bytes = Buffer.from(text)
    expect(withDetails(readRequest(dialect, readBody(bytes, memory)))).toEqual(withDetails(readRequest(dialect, bytes)))
  }
})
