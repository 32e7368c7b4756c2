import { describe, expect, test } from "vitest"
import { type Finding, lookHere } from "../../src/model/look-here.js"

const finding = (detector: string, severity: string, step: number): Finding => ({
  finding_id: `${detector}${step}`,
  severity,
  confidence: "proven",
  detector,
  kind: null,
  claim: `${detector} in #${step}`,
  cause_step: step,
  fails_step: step,
  evidence: [],
})
const violation = (step: number, message: string) => ({
  severity: "fail",
  message,
  rule: "r",
  steps: [{ step_no: step }],
})

describe("what to look at first", () => {
  test("[O-11] a broken rule is told in its own words, once", () => {
    const list = lookHere(
      [finding("constraint_violation", "harm", 18)],
      [violation(18, "package.json is outside")],
      [],
      null,
    )
    expect(list).toEqual([{ severity: "harm", step: 18, toStep: null, words: "package.json is outside" }])
  })

  test("[O-11] rules and failed steps that no detector names are there as well, waste last", () => {
    const list = lookHere(
      [finding("crash", "fatal", 7), finding("slow", "notice", 2)],
      [violation(5, "a rule")],
      [
        { n: 7, words: "the crash itself" },
        { n: 9, words: "exit 1" },
      ],
      { calls: [3, 6, 9], says: "10 tokens sent again" },
    )
    expect(list.map(({ severity, step, toStep }) => [severity, step, toStep])).toEqual([
      ["fatal", 7, null],
      ["harm", 5, null],
      ["harm", 9, null],
      ["waste", 3, 9],
      ["notice", 2, null],
    ])
  })

  test("[O-11] what a finding says of the cache is not said twice", () => {
    const list = lookHere([finding("cache_bust", "waste", 6)], [], [], { calls: [6], says: "again" })
    expect(list).toHaveLength(1)
  })

  test("[O-11] of a thousand failed steps a few are named and the rest counted", () => {
    const list = lookHere(
      [],
      [],
      Array.from({ length: 1000 }, (_, at) => ({ n: at + 1, words: "exit 1" })),
      null,
    )
    expect(list).toHaveLength(5)
    expect(list.at(-1)!.words).toBe("and 996 more failed steps")
  })
})
