import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { decodeParts, encodeParts } from "../../src/bodies/recipe.js"
import { decodeLengths, encodeLengths } from "../../src/bodies/varint.js"
import { openBodyStoreForTest } from "./body-store.js"

const id = fc.integer({ min: 0, max: 2 ** 48 })
const run = fc.record({
  level: fc.constant(0),
  first: id,
  count: fc.integer({ min: 1, max: 2 ** 20 }),
  bytes: fc.constant(0),
})
const group = fc.record({ level: fc.integer({ min: 1, max: 15 }), first: id, count: fc.constant(1), bytes: id })

describe("recipes", () => {
  test("decoding is the inverse of encoding", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(run, group)), (parts) => {
        expect(decodeParts(encodeParts(parts))).toEqual(parts)
      }),
    )
    fc.assert(
      fc.property(fc.array(fc.nat(2 ** 20)), (lengths) => {
        expect(decodeLengths(encodeLengths(lengths))).toEqual(lengths)
      }),
    )
  })

  test("bytes that are no recipe are noticed or read as some parts, and never throw", () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        const parts = decodeParts(bytes)
        if (parts !== undefined) expect(parts.every((part) => part.count > 0 && part.first >= 0)).toBe(true)
      }),
    )
    const store = openBodyStoreForTest()
    const stored = store.writer.write(Buffer.alloc(100_000, "some text to keep "))
    store.commit()
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        expect(store.reader.read(bytes, stored.hash).bytes).toBeUndefined()
      }),
    )
  })

  test("[S-02] the recipe of the thousandth call is no longer than that of the hundredth by more than a few bytes", () => {
    const store = openBodyStoreForTest()
    const history: string[] = []
    const lengths: number[] = []
    for (let call = 0; call < 1000; call++) {
      history.push(`{"role":"user","content":"${`question ${call} `.repeat(50)}"}`)
      lengths.push(
        store.writer.write(Buffer.from(`{"messages":[${history.join(",")}],"max_tokens":100}`)).recipe.length,
      )
      store.writer.write(Buffer.from(`{"answer":"${`answer ${call} `.repeat(100)}"}`))
    }
    expect(Math.max(...lengths.slice(900))).toBeLessThan(400)
  })

  test("[S-04] the recipe of a body whose chunks lie all over the store stays far below 64 KiB", () => {
    const store = openBodyStoreForTest()
    const texts = Array.from({ length: 20_000 }, (_, index) => `{"role":"user","content":"${`${index} `.repeat(150)}"}`)
    for (const text of texts) store.writer.write(Buffer.from(`${"x".repeat(1024)},${text},{"role":"end"}`))
    const shuffled = texts.map((_, index) => texts[(index * 7919) % texts.length]!)
    const body = Buffer.from(`[${shuffled.join(",")}]`)
    const stored = store.writer.write(body)
    store.commit()
    expect(stored.recipe.length).toBeLessThan(2048)
    expect(store.reader.read(stored.recipe, stored.hash).bytes?.equals(body)).toBe(true)
    expect(
      store.reader.slice(stored.recipe, 5_000_000, 5_000_100).bytes?.equals(body.subarray(5_000_000, 5_000_100)),
    ).toBe(true)
  })
})
