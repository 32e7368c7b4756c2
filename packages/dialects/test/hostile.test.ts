import fc from "fast-check"
import { describe, expect, test } from "vitest"
import {
  callSignature,
  canonicalRequestText,
  DIALECTS,
  EMPTY_WIRE_STATE,
  foldResponse,
  readableText,
  readRequest,
  reduceWire,
} from "../src/index.js"

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

/** JSON with the words of the protocols in all the wrong places. */
const word = fc.constantFrom(
  ...[
    "type",
    "content",
    "messages",
    "input",
    "tools",
    "system",
    "role",
    "text",
    "id",
    "index",
    "delta",
    "message",
    "usage",
    "choices",
  ],
  ...[
    "tool_calls",
    "function",
    "arguments",
    "item",
    "output",
    "response",
    "candidates",
    "parts",
    "output_index",
    "content_index",
  ],
  ...[
    "cache_control",
    "source",
    "data",
    "signature",
    "call_id",
    "tool_use_id",
    "metadata",
    "container",
    "error",
    "__proto__",
    "constructor",
  ],
)
const value = fc.constantFrom<unknown>(
  ...[
    "text",
    "tool_use",
    "tool_result",
    "message",
    "message_start",
    "content_block_start",
    "content_block_delta",
    "text_delta",
  ],
  ...[
    "response.output_item.added",
    "response.output_text.delta",
    "response.completed",
    "function_call",
    "user",
    "assistant",
    "base64",
  ],
  ...[
    "x-anthropic-billing-header: a",
    "data:image/png;base64,@@",
    "[DONE]",
    "",
    -1,
    0,
    1e300,
    4_294_967_295,
    1.5,
    true,
    null,
  ],
)
const json = fc.letrec<{ any: unknown }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 5 },
    value,
    fc.array(tie("any"), { maxLength: 4 }),
    fc.array(fc.tuple(word, tie("any")), { maxLength: 5 }).map((entries) => Object.fromEntries(entries)),
  ),
})).any

describe("recorded bytes are hostile", () => {
  test.each(DIALECTS.map((dialect) => ({ id: dialect.id, dialect })))(
    "$id reads any answer without throwing",
    ({ dialect }) => {
      fc.assert(
        fc.property(fc.array(json, { maxLength: 8 }), (events) => {
          const stream = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("")
          const folded = foldResponse(dialect, bytes(stream))
          expect(["complete", "partial"]).toContain(folded.ended)
          foldResponse(dialect, bytes(JSON.stringify(events)))
          for (const event of events) foldResponse(dialect, bytes(JSON.stringify(event)))
          expect(readableText(bytes(stream), "text/event-stream", dialect)).toBeTypeOf("string")
        }),
        { numRuns: 200 },
      )
      expect(Object.keys(Object.prototype)).toEqual([])
    },
  )

  test.each(DIALECTS.map((dialect) => ({ id: dialect.id, dialect })))(
    "[P1] $id canonicalises any request, and twice is once",
    ({ dialect }) => {
      fc.assert(
        fc.property(json, (body) => {
          const sign = (text: string) => ({ method: "POST", path: "/x", body: bytes(text), dialect })
          const once = canonicalRequestText(sign(JSON.stringify(body)))!
          expect(canonicalRequestText(sign(once))).toBe(once)
          callSignature(sign(JSON.stringify(body)))
          readRequest(dialect, bytes(JSON.stringify(body)))
        }),
        { numRuns: 200 },
      )
    },
  )

  test("the wire reducer follows any traffic without throwing", () => {
    const path = fc.constantFrom(
      "/v1/messages",
      "/v1/chat/completions",
      "/v1/responses",
      "/v1beta/models/g:generateContent",
    )
    fc.assert(
      fc.property(fc.array(fc.tuple(path, json, json), { maxLength: 6 }), (calls) => {
        let state = EMPTY_WIRE_STATE
        calls.forEach(([at, request, response], index) => {
          const call = `c${index}`
          state = reduceWire(state, {
            kind: "request",
            call,
            atMs: index,
            method: "POST",
            path: at,
            body: bytes(JSON.stringify(request)),
          }).state
          const answer = foldResponse(DIALECTS[index % DIALECTS.length]!, bytes(JSON.stringify(response)))
          state = reduceWire(state, { kind: "response", call, atMs: index, status: 200, end: "complete", answer }).state
        })
      }),
      { numRuns: 100 },
    )
  })

  test("bytes that are no text do no harm", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (body) => {
        for (const dialect of DIALECTS) {
          foldResponse(dialect, body)
          readRequest(dialect, body)
          callSignature({ method: "POST", path: "/x", body, dialect })
        }
        expect(readableText(body, "application/octet-stream")).toBeTypeOf("string")
      }),
    )
  })

  test("an answer nested twenty thousand deep is kept, not folded", () => {
    const deep = `${'{"delta":'.repeat(20_000)}1${"}".repeat(20_000)}`
    const frames = [
      `{"choices":[{"index":0,"delta":${deep}}]}`,
      `{"type":"response.output_item.done","output_index":0,"item":${deep}}`,
      `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","input":${deep}}}`,
      `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":${deep}}}]}}]}`,
    ]
    for (const dialect of DIALECTS) {
      for (const frame of frames) {
        const folded = foldResponse(dialect, bytes(`data: ${frame}\n\n`))
        expect(folded.unknownEvents).toHaveLength(1)
        expect(foldResponse(dialect, bytes(frame)).form).toBe("other")
      }
    }
  })

  test("a request nested twenty thousand deep is signed", () => {
    const deep = `{"model":"m","messages":[{"role":"user","content":[{"type":"tool_use","id":"a","name":"n","input":${"[".repeat(20_000)}1${"]".repeat(20_000)}}]}]}`
    for (const dialect of DIALECTS) {
      expect(
        callSignature({ method: "POST", path: "/x", body: bytes(deep), dialect, mask: (text) => text }).sig,
      ).toMatch(/^sha256:/)
      expect(readRequest(dialect, bytes(deep))).toBeDefined()
    }
  })
})
