import {
  type ContributorSum,
  costBenefit,
  costBenefitCsv,
  costBenefitText,
  type StepSum,
  statsCsv,
  statsOf,
  statsText,
} from "@orangebox/query"
import { displayWidth } from "@orangebox/text"
import { expect, test } from "vitest"

const NOTHING = { prompt: null, completion: null, cacheRead: null, cacheWrite: null, reasoning: null }

function sum(given: Partial<StepSum>): StepSum {
  return {
    ...{ period: "2026-03-02", kind: "model", workKind: null, name: "m", provider: null, source: "app", app: "fixer" },
    ...{
      agentVersion: null,
      origin: "recorded",
      count: 1,
      successes: 1,
      errors: 0,
      timeouts: 0,
      open: 0,
      errorClasses: {},
    },
    ...{ attempts: 1, durationMsSum: 1500, durationMsMax: 1500, durations: { 21: 1 }, firstByteMsSum: null },
    ...{
      firstByteMsMax: null,
      firstBytes: {},
      generations: {},
      tokens: NOTHING,
      callsWithoutUsage: 1,
      usd: null,
      unpricedCalls: 1,
    },
    ...given,
  } as StepSum
}

const contributor = (name: string): ContributorSum => ({
  ...{ period: "2026-03-02", contributor: name, kind: "tool-def", app: null, origin: "recorded", prompts: 1, bytes: 9 },
  ...{
    tokensEstimated: null,
    uncountedPrompts: 1,
    usd: null,
    unpricedPrompts: 1,
    uses: 0,
    unheardPrompts: 0,
    entries: 0,
  },
})

const HOSTILE = '=HYPERLINK("evil")\u001b[31m\u202e\n,x'

test("[Q-04] [Q-03] a name that was recorded neither breaks a table nor runs in a terminal or a spreadsheet", () => {
  const stats = statsOf([sum({ name: HOSTILE, errorClasses: { [HOSTILE]: 1 }, errors: 1 })], [], "model")
  const prompts = costBenefit([contributor(HOSTILE)], [])
  for (const text of [statsText(stats), costBenefitText(prompts), statsCsv(stats), costBenefitCsv(prompts)]) {
    expect(text).not.toMatch(/\u001b|\u202e/)
    expect(text).not.toMatch(/^,x/m)
  }
  expect(statsCsv(stats).split("\r\n")).toHaveLength(3)
  expect(statsCsv(stats).split("\r\n")[1]).toMatch(/^"'=HYPERLINK/)
})

test("[Q-10] every line of a table fits 80 columns, and money, calls and failures stay", () => {
  const sums = ["claude-sonnet-4-5-with-a-very-long-name-indeed-20260101", "b", "c"].map((name, no) =>
    sum({
      name,
      count: 123_456 * (no + 1),
      errors: 1234,
      usd: 1234.5 / (no + 1),
      tokens: { ...NOTHING, prompt: 9_999_999, completion: 88_888, cacheRead: 123 },
    }),
  )
  const text = statsText(statsOf(sums, [], "model"), { width: 80 })
  const table = text.split("\n\n")[1]!.split("\n")
  expect(Math.max(...table.map(displayWidth))).toBeLessThanOrEqual(80)
  expect(table[0]).toMatch(/MODEL.*CALLS.*FAILED.*SPENT/)
})

test("[Q-04] unknown is said: no price, no usage, bounds, what is not counted", () => {
  const stats = statsOf([sum({}), sum({ kind: "run", origin: "replayed", name: "fix" })], [], "model")
  const text = statsText(stats)
  expect(text).toContain("spend   unknown: of 1 call, 1 told no usage")
  expect(text).toContain("p50 1.0s–1.5s")
  expect(text).toContain("p50 and p95 are bounds")
  expect(text).toContain("not counted: 1 run replayed or forked, not paid (--origin replayed)")
  expect(text).not.toContain("$0")
})

test("[Q-05] tools that nobody heard of are told from tools that were never called", () => {
  const rows = costBenefit(
    [contributor("tool:a"), { ...contributor("tool:b"), uses: null, unheardPrompts: 1 }],
    [],
  ).standing
  expect(rows.map(({ contributor: name, note }) => [name, note])).toEqual([
    ["tool:a", "never_called"],
    ["tool:b", "not_seen_called"],
  ])
})
