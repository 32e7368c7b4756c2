import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { rasterCells } from "../../src/model/raster-cells.js"
import {
  type Band,
  breakRows,
  type Cell,
  type StrataCall,
  type StrataData,
  strataCells,
  tokenTicks,
  worstCalls,
} from "../../src/model/strata-cells.js"

const call = (n: number, tokens: number, cacheRead: number | null): StrataCall => ({
  n,
  tokens,
  output_tokens: 10,
  cache_read: cacheRead,
  cache_read_step: 1,
  cached: cacheRead,
  again: 0,
  fresh: 0,
  token_budget: null,
  excluded: null,
  held_by_provider: null,
  broke: null,
  dropped: null,
})
const piece = { kind: "user-msg", contributor: null, label: "user", is_error: false }
const strata = (calls: StrataCall[], bands: Band[]): StrataData => ({
  calls,
  bands,
  pieces: Array.from({ length: 1 + Math.max(...bands.map(([one]) => one)) }, () => piece),
})

/** Tokens of a call by state. */
function tokensOf(cells: readonly Cell[], at: number): Record<string, number> {
  const sums: Record<string, number> = {}
  for (const { state, from, to, top, bottom } of cells)
    if (from <= at && at <= to) sums[state] = (sums[state] ?? 0) + bottom - top
  return sums
}

describe("strata", () => {
  test("[O-05] a piece is cached below the line, sent again above it, and new in its first call", () => {
    const data = strata(
      [call(3, 100, 0), call(7, 150, 60)],
      [
        [0, 0, 1, 0, 100],
        [1, 1, 1, 100, 50],
      ],
    )
    expect(tokensOf(strataCells(data), 0)).toEqual({ new: 100 })
    expect(tokensOf(strataCells(data), 1)).toEqual({ cached: 60, again: 40, new: 50 })
  })

  test("[O-05] a piece that moved is sent again, not new", () => {
    const data = strata(
      [call(3, 100, 0), call(7, 120, 0)],
      [
        [0, 0, 0, 0, 100],
        [0, 1, 1, 20, 100],
        [1, 1, 1, 0, 20],
      ],
    )
    expect(tokensOf(strataCells(data), 1)).toEqual({ again: 100, new: 20 })
  })

  test("[O-05] where nobody said what the cache served, what was held before is neither cached nor paid again", () => {
    const data = strata([call(3, 100, null), call(7, 100, null)], [[0, 0, 1, 0, 100]])
    expect(strataCells(data).map(({ state }) => state)).toEqual(["held", "new"])
  })

  test("[O-05] the cells of a call add up to its bands, whatever the bands are", () => {
    const bands = fc.array(fc.tuple(fc.nat(9), fc.nat(7), fc.nat(7), fc.nat(50)), { minLength: 1, maxLength: 30 })
    fc.assert(
      fc.property(bands, fc.array(fc.option(fc.nat(300)), { minLength: 8, maxLength: 8 }), (sketches, reads) => {
        const placed = sketches.map(
          ([one, a, b, tokens], at): Band => [one, Math.min(a, b), Math.max(a, b), at * 60, tokens],
        )
        const data = strata(
          reads.map((read, at) => call(at, 2000, read)),
          placed,
        )
        const cells = strataCells(data)
        reads.forEach((_, at) => {
          const whole = placed.reduce((sum, [, from, to, , tokens]) => sum + (from <= at && at <= to ? tokens : 0), 0)
          expect(Object.values(tokensOf(cells, at)).reduce((sum, one) => sum + one, 0)).toBe(whole)
        })
      }),
    )
  })

  test("[O-05] a loss is never averaged away: the worst call of every pixel is the one that is shown", () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(1000), { minLength: 2, maxLength: 500 }),
        fc.integer({ min: 1, max: 80 }),
        (lost, columns) => {
          const shown = worstCalls(lost, Math.min(columns, lost.length)).map((at) => lost[at]!)
          expect(Math.max(...shown)).toBe(Math.max(...lost))
        },
      ),
    )
  })

  test("[O-05] neighbouring calls that break for one reason have one label", () => {
    const broke = { offset: 10, piece: null, contributor: "system prompt", cause: "ttl_gap" }
    const calls = [
      call(1, 9, 0),
      { ...call(2, 9, 0), broke },
      { ...call(3, 9, 0), broke },
      call(4, 9, 0),
      { ...call(5, 9, 0), broke },
    ]
    expect(breakRows({ calls, pieces: [], bands: [] }).map(({ from, to, words }) => [from, to, words])).toEqual([
      [1, 2, "system prompt: ttl gap"],
      [4, 4, "system prompt: ttl gap"],
    ])
  })

  test("[O-05] a loss thinner than a pixel is seen, whatever else lies there", () => {
    const raster = { width: 4, height: 2, pixels: new Uint32Array(8) }
    const cell = { piece: 0, from: 0, to: 3, top: 0, bottom: 200 }
    const lost = { ...cell, from: 2, to: 2, top: 50, bottom: 51 }
    const cells: Cell[] = [
      { ...cell, state: "cached" },
      { ...lost, state: "again" },
    ]
    rasterCells(raster, cells, Int32Array.of(0, 1, 2, 3, 4), (tokens) => tokens / 100, Uint32Array.of(1, 0, 0, 2))
    expect([...raster.pixels]).toEqual([1, 1, 1, 1, 1, 1, 2, 1])
  })

  test("[O-05] ticks are round and few", () => {
    expect(tokenTicks(1800)).toEqual([0, 500, 1000, 1500])
    expect(tokenTicks(180_000)).toEqual([0, 50_000, 100_000, 150_000])
  })
})
