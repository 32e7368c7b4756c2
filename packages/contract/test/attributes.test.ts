import { flattenAttributes, validate } from "@orangebox/contract"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { MAX_ATTRIBUTES } from "../src/attributes.js"
import { eventOf } from "./run-of.js"

const stringify = (value: unknown): string => JSON.stringify(value) ?? "undefined"
const flatten = (input: unknown): ReturnType<typeof flattenAttributes> => flattenAttributes(input, stringify)

describe("[C-09] attributes", () => {
  test("[C-09] scalars stay as they are", () => {
    const input = { text: "a", count: 1.5, ok: true, nothing: null }
    expect(flatten(input)).toEqual({ attributes: input, marks: undefined, dropped: 0 })
    expect(flatten(undefined)).toBeUndefined()
    expect(flatten(null)).toBeUndefined()
  })

  test("[C-09] the result is a copy: a caller who changes the object later changes nothing", () => {
    const input = { a: 1 }
    const flat = flatten(input)
    input.a = 2
    expect(flat!.attributes).toEqual({ a: 1 })
  })

  test("[C-09] nested values are stringified with a mark, not rejected", () => {
    expect(flatten({ user: { id: 1 }, list: [1, 2] })).toEqual({
      attributes: { user: '{"id":1}', list: "[1,2]" },
      marks: { user: "json", list: "json" },
      dropped: 0,
    })
  })

  test("[C-09] what JSON has no form for becomes text with a mark", () => {
    const flat = flatten({
      big: 12345678901234567890n,
      fn: () => 1,
      sym: Symbol("s"),
      nan: Number.NaN,
      gone: undefined,
    })
    expect(flat!.attributes).toEqual({ big: "12345678901234567890", fn: "[function]", sym: "Symbol(s)", nan: "NaN" })
    expect(flat!.marks).toEqual({ big: "text", fn: "text", sym: "text", nan: "text" })
  })

  test("[C-09] what cannot be read is null with a mark, and the others are kept", () => {
    const input = {
      a: 1,
      get b(): never {
        throw new Error("no")
      },
      c: {
        toJSON: () => {
          throw new Error("no")
        },
      },
    }
    expect(flatten(input)).toEqual({
      attributes: { a: 1, b: null, c: null },
      marks: { b: "unreadable", c: "unreadable" },
      dropped: 0,
    })
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    expect(flatten(proxy)).toEqual({ attributes: {}, marks: { "*": "unreadable" }, dropped: 0 })
  })

  test("[C-09] a __proto__ key is an attribute like any other", () => {
    const flat = flatten(JSON.parse('{"__proto__": {"polluted": true}, "constructor": "x"}'))!
    expect(JSON.stringify(flat.attributes)).toBe('{"__proto__":"{\\"polluted\\":true}","constructor":"x"}')
    expect(Object.getPrototypeOf(flat.attributes)).toBe(Object.prototype)
    expect(JSON.stringify(flat.marks)).toBe('{"__proto__":"json"}')
  })

  test("[C-09] more than the limit are dropped and counted; a million cost no more than listing them", () => {
    const many: Record<string, number> = {}
    for (let i = 0; i < 1_000_000; i++) many[`k${i}`] = i
    const flat = flatten(many)!
    expect(Object.keys(flat.attributes)).toHaveLength(MAX_ATTRIBUTES)
    expect(flat.dropped).toBe(1_000_000 - MAX_ATTRIBUTES)
  })

  test("[C-09] long texts and names are cut with a mark, never through a surrogate pair", () => {
    const flat = flatten({ text: `${"x".repeat(4095)}\u{1f600}`, ["n".repeat(300)]: 1, ["n".repeat(301)]: 2 })!
    expect(flat.attributes["text"]).toBe("x".repeat(4095))
    expect(flat.attributes["n".repeat(256)]).toBe(1)
    expect(flat.marks).toEqual({ text: "truncated", ["n".repeat(256)]: "truncated" })
    expect(flat.dropped).toBe(1)
  })

  test("[C-09] whatever is passed, the result is a valid part of an event", () => {
    fc.assert(
      fc.property(fc.anything({ withBigInt: true, withDate: true, withMap: true }), (input) => {
        const flat = flattenAttributes(input, stringify)
        if (flat === undefined) return
        const event = eventOf(
          "log",
          { level: "info", message: "" },
          {
            attributes: flat.attributes,
            ...(flat.marks ? { attribute_marks: flat.marks } : {}),
          },
        )
        expect(validate(event)).toEqual([])
      }),
      { numRuns: 1000 },
    )
  })
})
