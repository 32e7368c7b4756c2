import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { formatPlace, type Place, parsePlace } from "../src/address-bar.js"

const parse = (address: string): Place => {
  const { pathname, search } = new URL(address, "http://127.0.0.1")
  return parsePlace(pathname, search)
}
const word = fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 }).filter((text) => text.isWellFormed())
const pathWord = word.filter((text) => text !== "." && text !== "..")
const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined })
const known = (place: Record<string, unknown>): Place =>
  Object.fromEntries(Object.entries(place).filter(([, value]) => value !== undefined)) as unknown as Place

const places: fc.Arbitrary<Place> = fc
  .oneof(
    fc.record({
      screen: fc.constant("runs"),
      status: maybe(word),
      app: maybe(word),
      text: maybe(word),
      since: maybe(word),
    }),
    fc.record({
      screen: fc.constant("run"),
      run: pathWord,
      step: maybe(fc.integer({ min: 1, max: 100_000 })),
      tab: maybe(word),
      find: maybe(word),
      lane: maybe(word),
      form: maybe(word),
      from: maybe(fc.nat(1e9)),
      view: maybe(fc.constant("report")),
      panel: maybe(fc.constant("findings")),
      strata: maybe(fc.constantFrom("table", "closed")),
      why: maybe(word),
    }),
    fc.record({ screen: fc.constant("diff"), a: word, b: word, item: maybe(fc.nat(1000)) }),
    fc.record({ screen: fc.constant("analytics"), by: maybe(word), since: maybe(word) }),
    fc.record({ screen: fc.constant("search"), text: maybe(word) }),
  )
  .map(known)

describe("the address", () => {
  test("[O-05] whatever is on screen comes back from its link", () => {
    fc.assert(
      fc.property(places, (place) => {
        expect(parse(formatPlace(place))).toEqual(place)
      }),
    )
  })

  test("[O-05] any address is a place: what is not understood is left out", () => {
    expect(parse("/")).toEqual({ screen: "runs" })
    expect(parse("/nowhere/at?all=1")).toEqual({ screen: "runs" })
    expect(parse("/runs/run_1/x?tab=&strata=wild&from=-3")).toEqual({ screen: "run", run: "run_1" })
    expect(parse("/diff?a=run_1")).toEqual({ screen: "runs" })
    expect(parse("/runs/%E0%A4%A")).toEqual({ screen: "run", run: "%E0%A4%A" })
  })
})
