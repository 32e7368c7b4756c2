import { groupBy } from "../group-by.js"
import { type Figures, figuresOf } from "./figures.js"
import {
  isCounted,
  kindOf,
  matches,
  type Origin,
  type StatsFilter,
  type StepDuration,
  type StepSort,
  type StepSum,
} from "./step-sums.js"

export const GROUPINGS = ["model", "tool", "kind", "day", "week", "app", "version", "provider", "source"] as const
export type Grouping = (typeof GROUPINGS)[number]

/** What one group of steps adds up to, kind by kind. Undefined where there is none of the kind. */
export interface GroupFigures {
  readonly runs: Figures | undefined
  readonly modelCalls: Figures | undefined
  readonly toolCalls: Figures | undefined
  /** Plain steps, and steps of which nothing says what they were. */
  readonly steps: Figures | undefined
}

export interface StatsGroup extends GroupFigures {
  /** Null where nothing says: runs without a version, steps without a name. */
  readonly key: string | null
}

export interface Stats {
  readonly by: Grouping
  /** The first and last day of which anything is counted. */
  readonly firstDay: string | null
  readonly lastDay: string | null
  readonly groups: readonly StatsGroup[]
  readonly total: GroupFigures
  /** What the filters let through but for where it came from. */
  readonly notCounted: readonly { readonly origin: Origin; readonly runs: number; readonly steps: number }[]
}

/** What is shown when no grouping is asked for. */
export type StatsOverview = Readonly<Record<"model" | "tool" | "day", Stats>>

/** The figures of steps by what they are grouped by. Groups of days go by time, others by their share. */
export function statsOf(
  sums: readonly StepSum[],
  durations: readonly StepDuration[],
  by: Grouping,
  filter: StatsFilter = {},
): Stats {
  const matching = sums.filter(matches(filter))
  const counted = matching.filter(isCounted(filter))
  const each = durations.filter(matches(filter)).filter(isCounted(filter))
  const grouped = groupBy(counted.filter(OF_KIND[by] ?? (() => true)), KEYS[by])
  const eachGrouped = groupBy(each, KEYS[by])
  const groups = [...grouped].map(([key, of]) => ({
    key: key === "" ? null : key,
    ...groupFigures(of, eachGrouped.get(key) ?? []),
  }))
  const days = counted.map(({ period }) => period).sort()
  return {
    by,
    firstDay: days[0] ?? null,
    lastDay: days.at(-1) ?? null,
    groups: groups.sort(by === "day" || by === "week" ? byKey : byWeight),
    total: groupFigures(counted, each),
    notCounted: notCounted(matching, filter),
  }
}

const KEYS: Readonly<Record<Grouping, (step: StepSort) => string>> = {
  model: ({ name }) => name,
  tool: ({ name }) => name,
  kind: kindOf,
  day: ({ period }) => period,
  week: ({ period }) => mondayOf(period),
  app: ({ app }) => app ?? "",
  version: ({ app, agentVersion }) => (agentVersion === null ? "" : [app, agentVersion].filter(Boolean).join(" ")),
  provider: ({ provider }) => provider ?? "",
  source: ({ source }) => source ?? "",
}

/** What is grouped by a name that only one kind of step has. */
const OF_KIND: Partial<Record<Grouping, (step: StepSort) => boolean>> = {
  model: ({ kind }) => kind === "model",
  tool: ({ kind }) => kind === "tool",
  provider: ({ kind }) => kind === "model",
}

/** The Monday of a day's week; 1970-01-01 was a Thursday. */
function mondayOf(day: string): string {
  const at = Math.floor(Date.parse(day) / DAY_MS)
  return new Date((at - ((((at + 3) % 7) + 7) % 7)) * DAY_MS).toISOString().slice(0, 10)
}

const DAY_MS = 86_400_000

function groupFigures(sums: readonly StepSum[], durations: readonly StepDuration[]): GroupFigures {
  const of = (...kinds: readonly StepSort["kind"][]): Figures | undefined => {
    const own = sums.filter(({ kind }) => kinds.includes(kind))
    return own.length === 0
      ? undefined
      : figuresOf(
          own,
          durations.filter(({ kind }) => kinds.includes(kind)),
        )
  }
  return { runs: of("run"), modelCalls: of("model"), toolCalls: of("tool"), steps: of("step", "unknown") }
}

/** By money, then tokens, then how often. */
function byWeight(one: StatsGroup, other: StatsGroup): number {
  const [mine, theirs] = [one, other].map((group) => [
    group.modelCalls?.usd ?? 0,
    group.modelCalls?.tokens.prompt ?? 0,
    stepsIn(group),
  ])
  const at = mine!.findIndex((value, index) => value !== theirs![index])
  return at === -1 ? byKey(one, other) : theirs![at]! - mine![at]!
}

const byKey = ({ key: one }: StatsGroup, { key: other }: StatsGroup): number => ((one ?? "") < (other ?? "") ? -1 : 1)

/** All steps of a group, runs aside. */
export const stepsIn = ({ modelCalls, toolCalls, steps }: GroupFigures): number =>
  (modelCalls?.count ?? 0) + (toolCalls?.count ?? 0) + (steps?.count ?? 0)

function notCounted(matching: readonly StepSum[], filter: StatsFilter): Stats["notCounted"] {
  const isIn = isCounted(filter)
  const left = groupBy(
    matching.filter((sum) => !isIn(sum)),
    ({ origin }) => origin,
  )
  return [...left].map(([origin, of]) => ({
    origin,
    runs: total(of.filter(({ kind }) => kind === "run")),
    steps: total(of.filter(({ kind }) => kind !== "run")),
  }))
}

const total = (sums: readonly StepSum[]): number => sums.reduce((sum, { count }) => sum + count, 0)
