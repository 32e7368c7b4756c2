import fc from "fast-check"
import { describe, expect, test } from "vitest"
import type { CacheCall, CacheSegment } from "../../src/cache/cache-call.js"
import { bandsOf, columnsOfBands } from "../../src/strata/bands.js"
import { breakOf, droppedOf, paidOf } from "../../src/strata/breaks.js"
import { mergeBands } from "../../src/strata/merge-bands.js"
import { columnsOfCalls, sharesOf } from "../../src/strata/pieces.js"

const segment = (hash: string, length: number, more: Partial<CacheSegment> = {}): CacheSegment => ({
  ...{ hash, length, contributor: "user", kind: "history", role: "user", mark: undefined },
  ...{ canonical_hash: undefined, media_hash: undefined, stable_hash: undefined, volatile: undefined },
  ...more,
})

const call = (n: number, segments: readonly CacheSegment[], usage: Partial<CacheCall> = {}): CacheCall =>
  ({
    ...{ n, segments, told: [], prompt: null, read: null, written: null, follows: [] },
    context: { saidAfter: [], step: { model: undefined, attributes: {} } },
    ...usage,
  }) as unknown as CacheCall

/** Prompts as agents send them: they grow, are cut, summed up, and change in the middle. */
const anyLane = fc
  .array(
    fc.record({
      texts: fc.array(
        fc.record({ hash: fc.constantFrom(..."abcdefghij"), length: fc.integer({ min: 0, max: 4000 }) }),
        {
          maxLength: 12,
        },
      ),
      prompt: fc.option(fc.integer({ min: 0, max: 20_000 })),
      read: fc.option(fc.integer({ min: 0, max: 20_000 })),
      mark: fc.option(fc.integer({ min: 0, max: 11 })),
    }),
    { maxLength: 8 },
  )
  .map((calls) => {
    // The same text has the same length, wherever it stands.
    const lengths = new Map<string, number>()
    return calls.map(({ texts, prompt, read, mark }, at) =>
      call(
        at + 1,
        texts.map(({ hash, length }, index) => {
          if (!lengths.has(hash)) lengths.set(hash, length)
          return segment(hash, lengths.get(hash)!, index === mark ? { mark: { ttl: null } } : {})
        }),
        { prompt, read: read === null || prompt === null ? read : Math.min(read, prompt) },
      ),
    )
  })

describe("[O-11] strata", () => {
  test("bands give back every column: the pieces of each prompt, in their order, each at its place", () => {
    fc.assert(
      fc.property(anyLane, (calls) => {
        const { pieces, columns } = columnsOfCalls(calls)
        const back = columnsOfBands(bandsOf(columns), columns.length)
        columns.forEach((column, at) => {
          expect(column.pieces.map(({ piece }) => pieces[piece]!.hash)).toEqual(
            calls[at]!.segments!.map(({ hash }) => hash),
          )
          const inOrder = [...column.pieces].sort(
            (a, b) => a.offset - b.offset || a.tokens - b.tokens || a.piece - b.piece,
          )
          expect(back[at]).toEqual(inOrder)
          let offset = 0
          for (const place of column.pieces) {
            expect(place.offset).toBe(offset)
            offset += place.tokens
          }
          expect(column.tokens).toBe(offset)
        })
      }),
    )
  })

  test("a band is as long as it can be: none goes on where another of its piece ends at the same offset", () => {
    fc.assert(
      fc.property(anyLane, (calls) => {
        const bands = bandsOf(columnsOfCalls(calls).columns)
        const ends = new Set(bands.map(({ piece, to, offset }) => `${piece} ${to + 1} ${offset}`))
        for (const { piece, from, offset } of bands) expect(ends.has(`${piece} ${from} ${offset}`)).toBe(false)
      }),
    )
  })

  test("what was paid adds up to the prompt, and merging neighbours leaves the sums of every call as they were", () => {
    fc.assert(
      fc.property(anyLane, (calls) => {
        const { pieces, columns } = columnsOfCalls(calls)
        columns.forEach((column, at) => {
          const { cached, again, fresh } = paidOf(column, columns[at - 1])
          expect([cached, again, fresh].every((part) => part === null || part >= 0)).toBe(true)
          if (cached !== null && again !== null) expect(cached + again + fresh).toBe(column.tokens)
        })
        const bands = bandsOf(columns)
        const merged = mergeBands(bands, pieces, 0)
        const sums = (list: typeof bands) =>
          columnsOfBands(list, columns.length).map((column) => column.reduce((sum, { tokens }) => sum + tokens, 0))
        expect(sums(merged.bands)).toEqual(sums(bands))
        expect(merged.total).toBe(bands.length)
      }),
    )
  })

  test("shares are whole and add up", () => {
    fc.assert(
      fc.property(fc.nat(10_000), fc.array(fc.nat(5000), { minLength: 1, maxLength: 20 }), (total, sizes) => {
        const shares = sharesOf(total, sizes)
        expect(shares.reduce((sum, share) => sum + share, 0)).toBe(total)
        expect(shares.every((share) => Number.isInteger(share) && share >= 0)).toBe(true)
      }),
    )
  })

  test("a prompt that grows is one band a piece, and the line of the cache falls on the edge of a piece", () => {
    const system = segment("s", 400, { kind: "persona", contributor: "system", role: null, mark: { ttl: null } })
    const texts = ["a", "b", "c"].map((hash) => segment(hash, 100))
    const calls = [
      call(1, [system, texts[0]!], { prompt: 150, read: 0, written: 100 }),
      call(2, [system, texts[0]!, texts[1]!], { prompt: 180, read: 100, written: 0 }),
      call(3, [system, ...texts], { prompt: 230, read: 100, written: 0 }),
    ]
    const { columns } = columnsOfCalls(calls)
    expect(bandsOf(columns)).toEqual([
      { piece: 0, from: 0, to: 2, offset: 0, tokens: 100 },
      { piece: 1, from: 0, to: 2, offset: 100, tokens: 50 },
      { piece: 2, from: 1, to: 2, offset: 150, tokens: 30 },
      { piece: 3, from: 2, to: 2, offset: 180, tokens: 50 },
    ])
    expect(columns.map((column, at) => paidOf(column, columns[at - 1]))).toEqual([
      { cached: 0, again: 0, fresh: 150 },
      { cached: 100, again: 50, fresh: 30 },
      { cached: 100, again: 80, fresh: 50 },
    ])
  })

  test("the first piece that changed is the break, and what a summary took is dropped", () => {
    const calls = [
      call(1, [
        segment("s", 10, { kind: "persona", contributor: "system" }),
        segment("a", 10),
        segment("b", 10),
        segment("c", 10),
      ]),
      call(2, [segment("s", 10, { kind: "persona", contributor: "system" }), segment("sum", 10), segment("c", 10)]),
    ]
    const { columns } = columnsOfCalls(calls)
    expect(breakOf(columns[1]!, columns[0])).toMatchObject({ offset: 3, cause: "history_rewritten" })
    expect(droppedOf(columns[1]!, columns[0])).toMatchObject({ pieces: 2 })
    expect(breakOf(columns[0]!, undefined)).toBeUndefined()
  })

  test("what the provider does not say is unknown, and not zero", () => {
    const { columns } = columnsOfCalls([call(1, [segment("a", 40)]), call(2, [segment("a", 40), segment("b", 40)])])
    expect(columns[1]).toMatchObject({ countedBy: "estimate", tokens: 20 })
    expect(paidOf(columns[1]!, columns[0])).toEqual({ cached: null, again: null, fresh: 10 })
  })
})
