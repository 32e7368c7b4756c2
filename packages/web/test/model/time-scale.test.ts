import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { timeScale } from "../../src/model/time-scale.js"

const SECOND = 1_000_000

describe("the time scale", () => {
  test("[O-05] begins at 0, ends at 1 and has round ticks between", () => {
    const scale = timeScale(2.6 * SECOND, [{ from: 0, to: 2.6 * SECOND }])
    expect(scale.at(0)).toBe(0)
    expect(scale.at(2.6 * SECOND)).toBe(1)
    expect(scale.ticks.map(({ micros }) => micros / SECOND)).toEqual([1, 2])
    expect(scale.cuts).toEqual([])
  })

  test("[O-05] an hour in which nothing happened takes no room and is marked", () => {
    const scale = timeScale(3602 * SECOND, [
      { from: 0, to: SECOND },
      { from: 3601 * SECOND, to: 3602 * SECOND },
    ])
    expect(scale.cuts).toHaveLength(1)
    expect(scale.cuts[0]!.micros).toBe(3600 * SECOND)
    expect(scale.at(SECOND)).toBeGreaterThan(0.4)
    expect(scale.at(3601 * SECOND)).toBeLessThan(0.6)
  })

  test("[O-05] later is never left of earlier, cut or zoomed", () => {
    const busy = fc.array(fc.tuple(fc.nat(1e8), fc.nat(1e7)), { maxLength: 20 })
    fc.assert(
      fc.property(busy, fc.array(fc.nat(1.2e8), { minLength: 2, maxLength: 20 }), (spans, moments) => {
        const scale = timeScale(
          1.2e8,
          spans.map(([from, length]) => ({ from, to: from + length })),
          { from: 0.2, to: 0.6 },
        )
        const places = [...moments].sort((a, b) => a - b).map((moment) => scale.at(moment))
        for (let at = 1; at < places.length; at += 1) expect(places[at]!).toBeGreaterThanOrEqual(places[at - 1]! - 1e-9)
      }),
    )
  })
})
