import type { Objective } from "@orangebox/contract"
import { figuresOf } from "../stats/figures.js"
import { isCounted, matches, type StepSum } from "../stats/step-sums.js"

/** What an objective says of the days it looks at. Null is unknown, which neither meets nor breaks it. */
export interface ObjectiveReading {
  readonly objective: Objective
  readonly verdict: "met" | "breached" | "unknown"
  readonly value: number | null
  /** Why it is unknown, or how far the value can be relied on. */
  readonly note: string | null
  /** Of shares: how many of so many may go wrong in this window, and how many did. */
  readonly budget: { readonly of: number; readonly allowed: number; readonly used: number } | null
  /** How many times faster than allowed the last day used it up; 1 ends the window with nothing left. */
  readonly burnRate: number | null
  /** The value of every day of the window, oldest first. */
  readonly days: readonly { readonly day: string; readonly value: number | null }[]
}

/** A measure of some days: a share with what it is of, or a figure. */
interface Measured {
  readonly value: number | null
  readonly bad?: number
  readonly of?: number
  readonly note?: string
  /** The other end of what is known: a sum with holes has none, a percentile of buckets lies between two values. */
  readonly atLeast?: number
  readonly atMost?: number
}

export interface ObjectiveDays {
  /** The newest day of every window. */
  readonly today: string
  /** Runs under way, by the day they began on: they have no end, and that is no fault of theirs. */
  readonly running: ReadonlyMap<string, number>
}

/** Every objective over the daily sums, which stay when runs are pruned. */
export function readObjectives(
  sums: readonly StepSum[],
  objectives: readonly Objective[],
  days: ObjectiveDays,
): ObjectiveReading[] {
  return objectives.map((objective) => readObjective(sums, objective, days))
}

function readObjective(
  sums: readonly StepSum[],
  objective: Objective,
  { today, running }: ObjectiveDays,
): ObjectiveReading {
  const window = daysBefore(today, objective.days)
  const isOurs = matches(objective.app === undefined ? {} : { app: objective.app })
  const counted = sums.filter(isCounted({})).filter(isOurs)
  const onDays = (wanted: readonly string[]): Measured => {
    const set = new Set(wanted)
    const alive = wanted.reduce((total, day) => total + (running.get(day) ?? 0), 0)
    return MEASURES[objective.measure](
      counted.filter(({ period }) => set.has(period)),
      alive,
    )
  }
  const whole = onDays(window)
  const lastDay = onDays([today])
  const { value, note = null } = whole
  return {
    ...{ objective, value, note },
    verdict: verdictOf(objective, whole),
    budget: budgetOf(objective, whole),
    burnRate:
      isShare(objective) && lastDay.value !== null && objective.most > 0 ? lastDay.value / objective.most : null,
    days: window.map((day) => ({ day, value: onDays([day]).value })),
  }
}

/** Where only two ends are known, both have to agree. */
function verdictOf(objective: Objective, { value, atLeast, atMost }: Measured): ObjectiveReading["verdict"] {
  if (value === null) return "unknown"
  const isMetBy = [atLeast ?? value, atMost ?? value].map((end) => isMet(objective, end))
  return isMetBy[0] !== isMetBy[1] ? "unknown" : isMetBy[0] ? "met" : "breached"
}

const isMet = ({ most, least }: Objective, value: number): boolean =>
  (most === undefined || value <= most) && (least === undefined || value >= least)

/** One of things that go wrong or not: it has a budget. */
const isShare = (objective: Objective): objective is Objective & { readonly most: number } =>
  objective.measure.startsWith("failed_") && objective.most !== undefined

function budgetOf(objective: Objective, { bad, of }: Measured): ObjectiveReading["budget"] {
  if (!isShare(objective) || bad === undefined || of === undefined || of === 0) return null
  return { of, allowed: objective.most * of, used: bad }
}

const MEASURES: Readonly<Record<Objective["measure"], (sums: readonly StepSum[], running: number) => Measured>> = {
  failed_runs: (sums, running) => shareOfFailed(sums, "run", running),
  failed_calls: (sums) => shareOfFailed(sums, "model", openOf(sums, "model")),
  failed_tools: (sums) => shareOfFailed(sums, "tool", openOf(sums, "tool")),
  cost_per_run: (sums) => {
    const runs = figuresOf(ofKind(sums, "run"), []).count
    const calls = figuresOf(ofKind(sums, "model"), [])
    if (runs === 0) return { value: null, note: "no run" }
    if (calls.count === 0) return { value: 0 }
    if (calls.usd === null) return { value: null, note: "no call has a price" }
    const value = calls.usd / runs
    return calls.unpricedCalls > 0
      ? { value, atMost: Number.POSITIVE_INFINITY, note: `at least: ${calls.unpricedCalls} calls have no price` }
      : { value }
  },
  cache_share: (sums) => {
    const { tokens } = figuresOf(ofKind(sums, "model"), [])
    if (tokens.prompt === null || tokens.prompt === 0) return { value: null, note: "no call told its tokens" }
    if (tokens.cacheRead === null) return { value: null, note: "no call told what came from a cache" }
    return { value: tokens.cacheRead / tokens.prompt }
  },
  run_p95_ms: (sums) => p95(sums, "run"),
  call_p95_ms: (sums) => p95(sums, "model"),
}

const ofKind = (sums: readonly StepSum[], kind: StepSum["kind"]): StepSum[] => sums.filter((sum) => sum.kind === kind)

const openOf = (sums: readonly StepSum[], kind: StepSum["kind"]): number =>
  ofKind(sums, kind).reduce((total, { open }) => total + open, 0)

/** What was opened and never closed has failed, unless it is under way. */
function shareOfFailed(sums: readonly StepSum[], kind: StepSum["kind"], underWay: number): Measured {
  const { count, errors, timeouts, open } = figuresOf(ofKind(sums, kind), [])
  const of = count - underWay
  if (of <= 0) return { value: null, note: `no ${kind} ended` }
  const bad = errors + timeouts + Math.max(0, open - underWay)
  return { value: bad / of, bad, of }
}

/** From how many took under each power of two of a microsecond, so from the sums alone: the value that it does not exceed. */
function p95(sums: readonly StepSum[], kind: StepSum["kind"]): Measured {
  const { duration } = figuresOf(ofKind(sums, kind), [])
  return duration.p95 === null
    ? { value: null, note: `no ${kind} ended` }
    : { value: duration.p95.toMs, atLeast: duration.p95.fromMs, note: "at most: from the daily sums" }
}

const DAY_MS = 86_400_000

function daysBefore(today: string, count: number): string[] {
  const last = Date.parse(`${today}T00:00:00Z`)
  return Array.from({ length: count }, (_, ago) =>
    new Date(last - (count - 1 - ago) * DAY_MS).toISOString().slice(0, 10),
  )
}
