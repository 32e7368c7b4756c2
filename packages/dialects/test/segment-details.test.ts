import type { Segment } from "@orangebox/contract"
import { expect, test } from "vitest"
import { dialectOf, readRequest } from "../src/index.js"
import { volatileSpans, withoutVolatile } from "../src/request/volatile-spans.js"

const segmentsOf = (dialect: string, request: object | string): readonly Segment[] => {
  const text = typeof request === "string" ? request : JSON.stringify(request)
  return readRequest(dialectOf(dialect)!, Buffer.from(text))!.detailed()
}

const said = (text: string): string[] => {
  const json = JSON.stringify(text)
  return volatileSpans(json).map(({ kind, start, length }) => `${kind} ${json.slice(start, start + length)}`)
}

test("[R-17] volatile values are found by their shape, wherever they stand", () => {
  expect(said("now 09:41:07, then 3:05 pm")).toEqual(["time 09:41:07", "time 3:05 pm"])
  expect(said("a\n2026-11-16T19:42:25.123Z")).toEqual(["time 2026-11-16T19:42:25.123Z"])
  expect(said("Mon Nov 16, 2026 or 16 Nov 2026 or 11/16/2026 or 16.11.2026 or 2026/11/16")).toEqual([
    "time Nov 16, 2026",
    "time 16 Nov 2026",
    "time 11/16/2026",
    "time 16.11.2026",
    "time 2026/11/16",
  ])
  expect(said("1763322145 1763322145123")).toEqual(["epoch 1763322145", "epoch 1763322145123"])
  expect(said("\nab550e84-e29b-41d4-a716-446655440000")).toEqual(["uuid ab550e84-e29b-41d4-a716-446655440000"])
  expect(said("9f86d081884c7d659a2feaa0 and 12345678901234567")).toEqual([
    "hex 9f86d081884c7d659a2feaa0",
    "hex 12345678901234567",
  ])
  expect(said('turn 7, request #12, "seq":13, step=4, 3 of 10')).toEqual([
    "counter 7",
    "counter 12",
    "counter 13",
    "counter 4",
    "counter 3 of 10",
  ])
  expect(said("in /tmp/agent-Xy12/a1.txt and /var/folders/z1/T")).toEqual([
    "temp_path /tmp/agent-Xy12/a1.txt",
    "temp_path /var/folders/z1/T",
  ])
  expect(said("version 1.2.3, port 8080, 16:9, value_12, gpt-5.1, 250 items, x1763322145y, cafe")).toEqual([])
})

test("[R-17] two texts that differ in a clock only are equal without their volatile values, others are not", () => {
  const stable = (text: string) => withoutVolatile(text, volatileSpans(text))
  expect(stable("now 09:41:07 in Bern")).toBe(stable("now 9:05:59 in Bern"))
  expect(stable("now 09:41:07 in Bern")).not.toBe(stable("now 09:41:07 in Basel"))
})

test("[R-17] a segment says where it stands, what is marked to be cached and for how long, and which call it belongs to", () => {
  const segments = segmentsOf("anthropic-messages", {
    tools: [
      { name: "a", input_schema: {} },
      { name: "b", input_schema: {} },
    ],
    system: [{ type: "text", text: "x", cache_control: { type: "ephemeral", ttl: "1h" } }],
    messages: [
      {
        role: "assistant",
        content: [
          { type: "text", text: "t" },
          { type: "tool_use", id: "toolu_1", name: "a", input: {} },
        ],
      },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", is_error: true, content: "no" }] },
    ],
    cache_control: { type: "ephemeral" },
  })
  expect(
    segments.map(({ message, part, mark, tool_call_id, is_error }) => [message, part, mark, tool_call_id, is_error]),
  ).toEqual([
    [undefined, 0, undefined, undefined, undefined],
    [undefined, 1, undefined, undefined, undefined],
    [undefined, 0, { ttl: "1h" }, undefined, undefined],
    [0, 0, undefined, undefined, undefined],
    [0, 1, undefined, "toolu_1", undefined],
    [1, 0, { ttl: null }, "toolu_1", true],
  ])
})

test("[R-17] another order of keys keeps the order-free hash, also in JSON inside a text and under a cache mark", () => {
  const one = { type: "function", name: "a", parameters: { type: "object", properties: { x: {}, y: {} } } }
  const two = { parameters: { properties: { y: {}, x: {} }, type: "object" }, name: "a", type: "function" }
  const asked = (tool: object, args: string) => ({
    tools: [tool],
    input: [{ type: "function_call", call_id: "c1", name: "a", arguments: args }],
  })
  const first = segmentsOf("openai-responses", asked(one, '{"x":1,"y":[2]}'))
  const second = segmentsOf("openai-responses", asked(two, '{"y": [2], "x": 1}'))
  const other = segmentsOf("openai-responses", asked({ ...two, name: "b" }, '{"y":[1],"x":1}'))
  for (const at of [0, 1]) {
    expect(first[at]!.segment_hash).not.toBe(second[at]!.segment_hash)
    expect(first[at]!.canonical_hash).toBe(second[at]!.canonical_hash)
    expect(first[at]!.canonical_hash).not.toBe(other[at]!.canonical_hash)
  }
  const marked = (mark: object) =>
    segmentsOf("anthropic-messages", { system: [{ type: "text", text: "x", ...mark }], messages: [] })
  expect(marked({ cache_control: { type: "ephemeral" } })[0]!.canonical_hash).toBe(marked({})[0]!.canonical_hash)
})

test("[R-17] the same picture in another spelling is the same media, in every dialect", () => {
  const bytes = Buffer.from("\x89PNG a picture, more or less, long enough to wrap")
  const plain = bytes.toString("base64")
  const wrapped = plain.replace(/(.{20})/g, "$1\n")
  const forms: [string, (data: string) => object][] = [
    [
      "anthropic-messages",
      (data) => ({
        messages: [
          { role: "user", content: [{ type: "image", source: { type: "base64", media_type: "image/png", data } }] },
        ],
      }),
    ],
    [
      "openai-chat",
      (data) => ({
        messages: [
          { role: "user", content: [{ type: "image_url", image_url: { url: `data:image/png;base64,${data}` } }] },
        ],
      }),
    ],
    [
      "openai-responses",
      (data) => ({
        input: [{ role: "user", content: [{ type: "input_image", image_url: `data:image/png;base64,${data}` }] }],
      }),
    ],
    ["gemini", (data) => ({ contents: [{ role: "user", parts: [{ inlineData: { mimeType: "image/png", data } }] }] })],
    [
      "anthropic-messages",
      (data) => ({
        messages: [
          {
            role: "user",
            content: [
              {
                type: "tool_result",
                tool_use_id: "t",
                content: [{ type: "image", source: { type: "base64", media_type: "image/png", data } }],
              },
            ],
          },
        ],
      }),
    ],
  ]
  const hashes = forms.map(([dialect, form]) => {
    const [first] = segmentsOf(dialect, form(plain))
    const [second] = segmentsOf(dialect, form(wrapped))
    expect(first!.segment_hash).not.toBe(second!.segment_hash)
    expect(second!.media_hash).toBe(first!.media_hash)
    expect(first!.volatile).toBeUndefined()
    return first!.media_hash
  })
  expect(new Set(hashes).size).toBe(1)
  expect(hashes[0]).toMatch(/^sha256:/)
  const linked = segmentsOf("openai-chat", {
    messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: "https://a.test/b.png" } }] }],
  })
  expect(linked[0]!.media_hash).toBeUndefined()
})

test("[R-17] volatile places are counted in bytes of the segment, and many of them are counted and not all listed", () => {
  const [segment] = segmentsOf("anthropic-messages", { system: "Grüße, jetzt 09:41:07 ü 1763322145", messages: [] })
  const sent = Buffer.from(JSON.stringify("Grüße, jetzt 09:41:07 ü 1763322145"))
  expect(
    segment!.volatile!.map(({ kind, start, length }) => [kind, sent.subarray(start, start + length).toString()]),
  ).toEqual([
    ["time", "09:41:07"],
    ["epoch", "1763322145"],
  ])
  const [many] = segmentsOf("anthropic-messages", {
    system: Array.from({ length: 40 }, (_, i) => `step ${i}`).join(", "),
    messages: [],
  })
  expect([many!.volatile!.length, many!.volatile_count]).toEqual([16, 40])
})
