import { estimateTokens, safeJson } from "@orangebox/text"
import fc from "fast-check"
import { expect, test } from "vitest"
import { hostileText, ONLY_SAFE } from "../../text/test/hostile-text.js"
import { type PlacesView, placesJson, placesText, viewRun } from "../src/index.js"
import { MIN_PLACES_BUDGET } from "../src/places-view.js"
import { anyRun } from "./any-run.js"

const anyPlaces: fc.Arbitrary<PlacesView> = fc
  .tuple(fc.array(fc.tuple(anyRun, fc.nat(9)), { maxLength: 12 }), hostileText, fc.nat(50))
  .map(([runs, id, more]) => {
    const places = runs.map(([recorded, no], index) => {
      const run = viewRun(recorded)
      const step = run.steps[no % Math.max(1, run.steps.length)]
      const events = { eventType: id, events: 1, atMs: 1_700_000_000_000 + index }
      return { runId: run.runId ?? null, run, no: step?.n ?? null, causedIn: new Map([["run_x", id]]), ...events }
    })
    return { title: "message ", kind: "message", id, from: 0, places, total: places.length + more }
  })

test("[Q-09] a list of places is safe to print, keeps to its budget and says how much of it there is", () => {
  fc.assert(
    fc.property(anyPlaces, fc.integer({ min: MIN_PLACES_BUDGET, max: 2000 }), (view, budget) => {
      const text = placesText(view, { address: "m-2", budget })
      expect(text).toMatch(ONLY_SAFE)
      expect(estimateTokens(text)).toBeLessThanOrEqual(budget)
      const { places, to, total, next_cursor } = placesJson(view, { address: "m-2", budget })
      expect(safeJson(places)).toMatch(ONLY_SAFE)
      expect([places.length, total, next_cursor]).toEqual([to, view.total, to < view.total ? to : null])
      if (view.places.length > 0) expect(places.length).toBeGreaterThan(0)
    }),
    { numRuns: 150 },
  )
})
