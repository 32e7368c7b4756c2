import { readJson } from "@orangebox/contract"
import { textDeltas } from "@orangebox/dialects"
import {
  BinaryEventRedactor,
  createRuleset,
  linesOfBinaryEvents,
  type Piece,
  writeBinaryEvent,
} from "@orangebox/redaction"
import fc from "fast-check"
import { expect, test } from "vitest"
import { drawn } from "../../../redaction/test/fake-secrets.js"

const ruleset = createRuleset({ key: new Uint8Array(32).fill(7) })
const HEADERS = Buffer.from("\x0b:event-type\x07\x00\x05chunk", "latin1")
const encoded = (event: unknown): Buffer =>
  writeBinaryEvent(
    HEADERS,
    Buffer.from(JSON.stringify({ bytes: Buffer.from(JSON.stringify(event)).toString("base64"), p: "abc" })),
  )
const delta = (text: string, index = 0): unknown => ({
  type: "content_block_delta",
  index,
  delta: { type: "text_delta", text },
})
const inPieces = (text: string, width: number): string[] => text.match(new RegExp(`[\\s\\S]{1,${width}}`, "g")) ?? []

function redacted(bytes: Buffer, cuts: readonly number[] = []): { bytes: Buffer; pieces: Piece[] } {
  const redactor = new BinaryEventRedactor(ruleset, textDeltas)
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b)
  const pieces = [0, ...places].flatMap((from, i) =>
    redactor.push(bytes.subarray(from, places[i] ?? bytes.length), { atMicros: i }),
  )
  pieces.push(...redactor.finish({ atMicros: 99 }))
  return { bytes: Buffer.concat(pieces.map((piece) => piece.bytes)), pieces }
}

function saidIn(bytes: Buffer): string {
  const { lines } = linesOfBinaryEvents(bytes)
  return lines
    .map((line) => {
      const reading = readJson(line)
      return reading.ok
        ? textDeltas(reading.node)
            .deltas.map(({ node }) => node.value)
            .join("")
        : ""
    })
    .join("")
}

test("[X-04] a key cut over the messages of a binary event stream is masked, and every checksum is right", () => {
  const key = `sk-ant${"-api03-"}${drawn(93)}AA`
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), fc.array(fc.nat(), { maxLength: 6 }), (width, cuts) => {
      const stream = Buffer.concat(
        [
          delta("the key is "),
          ...inPieces(key, width).map((text) => delta(text)),
          delta(" ok"),
          { type: "message_stop" },
        ].map(encoded),
      )
      const { bytes, pieces } = redacted(stream, cuts)
      const said = saidIn(bytes)
      expect(said).toMatch(/^the key is sk-…redacted….{3} ok$/)
      expect(linesOfBinaryEvents(bytes)).toMatchObject({ isDamaged: false })
      expect(linesOfBinaryEvents(bytes).lines).toHaveLength(linesOfBinaryEvents(stream).lines.length)
      expect(pieces.flatMap(({ masks }) => masks).map(({ rule }) => rule)).toContain("anthropic-key")
    }),
  )
})

test("[X-04] a binary event stream without secrets is stored byte for byte", () => {
  const stream = Buffer.concat([delta("hello "), delta("world"), { type: "message_stop" }].map(encoded))
  expect(redacted(stream, [5, 40, 77]).bytes.equals(stream)).toBe(true)
})

test("[X-04] two blocks in turn are followed each for itself", () => {
  const key = `ghp${"_"}${drawn(36)}`
  const pieces = inPieces(key, 5)
  const stream = Buffer.concat(pieces.flatMap((text) => [delta(text, 0), delta("word ", 1)]).map(encoded))
  const said = linesOfBinaryEvents(redacted(stream).bytes).lines.join("")
  for (const piece of pieces.slice(1, -1)) expect(said).not.toContain(`"${piece}"`)
})

test("[X-04] what carries no JSON or has a wrong checksum is withheld, and the rest with it", () => {
  const secret = `ghp${"_"}${drawn(36)}`
  const plain = writeBinaryEvent(HEADERS, Buffer.from(`half of ${secret.slice(0, 12)}`))
  const withPlain = redacted(Buffer.concat([encoded(delta("a ")), plain, encoded(delta("b"))])).bytes
  expect(withPlain.includes(secret.slice(0, 12))).toBe(false)
  expect(linesOfBinaryEvents(withPlain).lines).toHaveLength(3)

  const broken = Buffer.from(encoded(delta(secret)))
  broken[broken.length - 1]! ^= 1
  const { bytes, pieces } = redacted(Buffer.concat([encoded(delta("fine ")), broken, encoded(delta("more"))]))
  expect(
    bytes.includes(
      Buffer.from(JSON.stringify(delta(secret)))
        .toString("base64")
        .slice(110, 130),
    ),
  ).toBe(false)
  expect(pieces.at(-1)!.masks.map(({ rule }) => rule)).toEqual(["withheld"])
  expect(linesOfBinaryEvents(bytes).isDamaged).toBe(false)
})
