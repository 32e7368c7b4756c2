import {
  amountIn,
  asRecord,
  countIn,
  integerIn,
  listIn,
  numberIn,
  payloadOf,
  recordIn,
  recordsIn,
  textIn,
  textsIn,
} from "@orangebox/contract"
import fc from "fast-check"
import { describe, expect, test } from "vitest"

const READERS = [textIn, numberIn, amountIn, integerIn, countIn, listIn, textsIn, recordsIn, recordIn]

describe("a payload read without trusting its shape", () => {
  test("gives what is there when it is of the type asked for", () => {
    const payload = {
      name: "read_file",
      ms: 1.5,
      count: 3,
      code: -1,
      list: ["a", 1, { b: 2 }, null, [3]],
      inner: { c: 4 },
    }
    expect(textIn(payload, "name")).toBe("read_file")
    expect(numberIn(payload, "code")).toBe(-1)
    expect(integerIn(payload, "code")).toBe(-1)
    expect(amountIn(payload, "ms")).toBe(1.5)
    expect(countIn(payload, "count")).toBe(3)
    expect(listIn(payload, "list")).toHaveLength(5)
    expect(textsIn(payload, "list")).toEqual(["a"])
    expect(recordsIn(payload, "list")).toEqual([{ b: 2 }])
    expect(recordIn(payload, "inner")).toEqual({ c: 4 })
  })

  test("a number that cannot be what is asked for is unknown, not rounded and not zero", () => {
    const payload = { fraction: 1.5, negative: -1, huge: 2 ** 53, endless: Number.POSITIVE_INFINITY, none: Number.NaN }
    expect(countIn(payload, "fraction")).toBeUndefined()
    expect(countIn(payload, "negative")).toBeUndefined()
    expect(countIn(payload, "huge")).toBeUndefined()
    expect(amountIn(payload, "negative")).toBeUndefined()
    expect(amountIn(payload, "endless")).toBeUndefined()
    expect(numberIn(payload, "none")).toBeUndefined()
  })

  test("an event without a payload, or with one that is no object, reads as an empty one", () => {
    for (const event of [undefined, null, {}, { payload: null }, { payload: [1] }, { payload: "text" }]) {
      expect(payloadOf(event)).toEqual({})
    }
    expect(asRecord([])).toBeUndefined()
  })

  test("no payload makes a reader throw", () => {
    fc.assert(
      fc.property(fc.anything(), fc.string(), (anything, name) => {
        const payload = payloadOf({ payload: anything })
        for (const read of READERS) {
          read(payload, name)
          read({ value: anything }, "value")
        }
      }),
    )
  })
})
