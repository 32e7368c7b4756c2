import { canonicalJsonText, readJson } from "@orangebox/contract"
import fc from "fast-check"
import { expect, test } from "vitest"
import { type JsonChange, jsonDifference, nodeAt } from "../src/index.js"

const nodeOf = (text: string) => {
  const reading = readJson(text)
  if (!reading.ok) throw new Error(`not JSON: ${text}`)
  return reading.node
}

const changesOf = (before: string, after: string): JsonChange[] => [...jsonDifference(nodeOf(before), nodeOf(after))]

/** `kind pointer before -> after`, values as they were written. */
function brief(before: string, after: string): string[] {
  return changesOf(before, after).map((change) =>
    change.to === undefined
      ? `${change.kind} ${change.pointer} ${change.before ? before.slice(change.before.start, change.before.end) : ""} -> ${change.after ? after.slice(change.after.start, change.after.end) : ""}`
      : `${change.kind} ${change.pointer} -> ${change.to}`,
  )
}

test("spacing, key order and the spelling of numbers are no change; digits are, however many", () => {
  expect(brief('{"a":1,"b":[2.0]}', '{ "b": [ 2 ], "a": 1 }')).toEqual([])
  expect(brief("[9007199254740993]", "[9007199254740992]")).toEqual(["changed /0 9007199254740993 -> 9007199254740992"])
})

test("one inserted item is one change, whatever comes behind it", () => {
  expect(brief("[1,2,3,4]", "[1,9,2,3,4]")).toEqual(["added /1  -> 9"])
  expect(brief('["a","b","c"]', '["a","c"]')).toEqual(['removed /1 "b" -> '])
})

test("of a key that is written twice, the first is compared with the first", () => {
  expect(brief('{"a":1,"a":2}', '{"a":1,"a":3,"a":4}')).toEqual(["changed /a 2 -> 3", "added /a  -> 4"])
})

test("items with names are compared by name; what changed its place or nothing but its name is told so", () => {
  const tools = (...names: string[]) => JSON.stringify(names.map((name) => ({ name, description: `for ${name[0]}` })))
  expect(brief(tools("read", "write"), tools("write", "read"))).toEqual(["moved /0 -> /1"])
  expect(brief(tools("read", "write"), tools("rite", "write"))).toEqual(['changed /0/name "read" -> "rite"'])
  expect(brief(tools("read", "write"), tools("list", "read", "write"))).toEqual([
    'added /0  -> {"name":"list","description":"for l"}',
  ])
})

test("another id is another item, however alike the rest", () => {
  expect(brief('[{"id":"x","n":1}]', '[{"id":"y","n":1}]')).toEqual([
    'removed /0 {"id":"x","n":1} -> ',
    'added /0  -> {"id":"y","n":1}',
  ])
})

test("content blocks between equal ones are compared by type", () => {
  const blocks = (...texts: string[]) =>
    JSON.stringify([...texts.map((text) => ({ type: "text", text })), { type: "image" }])
  expect(brief(blocks("one", "tail"), blocks("two", "tail"))).toEqual(['changed /0/text "one" -> "two"'])
  expect(brief(blocks("one"), '[{"type":"image"}]')).toEqual(['removed /0 {"type":"text","text":"one"} -> '])
})

test("pointers are escaped, begin where the caller says, and lead to the values told", () => {
  expect([...jsonDifference(nodeOf('{"a/b~":1}'), nodeOf("{}"), "/in")].map(({ pointer }) => pointer)).toEqual([
    "/in/a~1b~0",
  ])
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
      const [before, after] = [nodeOf(JSON.stringify(a)), nodeOf(JSON.stringify(b))]
      for (const change of jsonDifference(before, after)) {
        if (change.before) expect(nodeAt(before, change.pointer)).toBe(change.before)
        else expect(nodeAt(after, change.pointer)).toBe(change.after)
        if (change.to !== undefined) expect(nodeAt(after, change.to)).toBe(change.after)
      }
    }),
  )
})

const named = fc.array(fc.record({ name: fc.constantFrom("a", "b", "c"), n: fc.nat(2) }), { maxLength: 4 })

test("there is a change exactly where the values differ", () => {
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), named), fc.oneof(fc.jsonValue(), named), (a, b) => {
      const [before, after] = [JSON.stringify(a), JSON.stringify(b)]
      expect(changesOf(before, before)).toEqual([])
      expect(changesOf(before, after).length === 0).toBe(canonicalJsonText(before) === canonicalJsonText(after))
    }),
    { numRuns: 2000 },
  )
})

test("hostile nesting costs no stack and ends", () => {
  const deep = (leaf: string) => "[".repeat(20_000) + leaf + "]".repeat(20_000)
  expect(changesOf(deep("1"), deep("2"))).toHaveLength(1)
  expect(changesOf(deep("1"), deep("1"))).toEqual([])
})
