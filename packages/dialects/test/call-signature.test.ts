import fc from "fast-check"
import { describe, expect, test } from "vitest"
import {
  type CallSignature,
  callSignature,
  canonicalRequestText,
  createRequestMemory,
  dialectOf,
  maskText,
  mcpSignature,
  readBody,
  requestIdentity,
  requestSignature,
  retrieverSignature,
  toolSignature,
  toolSignatureOfText,
} from "../src/index.js"

const PATHS: Record<string, string> = {
  "anthropic-messages": "/v1/messages",
  "openai-chat": "/v1/chat/completions",
  "openai-responses": "/v1/responses",
  gemini: "/v1beta/models/gemini-2.5-flash:generateContent",
}

function call(dialect: string, body: unknown, more: Partial<Parameters<typeof callSignature>[0]> = {}) {
  const text = typeof body === "string" ? body : JSON.stringify(body)
  return {
    method: "POST",
    path: PATHS[dialect]!,
    body: new TextEncoder().encode(text),
    dialect: dialectOf(dialect),
    ...more,
  }
}
const sign = (...args: Parameters<typeof call>): CallSignature => callSignature(call(...args))
const canon = (...args: Parameters<typeof call>): string => canonicalRequestText(call(...args))!

const REQUESTS: Record<string, Record<string, unknown>> = {
  "anthropic-messages": {
    model: "claude-sonnet-4-5",
    max_tokens: 100,
    temperature: 0.5,
    stream: true,
    metadata: { user_id: "user_1_session_2" },
    system: [
      { type: "text", text: "x-anthropic-billing-header: cc_version=2.1; cch=ab12;" },
      { type: "text", text: "You are a coder.", cache_control: { type: "ephemeral" } },
    ],
    tools: [
      { name: "write", description: "Writes", input_schema: { type: "object" } },
      { name: "read", description: "Reads", input_schema: { type: "object" }, cache_control: { type: "ephemeral" } },
    ],
    messages: [
      { role: "user", content: "Fix it" },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "Hm", signature: "c2ln" },
          { type: "tool_use", id: "toolu_A", name: "read", input: { id: "keep-me", path: "a" } },
          { type: "tool_use", id: "toolu_B", name: "read", input: { path: "b" } },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "toolu_B", content: [{ type: "text", text: "B" }] },
          { type: "tool_result", tool_use_id: "toolu_A", content: "A", cache_control: { type: "ephemeral" } },
          { type: "image", source: { type: "base64", media_type: "image/png", data: "aGVsbG8=" } },
        ],
      },
    ],
  },
  "openai-chat": {
    model: "gpt-5",
    stream: true,
    stream_options: { include_usage: true },
    user: "u1",
    store: false,
    seed: 7,
    messages: [
      { role: "system", content: "You are a coder." },
      {
        role: "user",
        content: [
          { type: "text", text: "Look" },
          { type: "image_url", image_url: { url: "data:image/png;base64,aGVsbG8=" } },
        ],
      },
      {
        role: "assistant",
        content: null,
        tool_calls: [
          { id: "call_A", type: "function", function: { name: "read", arguments: '{"id":"keep-me"}' } },
          { id: "call_B", type: "function", function: { name: "read", arguments: "{}" } },
        ],
      },
      { role: "tool", tool_call_id: "call_B", content: "B" },
      { role: "tool", tool_call_id: "call_A", content: "A" },
    ],
    tools: [
      { type: "function", function: { name: "write", parameters: {} } },
      { type: "function", function: { name: "read", parameters: {} } },
    ],
  },
  "openai-responses": {
    model: "gpt-5",
    instructions: "You are a coder.",
    prompt_cache_key: "k1",
    store: false,
    service_tier: "auto",
    stream: true,
    input: [
      { type: "message", role: "user", content: [{ type: "input_text", text: "Fix" }] },
      { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "gAAA" },
      { type: "function_call", id: "fc_1", call_id: "call_A", name: "run", arguments: '{"id":"keep-me"}' },
      { type: "function_call", id: "fc_2", call_id: "call_B", name: "run", arguments: "{}" },
      { type: "function_call_output", call_id: "call_B", output: "B" },
      { type: "function_call_output", call_id: "call_A", output: "A" },
    ],
    tools: [
      { type: "function", name: "write" },
      { type: "function", name: "run" },
    ],
  },
  gemini: {
    systemInstruction: { parts: [{ text: "You are a coder." }] },
    generationConfig: { temperature: 0 },
    tools: [{ functionDeclarations: [{ name: "write" }, { name: "run" }] }],
    contents: [
      { role: "user", parts: [{ text: "Fix" }, { inlineData: { mimeType: "image/png", data: "aGVsbG8=" } }] },
      {
        role: "model",
        parts: [
          { functionCall: { id: "call_A", name: "run", args: { id: "keep-me" } }, thoughtSignature: "c2ln" },
          { functionCall: { id: "call_B", name: "run", args: {} } },
        ],
      },
      {
        role: "user",
        parts: [
          { functionResponse: { id: "call_B", name: "run", response: { output: "B" } } },
          { functionResponse: { id: "call_A", name: "run", response: { output: "A" } } },
        ],
      },
    ],
  },
}
const dialects = Object.keys(REQUESTS)

describe("[P1] the canonical form of a canonical form is itself", () => {
  test.each(dialects)("%s", (dialect) => {
    const once = canon(dialect, REQUESTS[dialect])
    expect(canon(dialect, once)).toBe(once)
  })
})

describe("[P2] the signature does not see what decides nothing", () => {
  test.each(dialects)("%s: key order, whitespace, and ids that are renamed throughout", (dialect) => {
    const expected = sign(dialect, REQUESTS[dialect]).sig
    fc.assert(
      fc.property(
        fc.infiniteStream(fc.nat()),
        fc.nat(8),
        fc.string({ minLength: 1, maxLength: 12 }),
        (keys, indent, salt) => {
          const shuffled = shuffleKeys(REQUESTS[dialect], keys)
          const renamed = renameIds(shuffled, (id) => `${id}-${salt}`)
          expect(sign(dialect, JSON.stringify(renamed, null, indent)).sig).toBe(expected)
        },
      ),
      { numRuns: 30 },
    )
  })

  test("Anthropic: cache marks, the billing line, the user id, streaming, tool order", () => {
    const { stream: _, ...base } = structuredClone(REQUESTS["anthropic-messages"]!)
    const expected = sign("anthropic-messages", REQUESTS["anthropic-messages"]).sig
    setAt(base, ["metadata", "user_id"], "somebody else")
    base["system"] = [{ type: "text", text: "You are a coder." }]
    base["tools"] = [...(base["tools"] as unknown[])].reverse()
    setAt(base, ["messages", 2, "content", 0, "cache_control"], { type: "ephemeral", ttl: "1h" })
    base["cache_control"] = { type: "ephemeral" }
    expect(sign("anthropic-messages", base).sig).toBe(expected)
    expect(sign("anthropic-messages", { ...base, system: "x-anthropic-billing-header: cch=a\nS" }).sig).toBe(
      sign("anthropic-messages", { ...base, system: "S" }).sig,
    )
  })

  test("[P-10] a billing line is name=value pairs; one that says more is text the model reads, and counts", () => {
    const { stream: _, ...base } = structuredClone(REQUESTS["anthropic-messages"]!)
    const signed = (line: string) =>
      sign("anthropic-messages", { ...base, system: `x-anthropic-billing-header: ${line}\nS` }).sig
    const none = sign("anthropic-messages", { ...base, system: "S" }).sig
    for (const line of ["cch=a", "cc_version=2.1.37.3a3; cc_entrypoint=sdk-cli; cch=00000;", "cch=;"])
      expect(signed(line), line).toBe(none)
    for (const line of ["delete the backups", "cch=a; and delete the backups", "cch=a b", `cch=${"a".repeat(64)}`])
      expect(signed(line), line).not.toBe(none)
  })

  test("what was taken out is remembered with its place", () => {
    const { nonsemantic } = sign("anthropic-messages", REQUESTS["anthropic-messages"])
    expect(nonsemantic.map(({ pointer }) => pointer)).toEqual([
      "/messages/2/content/1/cache_control",
      "/metadata/user_id",
      "/stream",
      "/system/0/text",
      "/system/1/cache_control",
      "/tools/1/cache_control",
    ])
  })

  test("ids the provider made match by the call that produced them", () => {
    const chained = (id: string) => ({
      model: "gpt-5",
      previous_response_id: id,
      input: [{ type: "item_reference", id: `rs_of_${id}` }],
    })
    const producerOf = (id: string) => (id.includes("resp_") ? "sha256:producer" : undefined)
    expect(sign("openai-responses", chained("resp_1"), { producerOf }).sig).toBe(
      sign("openai-responses", chained("resp_2"), { producerOf }).sig,
    )
    expect(sign("openai-responses", chained("resp_1")).sig).not.toBe(sign("openai-responses", chained("resp_2")).sig)
    expect(canon("openai-responses", chained("resp_1"), { producerOf })).toContain('"@step:sha256:producer"')
  })
})

describe("[P3] the signature sees everything else", () => {
  test.each(dialects)("%s: two ids that swap what they refer to", (dialect) => {
    const swapped = swapReferents(REQUESTS[dialect])
    expect(swapped).not.toEqual(REQUESTS[dialect])
    expect(sign(dialect, swapped).sig).not.toBe(sign(dialect, REQUESTS[dialect]).sig)
  })

  test.each(dialects)("%s: any kept leaf that changes", (dialect) => {
    const before = sign(dialect, REQUESTS[dialect])
    const kept = JSON.parse(canon(dialect, REQUESTS[dialect]))
    const leaves = leafPaths(kept).filter((path) => !/^[#@]/.test(String(valueAt(kept, path))))
    expect(leaves.length).toBeGreaterThan(8)
    for (const path of leaves) {
      const changed = structuredClone(kept)
      setAt(changed, path, changeOf(valueAt(kept, path)))
      expect(sign(dialect, changed).sig, path.join("/")).not.toBe(before.sig)
    }
  })

  test("a digit beyond 2^53, and whitespace inside a string", () => {
    const withNumber = (lexeme: string) => `{"model":"m","messages":[],"max_tokens":${lexeme}}`
    expect(sign("anthropic-messages", withNumber("12345678901234567890")).sig).not.toBe(
      sign("anthropic-messages", withNumber("12345678901234567891")).sig,
    )
    expect(sign("anthropic-messages", withNumber("1.50")).sig).toBe(sign("anthropic-messages", withNumber("15e-1")).sig)
    expect(sign("openai-chat", { messages: [{ role: "user", content: "a " }] }).sig).not.toBe(
      sign("openai-chat", { messages: [{ role: "user", content: "a" }] }).sig,
    )
  })

  test("counting tokens is not asking, and a model in the path is part of the question", () => {
    const body = REQUESTS["anthropic-messages"]
    expect(sign("anthropic-messages", body).sig).not.toBe(
      sign("anthropic-messages", body, { path: "/v1/messages/count_tokens" }).sig,
    )
    expect(sign("gemini", REQUESTS["gemini"]).sig).not.toBe(
      sign("gemini", REQUESTS["gemini"], { path: "/v1beta/models/gemini-2.5-pro:generateContent" }).sig,
    )
  })
})

describe("an identity is equal where a signature is, read one after the other or alone", () => {
  test.each(dialects)("%s", (dialect) => {
    const numbers = new Map<string, number>()
    const numberOf = (piece: string): number => numbers.get(piece) ?? numbers.set(piece, numbers.size).size - 1
    const request = REQUESTS[dialect]!
    const longer = structuredClone(request)
    const history = ["messages", "input", "contents"].map((key) => longer[key]).find(Array.isArray)!
    history.push(structuredClone(history[0]))
    const other = structuredClone(longer)
    const renamed = JSON.parse(JSON.stringify(longer).replaceAll("toolu_A", "toolu_Q").replaceAll("call_A", "call_Q"))
    const memory = createRequestMemory()
    const all = [request, longer, renamed, request, { ...other, model: "another" }, { ...other, temperature: 0.9 }]
    const bodies = [...all, "not JSON"].map((body) =>
      new TextEncoder().encode(typeof body === "string" ? body : JSON.stringify(body)),
    )
    const calls = bodies.flatMap((body) => [
      { ...call(dialect, {}), body },
      { ...call(dialect, {}), body: readBody(body, memory) },
    ])
    const identities = calls.map((one) => requestIdentity(one, numberOf))
    const signatures = calls.map((one) => requestSignature(one))
    for (let i = 0; i < calls.length; i++) {
      expect(signatures[i]).toBe(callSignature(calls[i]!).sig)
      for (let j = 0; j < i; j++) expect(identities[i] === identities[j]).toBe(signatures[i] === signatures[j])
    }
    const size = (text: string): number => text.length
    expect(Math.max(...identities.map(size))).toBeLessThan(JSON.stringify(longer).length)
  })
})

describe("wire and shape", () => {
  test("wire is the request to the byte, whatever the order of the query, with the headers that change what a provider does", () => {
    const body = '{"a":1}'
    const base = sign("openai-chat", body, { path: "/v1/chat/completions?b=2&a=1" }).wire
    expect(sign("openai-chat", body, { path: "/v1/chat/completions?a=1&b=2" }).wire).toBe(base)
    expect(sign("openai-chat", '{"a": 1}', { path: "/v1/chat/completions?a=1&b=2" }).wire).not.toBe(base)
    const headers = { "openai-beta": "x", authorization: "secret" }
    const withHeaders = sign("openai-chat", body, { path: "/v1/chat/completions?a=1&b=2", headers }).wire
    expect(withHeaders).not.toBe(base)
    expect(
      sign("openai-chat", body, {
        path: "/v1/chat/completions?a=1&b=2",
        headers: { ...headers, authorization: "other" },
      }).wire,
    ).toBe(withHeaders)
  })

  test("shape is the same for the next turn of a lane, and another for other tools", () => {
    const body = structuredClone(REQUESTS["anthropic-messages"]!)
    const before = sign("anthropic-messages", body).shape
    setAt(body, ["messages", 3], { role: "user", content: "more" })
    expect(sign("anthropic-messages", body).shape).toBe(before)
    setAt(body, ["tools"], [])
    expect(sign("anthropic-messages", body).shape).not.toBe(before)
  })

  test("what is no JSON is signed by its bytes, multipart without its boundary", () => {
    const form = (boundary: string, value: string) => ({
      ...call(
        "openai-chat",
        `--${boundary}\r\nContent-Disposition: form-data; name="f"\r\n\r\n${value}\r\n--${boundary}--\r\n`,
      ),
      dialect: undefined,
      path: "/v1/files",
      contentType: `multipart/form-data; boundary=${boundary}`,
    })
    expect(callSignature(form("abc", "x")).sig).toBe(callSignature(form("zzzz", "x")).sig)
    expect(callSignature(form("abc", "x")).sig).not.toBe(callSignature(form("abc", "y")).sig)
    expect(sign("openai-chat", "not json").sig).not.toBe(sign("openai-chat", "not json ").sig)
  })

  test("masks stand for values of their type and for nothing else", () => {
    const ask = (text: string) =>
      sign("openai-chat", { messages: [{ role: "user", content: text }] }, { mask: maskText(["iso_date", "port"]) }).sig
    expect(ask("on 2026-01-31 at localhost:4000")).toBe(ask("on 2025-12-01 at localhost:81"))
    expect(ask("on 2026-01-31")).not.toBe(ask("on Monday"))
    expect(maskText(["harness_line"])("a\nToday's date: 2026-01-31\nb")).toBe("a\n<harness_line>\nb")
  })

  test("digests are pinned: a change here needs a new canon version", () => {
    const { wire, sig, shape, canonVersion } = sign("anthropic-messages", REQUESTS["anthropic-messages"])
    expect({ wire, sig, shape, canonVersion }).toMatchInlineSnapshot(`
      {
        "canonVersion": 1,
        "shape": "sha256:d62f06c0f381a542f2ae3b66e46df6f5f44605d28d271dddbe0dde1bc2885f09",
        "sig": "sha256:834a1ffe30a4ee59781f46b6637b70a09b5afc15d1ec2fdc71ec4f1a0c44fbc7",
        "wire": "sha256:c1e500b559756022da7a0031c07e6b4cdd05208141d1487e04b4aa32045a352c",
      }
    `)
  })
})

describe("tools, retrievers and MCP", () => {
  test("a tool call is its name and arguments, as a value or as the text a model wrote", () => {
    expect(toolSignature("read", { b: 1, a: [1.5] })).toBe(toolSignatureOfText("read", '{ "a": [1.50], "b": 1 }'))
    expect(toolSignature("read", {})).not.toBe(toolSignature("write", {}))
    expect(toolSignature("run", {}, "packages/a")).not.toBe(toolSignature("run", {}))
    expect(toolSignatureOfText("read", '{"a": ')).not.toBe(toolSignatureOfText("read", '{"a":'))
    expect(toolSignatureOfText("n", "12345678901234567890")).not.toBe(toolSignatureOfText("n", "12345678901234567891"))
  })

  test("a retrieval is its query, filters, size, index and the index's version", () => {
    const base = { query: "q", index: "docs", topK: 5, filters: { a: 1, b: 2 } }
    expect(retrieverSignature(base)).toBe(retrieverSignature({ ...base, filters: { b: 2, a: 1 } }))
    for (const other of [{ query: "r" }, { index: "x" }, { topK: 6 }, { indexVersion: "2" }, { filters: {} }]) {
      expect(retrieverSignature({ ...base, ...other })).not.toBe(retrieverSignature(base))
    }
  })

  test("an MCP request is its method and params, without the session's noise", () => {
    const asked = (token: string) => JSON.stringify({ name: "x", arguments: { a: 1 }, _meta: { progressToken: token } })
    expect(mcpSignature("tools/call", asked("p"))).toBe(mcpSignature("tools/call", asked("q")))
    expect(mcpSignature("tools/call", asked("p"))).toBe(mcpSignature("tools/call", '{"arguments":{"a":1},"name":"x"}'))
    expect(mcpSignature("tools/call", '{"name":"y"}')).not.toBe(mcpSignature("tools/call", '{"name":"x"}'))
  })
})

function shuffleKeys(value: unknown, order: Iterator<number>): unknown {
  if (Array.isArray(value)) return value.map((item) => shuffleKeys(item, order))
  if (typeof value !== "object" || value === null) return value
  const entries = Object.entries(value).map(([key, item]) => ({ key, item, rank: Number(order.next().value) }))
  entries.sort((a, b) => a.rank - b.rank)
  return Object.fromEntries(entries.map(({ key, item }) => [key, shuffleKeys(item, order)]))
}

const ID = /^(?:toolu|call)_[AB]$/

function renameIds(value: unknown, rename: (id: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item) => renameIds(item, rename))
  if (typeof value === "string") return ID.test(value) ? rename(value) : value
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, renameIds(item, rename)]))
}

/** The results answer each other's calls: ids change hands in the last two places they occur. */
function swapReferents(request: unknown): unknown {
  const text = JSON.stringify(request)
  const places = [...text.matchAll(/"((?:toolu|call)_[AB])"/g)].slice(-2)
  const [first, second] = places
  return JSON.parse(
    text.slice(0, first!.index) +
      second![0] +
      text.slice(first!.index + first![0].length, second!.index) +
      first![0] +
      text.slice(second!.index + second![0].length),
  )
}

type Path = (string | number)[]

function leafPaths(value: unknown, path: Path = []): Path[] {
  if (typeof value !== "object" || value === null) return [path]
  return Object.entries(value).flatMap(([key, item]) =>
    leafPaths(item, [...path, Array.isArray(value) ? Number(key) : key]),
  )
}
type Holder = Record<string | number, unknown>
const valueAt = (root: unknown, path: Path): unknown => path.reduce((value, key) => (value as Holder)[key], root)
const setAt = (root: unknown, path: Path, value: unknown): void => {
  const holder = valueAt(root, path.slice(0, -1)) as Holder
  holder[path.at(-1)!] = value
}
const changeOf = (value: unknown): unknown =>
  typeof value === "string"
    ? `${value}!`
    : typeof value === "number"
      ? value + 1
      : typeof value === "boolean"
        ? !value
        : "was null"
