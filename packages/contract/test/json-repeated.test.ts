import { canonicalJsonNode, readJson } from "@orangebox/contract"
import fc from "fast-check"
import { expect, test } from "vitest"

const value = fc.jsonValue({ maxDepth: 4 })
/** Texts with every way to write a string or a number, not only the one of `JSON.stringify`. */
const text = fc.oneof(
  value.map((any) => JSON.stringify(any)),
  value.map((any) => JSON.stringify(any, null, 2)),
  value.map((any) => JSON.stringify(any).replace(/[a-z]/g, (letter) => `\\u00${letter.charCodeAt(0).toString(16)}`)),
  fc.constantFrom(
    '{"a":12,"b":[1,2,{"c":"\\/x"}]}',
    '{"a":123,"b":[1,2]}',
    '["\\u000a","\\n","\\u001F","\\u001f","\\\\u0041"]',
  ),
  fc.constantFrom(
    "[1.0,1e3,12345678901234567890]",
    '{"a":{"a":1},"a":"\ud800"}',
    "[[[[[[1,",
    '"\\ud83d\\ude00 \ud83d\ude00"',
  ),
)

test("[C-07] a text that begins like an earlier one is read as if there were no earlier one", () => {
  fc.assert(
    fc.property(text, text, fc.nat(), fc.nat(), (first, other, cut, shared) => {
      const earlier = readJson(first)
      if (!earlier.ok) return
      const at = cut % (first.length + 1)
      for (const next of [
        first,
        first.slice(0, at) + other,
        first.slice(0, at) + first.slice(at + 1),
        first.slice(0, at),
        first.slice(0, at) + other + first.slice(at),
      ]) {
        let same = 0
        while (same < Math.min(first.length, next.length) && first[same] === next[same]) same++
        for (const head of [same, shared % (same + 1)]) {
          let tail = 0
          while (tail < Math.min(first.length, next.length) - head && first.at(-tail - 1) === next.at(-tail - 1)) tail++
          const { node } = earlier
          expect(readJson(next, { node, length: first.length, head, tail })).toEqual(readJson(next))
        }
      }
    }),
  )
})

test("[C-07] members behind a change stand where they stand in the new text", () => {
  fc.assert(
    fc.property(text, text, text, (before, after, kept) => {
      const first = `{"messages":${before},"tools":${kept},"n": 1}`
      const next = `{"messages":${after},"tools":${kept},"n": 1}`
      const earlier = readJson(first)
      if (!earlier.ok) return
      const tail = `,"tools":${kept},"n": 1}`.length
      const shared = { node: earlier.node, length: first.length, head: '{"messages":'.length, tail }
      expect(readJson(next, shared)).toEqual(readJson(next))
    }),
  )
})

test("canonical text is the same whether the strings are written anew or taken from the text that was read", () => {
  fc.assert(
    fc.property(text, (written) => {
      const reading = readJson(written)
      if (!reading.ok) return
      expect(canonicalJsonNode(reading.node, { text: written })).toBe(canonicalJsonNode(reading.node))
    }),
  )
})

test("canonical text is the same when the text of some values is known already", () => {
  fc.assert(
    fc.property(value, fc.infiniteStream(fc.boolean()), (any, isKnown) => {
      const reading = readJson(JSON.stringify([any, any]))
      if (!reading.ok || reading.node.kind !== "array") return
      const known = new Map(
        reading.node.items.flatMap((item) => (isKnown.next().value ? [[item, canonicalJsonNode(item)] as const] : [])),
      )
      expect(canonicalJsonNode(reading.node, { known })).toBe(canonicalJsonNode(reading.node))
    }),
  )
})

test("a value nested deeper than the call stack goes is written the same way", () => {
  const deep = `${'{"b":1,"a":['.repeat(20_000)}"x"${"]}".repeat(20_000)}`
  const reading = readJson(deep)
  const expected = `${'{"a":['.repeat(20_000)}"x"${'],"b":1}'.repeat(20_000)}`
  expect(reading.ok && canonicalJsonNode(reading.node) === expected).toBe(true)
})
