import { diffArrays } from "diff"
import fc from "fast-check"
import { expect, test } from "vitest"
import { commonSubsequence } from "../src/index.js"

test("[P-09] the common subsequence is the longest there is", () => {
  const letters = fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 12 })
  fc.assert(
    fc.property(letters, letters, (a, b) => {
      const pairs = commonSubsequence(a, b, 100)!
      for (const [i, j] of pairs) expect(a[i]).toBe(b[j])
      for (const [at, [i, j]] of pairs.slice(1).entries()) expect(i > pairs[at]![0] && j > pairs[at]![1]).toBe(true)
      const table = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0))
      for (let i = 1; i <= a.length; i++) {
        for (let j = 1; j <= b.length; j++) {
          const [up, left, corner] = [table[i - 1]![j]!, table[i]![j - 1]!, table[i - 1]![j - 1]!]
          table[i]![j] = a[i - 1] === b[j - 1] ? corner + 1 : Math.max(up, left)
        }
      }
      expect(pairs).toHaveLength(table[a.length]![b.length]!)
    }),
    { numRuns: 500, seed: 7 },
  )
  expect(commonSubsequence([1, 2, 3], [4, 5, 6], 2)).toBeUndefined()
})

test("[P-09] what stays between two lists is what a slower diff finds, choice by choice", () => {
  const list = fc.array(
    fc.nat({ max: 5 }).map((n) => n + 1),
    { maxLength: 60 },
  )
  fc.assert(
    fc.property(list, list, (a, b) => {
      let [i, j] = [0, 0]
      const kept = diffArrays(a, b).flatMap(({ added, removed, count }) => {
        if (!added && !removed) return Array.from({ length: count }, () => [i++, j++])
        if (added) j += count
        else i += count
        return []
      })
      expect(commonSubsequence(a, b, 1_000)).toEqual(kept)
    }),
    { numRuns: 500 },
  )
})
