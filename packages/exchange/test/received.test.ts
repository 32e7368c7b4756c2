import fc from "fast-check"
import { expect, test } from "vitest"
import type { PlainLog, PlainSpan } from "../src/formats/otlp/plain.js"
import { decodeReceived, encodeReceived } from "../src/formats/otlp/received.js"

const hex = (length: number) => fc.stringMatching(new RegExp(`^[0-9a-f]{${length}}$`))
const value = fc.oneof(
  fc.string(),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.array(fc.string(), { maxLength: 3 }),
  fc.dictionary(fc.string(), fc.string(), { maxKeys: 2 }),
  // A conversation: cut between its messages.
  fc.array(fc.string({ minLength: 600, maxLength: 1200 }), { minLength: 2, maxLength: 5 }).map((texts) => {
    return JSON.stringify(texts.map((content) => ({ role: "user", content })))
  }),
)
const names = fc.constantFrom(
  "gen_ai.usage.input_tokens",
  "llm.token_count.prompt",
  "pieces",
  "value",
  "a",
  "__proto__",
)
const attributes = fc
  .array(fc.tuple(fc.oneof(names, fc.string({ minLength: 1 })), value), { maxLength: 6 })
  .map((pairs) => {
    const made: Record<string, unknown> = Object.create(null)
    for (const [name, one] of pairs) made[name] = one
    return made
  })
const time = fc.integer({ min: 0, max: 2_000_000_000_000 })
const span: fc.Arbitrary<PlainSpan> = fc.record({
  traceId: hex(32),
  spanId: hex(16),
  parentSpanId: fc.option(hex(16)),
  name: fc.string(),
  startMs: time,
  endMs: time,
  attributes,
  events: fc.array(fc.record({ name: fc.string(), atMs: time, attributes }), { maxLength: 2 }),
  links: fc.array(fc.record({ traceId: hex(32), spanId: hex(16) }), { maxLength: 2 }),
  isError: fc.boolean(),
  statusMessage: fc.string(),
  service: fc.string({ minLength: 1 }),
  scope: fc.string(),
  resource: fc.dictionary(fc.string(), fc.string(), { maxKeys: 2 }),
})
const log: fc.Arbitrary<PlainLog> = fc.record({
  traceId: fc.option(hex(32)),
  spanId: fc.option(hex(16)),
  atMs: time,
  severity: fc.integer({ min: 0, max: 24 }),
  name: fc.string(),
  body: fc.option(value, { nil: undefined }),
  attributes,
  service: fc.string({ minLength: 1 }),
  scope: fc.string(),
})

test("[I-01] what was received is read back from the journal as it was, whatever it held", () => {
  fc.assert(
    fc.property(fc.array(span, { maxLength: 5 }), fc.array(log, { maxLength: 3 }), (spans, logs) => {
      expect(decodeReceived(encodeReceived(spans, logs))).toEqual({ spans, logs })
    }),
    { numRuns: 200 },
  )
})

test("[I-01] a text that many spans repeat is written once, a conversation that grows by its new messages only", () => {
  const said = (at: number) => ({ role: "user", content: `message ${at}: ${"as it was said before ".repeat(100)}` })
  const spans = [1, 2, 3, 4].map((calls) => ({
    ...({
      traceId: "a".repeat(32),
      parentSpanId: null,
      name: "chat",
      startMs: 1,
      endMs: 2,
      events: [],
      links: [],
    } as const),
    ...{ isError: false, statusMessage: "", service: "s", scope: "", resource: {} },
    spanId: String(calls).repeat(16),
    attributes: { "gen_ai.input.messages": JSON.stringify(Array.from({ length: calls }, (_, at) => said(at))) },
  }))
  const written = encodeReceived(spans, [])
  expect([0, 1, 2, 3].map((at) => written.split(`message ${at}:`).length - 1)).toEqual([1, 1, 1, 1])
})
