import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { foldRows, foldsAround } from "../../src/model/fold.js"
import { rowName } from "../../src/model/row-name.js"
import { runRows } from "../../src/model/run-rows.js"
import { joinColumns } from "../../src/model/step-columns.js"
import { scrollToShow, windowOf } from "../../src/model/window-of.js"
import { columnsOf, type StepSketch } from "./columns-of.js"

const RUN: readonly StepSketch[] = [
  { n: 1, kind: "run", name: "fix" },
  { n: 2, parent: 1, name: "turn-1" },
  { n: 3, parent: 2, kind: "model", name: "m" },
  { n: 4, parent: 1, name: "turn-2" },
  { n: 5, parent: 2, kind: "tool", name: "late", status: "error" },
]
const numbersOf = (rows: readonly { n: number }[]): number[] => rows.map(({ n }) => n)

describe("the rows of a run", () => {
  test("[O-05] children stand under their parent, also those that began after its sibling", () => {
    const rows = runRows(columnsOf(RUN))
    expect(rows.map(({ n, depth, below }) => [n, depth, below])).toEqual([
      [1, 0, 4],
      [2, 1, 2],
      [3, 2, 0],
      [5, 2, 0],
      [4, 1, 0],
    ])
  })

  test("[O-05] every step is a row exactly once, whatever the parents are", () => {
    const parent = fc.option(fc.integer({ min: 0, max: 60 }))
    const lane = fc.constantFrom(undefined, "main", "one", "other")
    fc.assert(
      fc.property(fc.array(fc.record({ parent, lane }), { maxLength: 60 }), (all) => {
        const steps = all.map((one, at) => ({ n: at + 1, ...one }))
        const rows = runRows(columnsOf(steps))
        const own = rows.filter(({ kind }) => kind !== "lane")
        expect(numbersOf(own).sort((a, b) => a - b)).toEqual(steps.map(({ n }) => n))
        const deeper = rows.map(({ depth }, at) => {
          const next = rows.slice(at + 1).findIndex((row) => row.depth <= depth)
          return next === -1 ? rows.length - at - 1 : next
        })
        expect(rows.map(({ below }) => below)).toEqual(deeper)
      }),
    )
  })

  test("[O-05] lanes beside the first one are groups, from their first step to the end of the last", () => {
    const rows = runRows(
      columnsOf([
        { n: 1, kind: "run", name: "review" },
        { n: 2, parent: 1, kind: "model", lane: "main", from: 0, takes: 10 },
        { n: 3, parent: 1, kind: "model", lane: "style", from: 10, takes: 20 },
        { n: 4, parent: 1, kind: "model", lane: "bugs", from: 11, takes: 50, status: "error" },
        { n: 5, parent: 1, kind: "tool", name: "grep" },
        { n: 6, parent: 1, kind: "model", lane: "style", from: 40, takes: 5 },
        { n: 7, parent: 1, kind: "model", lane: "main", from: 70, takes: 5 },
      ]),
    )
    expect(rows.map(({ n, kind, depth, parent }) => [n, kind, depth, parent])).toEqual([
      [1, "run", 0, null],
      [2, "model", 1, 1],
      [-3, "lane", 1, 1],
      [3, "model", 2, -3],
      [6, "model", 2, -3],
      [-4, "lane", 1, 1],
      [4, "model", 2, -4],
      [5, "tool", 1, 1],
      [7, "model", 1, 1],
    ])
    expect(rows[2]).toMatchObject({ name: "style", startMicros: 10, durationMicros: 35, below: 2 })
    const folded = foldRows(rows, new Set([-4]))
    expect(folded.find(({ row }) => row.n === -4)).toMatchObject({ hidden: 1, worst: "error" })
    expect(foldsAround(rows, 4)).toEqual([-4, 1])
    // Where all siblings are in one lane, as under a sub-agent's own step, there is nothing to tell apart.
    expect(runRows(columnsOf([{ n: 1, lane: "a" }, { n: 2, lane: "a" }, { n: 3 }])).map(({ kind }) => kind)).toEqual([
      "step",
      "step",
      "step",
    ])
  })

  test("[O-05] a chain of ten thousand nested steps has rows of bounded size", () => {
    const rows = runRows(columnsOf(Array.from({ length: 10_000 }, (_, at) => ({ n: at + 1, parent: at || null }))))
    expect(rows).toHaveLength(10_000)
    expect(Math.max(...rows.map(({ guides }) => guides.length))).toBeLessThan(20)
  })

  test("[O-05] a fold hides what is below it and says how many and the worst of them", () => {
    const shown = foldRows(runRows(columnsOf(RUN)), new Set([2]))
    expect(shown.map(({ row }) => row.n)).toEqual([1, 2, 4])
    expect(shown[1]).toMatchObject({ isFolded: true, hidden: 2, worst: "error" })
  })

  test("[O-05] what is inside folds is found by unfolding its parents", () => {
    expect(foldsAround(runRows(columnsOf(RUN)), 3)).toEqual([2, 1])
  })

  test("[O-05] a row is named by a sentence with its failure in it", () => {
    const [shown] = foldRows(
      runRows(columnsOf([{ n: 11, kind: "tool", name: "run_tests", status: "error", takes: 600_000 }])),
      new Set(),
    )
    expect(rowName(shown!, "exit 1")).toBe("step 11, tool run_tests, failed, exit 1, 0.6s")
  })

  test("[O-05] steps that a running run has added or ended replace what was known of them", () => {
    const known = columnsOf(RUN.slice(0, 4))
    const page = columnsOf([{ n: 4, parent: 1, name: "turn-2", status: "timeout" }, RUN[4]!])
    const rows = runRows(joinColumns(known, page))
    expect(numbersOf(rows)).toEqual([1, 2, 3, 5, 4])
    expect(rows.at(-1)).toMatchObject({ n: 4, status: "timeout", name: "turn-2" })
  })
})

describe("the window on the rows", () => {
  test("[O-12] rows exist for every pixel that is seen, wherever a list is scrolled to", () => {
    const numbers = fc.tuple(fc.nat(300_000), fc.integer({ min: 1, max: 2000 }), fc.nat(10_000))
    fc.assert(
      fc.property(numbers, ([scrollTop, height, total]) => {
        const { from, to } = windowOf(scrollTop, height, 22, total)
        const lastTop = Math.max(0, total * 22 - height)
        const top = Math.min(scrollTop, lastTop)
        if (total > 0) {
          expect(from * 22).toBeLessThanOrEqual(top)
          expect(to * 22).toBeGreaterThanOrEqual(Math.min(total * 22, top + height))
        }
        expect(to - from).toBeLessThanOrEqual(Math.ceil(height / 22) + 1 + 16)
      }),
    )
  })

  test("[O-05] a row that is out of sight is scrolled to, one that is seen is not", () => {
    expect(scrollToShow(0, 100, 220, 22)).toBe(0)
    expect(scrollToShow(20, 100, 220, 22)).toBe(242)
    expect(scrollToShow(8, 100, 220, 22)).toBeNull()
  })
})
