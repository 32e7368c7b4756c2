import { DETECTORS } from "@orangebox/query"
import { expect, test } from "vitest"
import { DETECTORS_TRIED, isKept, runCleanTwins, runFaults, runPairs } from "../../../bench/faults/run-faults.mjs"

// A share of `npm run bench -- faults`, which lays every fault in six shapes for each of two seeds.
const SEED = 17
const TIMEOUT_MS = 240_000

test(
  "[G-01] [G-02] [G-04] faults that are laid into runs are found at their cause, and every pointer opens",
  async () => {
    const faults = await runFaults({ seed: SEED, shapesEach: 2 })
    const missed = faults.filter((fault) => fault.isSeen && !(isKept(fault) && fault.isSegment))
    expect(missed.map(({ name, kind, shape, told }) => [name, kind, shape, told])).toEqual([])
    expect(faults.flatMap(({ deadPointers }) => deadPointers)).toEqual([])
    expect(Math.max(...faults.map(({ tokens }) => tokens))).toBeLessThanOrEqual(2000)
  },
  TIMEOUT_MS,
)

test("[G-01] every detector has a fault to find; how long steps take is statistics and has its own test", () => {
  expect(Object.keys(DETECTORS).filter((name) => !DETECTORS_TRIED.has(name))).toEqual(["latency_outlier"])
})

test(
  "[G-02] of two faults in one run both are told, the one that ended it first",
  async () => {
    const pairs = await runPairs({ seed: SEED, shapesEach: 3 })
    expect(pairs.filter(({ isBoth, isInOrder }) => !(isBoth && isInOrder))).toEqual([])
  },
  TIMEOUT_MS,
)

test(
  "[G-03] runs that look like trouble and are none are not accused, and nobody is suspected",
  async () => {
    const clean = await runCleanTwins({ seed: SEED, shapesEach: 2 })
    expect(clean.filter(({ bad, isOfFive, suspects }) => bad.length > 0 || isOfFive || suspects > 0)).toEqual([])
  },
  TIMEOUT_MS,
)
