import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { assign, MAX_EXACT_SET } from "../../src/diff/assignment.js"
import { alignAffine, GAP_EXTEND, GAP_OPEN } from "../../src/diff/gotoh.js"
import { longestIncreasing } from "../../src/diff/increasing.js"
import { dice, MAX_SHINGLES, shinglesOf } from "../../src/diff/shingles.js"

const costs = fc.tuple(fc.integer({ min: 0, max: 5 }), fc.integer({ min: 0, max: 5 })).chain(([rows, columns]) =>
  fc
    .array(fc.array(fc.integer({ min: 0, max: 8 }), { minLength: columns, maxLength: columns }), {
      minLength: rows,
      maxLength: rows,
    })
    .map((matrix) => ({ rows, columns, cost: (i: number, j: number) => matrix[i]![j]! / 8 })),
)

/** Every way to read two sequences side by side, priced one by one. */
function cheapestBruteForce(rows: number, columns: number, cost: (i: number, j: number) => number): number {
  const go = (i: number, j: number, last: "pair" | "a" | "b"): number => {
    if (i === rows && j === columns) return 0
    let best = Number.POSITIVE_INFINITY
    if (i < rows && j < columns) best = Math.min(best, cost(i, j) + go(i + 1, j + 1, "pair"))
    if (i < rows) best = Math.min(best, (last === "a" ? GAP_EXTEND : GAP_OPEN) + go(i + 1, j, "a"))
    if (j < columns) best = Math.min(best, (last === "b" ? GAP_EXTEND : GAP_OPEN) + go(i, j + 1, "b"))
    return best
  }
  return go(0, 0, "pair")
}

function priceOf(
  pairs: readonly (readonly [number, number])[],
  rows: number,
  columns: number,
  cost: (i: number, j: number) => number,
): number {
  const gap = (length: number): number => (length === 0 ? 0 : GAP_OPEN + GAP_EXTEND * (length - 1))
  let price = 0
  let [i, j] = [0, 0]
  for (const [nextA, nextB] of [...pairs, [rows, columns] as const]) {
    price += gap(nextA - i) + gap(nextB - j)
    if (nextA < rows) price += cost(nextA, nextB)
    ;[i, j] = [nextA + 1, nextB + 1]
  }
  return price
}

describe("[P-09] alignment", () => {
  test("[P-09] the affine alignment is the cheapest there is", () => {
    fc.assert(
      fc.property(costs, ({ rows, columns, cost }) => {
        const one = () => 1
        const pairs = alignAffine(rows, columns, cost, one, one)
        expect(priceOf(pairs, rows, columns, cost)).toBeCloseTo(cheapestBruteForce(rows, columns, cost), 9)
      }),
      { numRuns: 300, seed: 7 },
    )
  })

  test("[P-09] sets are matched at the least cost there is", () => {
    const cheapest = (rows: number, columns: number, cost: (i: number, j: number) => number): number => {
      const go = (row: number, taken: number): number => {
        if (row === rows) return 0
        let best = rows > columns ? go(row + 1, taken) : Number.POSITIVE_INFINITY
        for (let column = 0; column < columns; column++) {
          if (taken & (1 << column)) continue
          best = Math.min(best, cost(row, column) + go(row + 1, taken | (1 << column)))
        }
        return best
      }
      return go(0, 0)
    }
    fc.assert(
      fc.property(costs, ({ rows, columns, cost }) => {
        const pairs = assign(rows, columns, cost)
        expect(pairs).toHaveLength(Math.min(rows, columns))
        expect(new Set(pairs.map(([, column]) => column)).size).toBe(pairs.length)
        const sum = pairs.reduce((total, [i, j]) => total + cost(i, j), 0)
        // Where there are more rows than columns, some rows stay alone; which ones is part of the choice.
        if (rows <= columns) expect(sum).toBeCloseTo(cheapest(rows, columns, cost), 9)
      }),
      { numRuns: 300, seed: 7 },
    )
  })

  test("[P-09] sets too large for that are matched greedily, each member once", () => {
    const size = MAX_EXACT_SET + 8
    const pairs = assign(size, size, (i, j) => ((i * 7 + 3) % size === j ? 0 : 1))
    expect(pairs).toEqual(Array.from({ length: size }, (_, i) => [i, (i * 7 + 3) % size]))
  })

  test("[P-09] the longest increasing subsequence is as long as can be", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 10 }), (values) => {
        const found = longestIncreasing(values).map((position) => values[position]!)
        for (let i = 1; i < found.length; i++) expect(found[i]!).toBeGreaterThan(found[i - 1]!)
        let longest = 0
        for (let chosen = 0; chosen < 1 << values.length; chosen++) {
          const picked = values.filter((_, i) => chosen & (1 << i))
          if (picked.every((value, i) => i === 0 || value > picked[i - 1]!)) longest = Math.max(longest, picked.length)
        }
        expect(found).toHaveLength(longest)
      }),
      { numRuns: 100, seed: 7 },
    )
  })

  test("[P-09] shingles are few, and tell equal, like and unlike texts apart", () => {
    const words = Array.from({ length: 500 }, (_, i) => `word${i}`)
    const text = words.join(" ")
    expect(shinglesOf(text)).toHaveLength(MAX_SHINGLES)
    expect(dice(shinglesOf(text), shinglesOf(text))).toBe(1)
    expect(dice(shinglesOf(text), shinglesOf(text.replace("word250", "other")))).toBeGreaterThan(0.9)
    expect(dice(shinglesOf(text), shinglesOf(words.map((word) => `x${word}`).join(" ")))).toBeLessThan(0.1)
    expect(dice(shinglesOf(""), shinglesOf(""))).toBe(1)
    expect(dice(shinglesOf("one"), shinglesOf("one"))).toBe(1)
    expect(dice(shinglesOf("one"), shinglesOf("two"))).toBe(0)
  })
})
