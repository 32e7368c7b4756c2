import type { Objective } from "@orangebox/contract"
import { describe, expect, test } from "vitest"
import { objectivesText, readObjectives, type StepSum } from "../src/index.js"

const TODAY = "2026-11-18"
const sum = (more: Partial<StepSum>): StepSum => ({
  ...{ period: TODAY, kind: "run", workKind: null, name: "fix", provider: null, source: "x", app: "fixer" },
  ...{ agentVersion: null, origin: "recorded", count: 0, successes: 0, errors: 0, timeouts: 0, open: 0 },
  ...{ errorClasses: {}, attempts: null, durationMsSum: 0, durationMsMax: 0, durations: {}, firstByteMsSum: null },
  ...{ firstByteMsMax: null, firstBytes: {}, generations: {}, callsWithoutUsage: null, usd: null, unpricedCalls: null },
  tokens: { prompt: null, completion: null, cacheRead: null, cacheWrite: null, reasoning: null },
  ...more,
})
const read = (sums: StepSum[], objective: Objective, running = 0) =>
  readObjectives(sums, [objective], { today: TODAY, running: new Map([[TODAY, running]]) })[0]!
const failedRuns = (most: number): Objective => ({ measure: "failed_runs", most, days: 7 })

describe("[E-09] objectives over daily sums", () => {
  test("a share has a budget, and the last day burns it at a rate", () => {
    const sums = [
      sum({ period: "2026-11-15", count: 90, successes: 89, errors: 1 }),
      sum({ count: 10, successes: 8, errors: 1, timeouts: 1 }),
    ]
    const reading = read(sums, failedRuns(0.05))
    expect(reading).toMatchObject({
      verdict: "met",
      value: 0.03,
      budget: { of: 100, allowed: 5, used: 3 },
      burnRate: 4,
    })
    expect(reading.days.map(({ value }) => value)).toEqual([null, null, null, 1 / 90, null, null, 0.2])
    expect(read(sums, failedRuns(0.02)).verdict).toBe("breached")
    expect(objectivesText([reading])).toContain("3 of 100 failed, 5 may: 60 % of the budget used · burning at 4.0 ×")
  })

  test("a run that never ended has failed, unless it is under way", () => {
    const sums = [sum({ count: 4, successes: 2, open: 2 })]
    expect(read(sums, failedRuns(0), 1)).toMatchObject({ value: 1 / 3, verdict: "breached" })
    expect(read(sums, failedRuns(0), 2)).toMatchObject({ value: 0, verdict: "met" })
  })

  test("days before the window, other applications and replays do not count", () => {
    const sums = [
      sum({ count: 1, successes: 1 }),
      sum({ period: "2026-11-11", count: 5, errors: 5 }),
      sum({ app: "other", count: 5, errors: 5 }),
      sum({ origin: "replayed", count: 5, errors: 5 }),
    ]
    expect(read(sums, { ...failedRuns(0), app: "fix*" })).toMatchObject({ value: 0, budget: { of: 1 } })
  })

  test("what is unknown neither meets an objective nor breaks it, and a lower bound can only break one", () => {
    expect(read([], failedRuns(0.1))).toMatchObject({ verdict: "unknown", value: null, note: "no run ended" })
    const runs = sum({ count: 2, successes: 2 })
    const priced = sum({ kind: "model", count: 3, successes: 3, usd: 1, unpricedCalls: 1 })
    const cost = (most: number): Objective => ({ measure: "cost_per_run", most, days: 1 })
    expect(read([runs, priced], cost(0.4))).toMatchObject({ verdict: "breached", value: 0.5 })
    expect(read([runs, priced], cost(0.9)).verdict).toBe("unknown")
    expect(read([runs, { ...priced, unpricedCalls: 0 }], cost(0.9)).verdict).toBe("met")
    expect(read([runs, { ...priced, usd: null }], cost(0.9)).verdict).toBe("unknown")
  })

  test("a percentile of sums lies between two values, and is decided where both agree", () => {
    const slow = [
      sum({ kind: "model", count: 100, successes: 100, durations: { 20: 90, 23: 10 }, durationMsMax: 9000 }),
    ]
    const p95 = (most: number): Objective => ({ measure: "call_p95_ms", most, days: 1 })
    expect(read(slow, p95(9000)).verdict).toBe("met")
    expect(read(slow, p95(5000)).verdict).toBe("unknown")
    // No duration in its bucket is so short: broken whatever it is.
    expect(read(slow, p95(1000)).verdict).toBe("breached")
  })

  test("the share of a cache is of the prompts that were told", () => {
    const tokens = { prompt: 1000, completion: 1, cacheRead: 700, cacheWrite: null, reasoning: null }
    const calls = [sum({ kind: "model", count: 2, successes: 2, tokens })]
    expect(read(calls, { measure: "cache_share", least: 0.6, days: 1 })).toMatchObject({ verdict: "met", value: 0.7 })
    expect(read(calls, { measure: "cache_share", least: 0.8, days: 1 }).verdict).toBe("breached")
  })
})
