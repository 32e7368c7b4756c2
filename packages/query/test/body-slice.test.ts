import { estimateTokens, prettyJsonText } from "@orangebox/text"
import fc from "fast-check"
import { expect, test } from "vitest"
import { MIN_SLICE_BUDGET } from "../src/body-slice.js"
import { sliceBody } from "../src/index.js"

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

test("[Q-02] a body that fits is shown whole and exact", () => {
  const text = '{"b": 1.0,\t"a":  [9007199254740993]}\n'
  expect(sliceBody(bytesOf(text))).toEqual({
    form: "text",
    text,
    caption: "bytes 0–36 of 37",
    from: 0,
    to: 37,
    total: 37,
    nextCursor: undefined,
  })
})

test("[Q-02] slices keep to the budget, cut no character, and together are the body", () => {
  const text = fc.array(fc.constantFrom("a", "é", "日", "👋🏽", "\n", "word ", "0123", "𝔘"), { maxLength: 900 })
  fc.assert(
    fc.property(text, fc.integer({ min: MIN_SLICE_BUDGET, max: 200 }), (parts, budget) => {
      const whole = parts.join("")
      let read = ""
      for (let cursor: number | undefined = 0; cursor !== undefined; ) {
        const slice = sliceBody(bytesOf(whole), { budget, cursor })
        expect(slice.from).toBe(cursor)
        expect(estimateTokens(slice.text) + estimateTokens(slice.caption)).toBeLessThanOrEqual(budget)
        read += slice.text
        cursor = slice.nextCursor
      }
      expect(read).toBe(whole)
    }),
    { numRuns: 200 },
  )
})

test("[Q-02] a cursor inside a character begins at that character", () => {
  const slice = sliceBody(bytesOf("aé👋b"), { cursor: 5 })
  expect(slice).toMatchObject({ from: 3, text: "👋b" })
})

test("[Q-02] bytes that are not text are shown in hex", () => {
  const slice = sliceBody(Uint8Array.from([0x7f, 0x45, 0x4c, 0x46, 0, 1, 0xff]))
  expect(slice).toMatchObject({ form: "hex", caption: "bytes in hex 0–6 of 7", to: 7 })
  expect(slice.text).toBe("00000000  7f 45 4c 46 00 01 ff                             |.ELF...|")
})

test("[Q-02] a body that stops being text half way is hex from there", () => {
  const bytes = Uint8Array.from([...bytesOf("x".repeat(70_000)), 0xff, 0xfe])
  expect(sliceBody(bytes, { cursor: 0, budget: 100 }).form).toBe("text")
  expect(sliceBody(bytes, { cursor: 69_990 })).toMatchObject({ form: "hex", to: 70_002, nextCursor: undefined })
})

test("[Q-02] any bytes can be read to the end", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), fc.boolean(), (bytes, pretty) => {
      let cursor: number | undefined = 0
      for (let pages = 0; cursor !== undefined; pages++) {
        expect(pages).toBeLessThan(500)
        const slice = sliceBody(bytes, { budget: 64, cursor, pretty })
        expect(slice.nextCursor ?? slice.total).toBe(slice.to)
        cursor = slice.nextCursor
      }
    }),
  )
})

test("[Q-03] text bodies are shown with their control characters visible", () => {
  expect(sliceBody(bytesOf("a\x1b[31mb\r\n\u202ec")).text).toBe("a␛[31mb␍\n\\u{202e}c")
})

test("[Q-02] a JSON body can be shown indented, anything else stays as it is", () => {
  const text = '{"a":[1.0,1e400],"n":9007199254740993}'
  const pretty = prettyJsonText(text)
  expect(sliceBody(bytesOf(text), { pretty: true })).toMatchObject({ form: "pretty", text: pretty })
  expect(sliceBody(bytesOf("not json {"), { pretty: true }).form).toBe("text")
})

test("[Q-02] a body with millions of escapes is indented like any other", () => {
  const body = new TextEncoder().encode(`{"log":"${"\\n".repeat(4_000_000)}"}`)
  expect(sliceBody(body, { pretty: true })).toMatchObject({ form: "pretty", total: body.length + 5 })
})

test("[Q-02] so many bytes at most, but never less than a character, so that reading on always ends", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", minLength: 1 }), fc.integer({ min: 1, max: 9 }), (text, maxBytes) => {
      const body = new TextEncoder().encode(text)
      let shown = 0
      for (let cursor: number | undefined = 0; cursor !== undefined; ) {
        const slice = sliceBody(body, { cursor, maxBytes })
        expect(slice.from).toBe(shown)
        expect(slice.to).toBeGreaterThan(slice.from)
        expect(slice.to - slice.from).toBeLessThanOrEqual(Math.max(4, maxBytes))
        expect(slice.caption).toContain(`of ${body.length}`)
        shown = slice.to
        cursor = slice.nextCursor
      }
      expect(shown).toBe(body.length)
    }),
  )
  const hex = sliceBody(Uint8Array.of(0, 1, 2, 3, 4), { cursor: 1, maxBytes: 2 })
  expect(hex).toMatchObject({ form: "hex", from: 1, to: 3, nextCursor: 3, total: 5 })
  expect(hex.text).toContain("01 02 ")
})
