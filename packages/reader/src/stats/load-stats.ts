import { given, InputError } from "@orangebox/contract"
import {
  type ContributorSum,
  type CostBenefit,
  costBenefit,
  type Grouping,
  type Stats,
  type StatsFilter,
  type StatsOverview,
  type StepDuration,
  type StepSum,
  statsOf,
  unknownWord,
} from "@orangebox/query"
import type { TraceReader } from "@orangebox/store"
import { nearestWord, recordedWord } from "@orangebox/text"

export interface StatsQuestion extends StatsFilter {
  /** Milliseconds since 1970; the whole UTC days that they fall on are counted. */
  readonly since?: number
  readonly until?: number
}

/** The figures of one grouping, from the sums that stay when runs are pruned. */
export async function loadStats(store: TraceReader, by: Grouping, question: StatsQuestion): Promise<Stats> {
  const { sums, durations } = await loadSums(store, question)
  return statsOf(sums, durations, by, question)
}

export async function loadOverview(store: TraceReader, question: StatsQuestion): Promise<StatsOverview> {
  const { sums, durations } = await loadSums(store, question)
  const by = (grouping: Grouping): Stats => statsOf(sums, durations, grouping, question)
  return { model: by("model"), tool: by("tool"), day: by("day") }
}

/** What stands in prompts against what it is used for. */
export async function loadCostBenefit(
  store: TraceReader,
  question: Pick<StatsQuestion, "since" | "until" | "app" | "origin">,
): Promise<CostBenefit> {
  const days = daysOf(question)
  const sums: readonly StepSum[] = await store.rollups({ by: "day", ...days })
  refuseUnknown(sums, given({ app: question.app }))
  const contributors: readonly ContributorSum[] = await store.contributors({ by: "day", ...days })
  return costBenefit(contributors, sums, question)
}

/** Where there are more steps than this, their durations are not read one by one, and percentiles come from the sums: as bounds. */
const MOST_STEPS_ONE_BY_ONE = 50_000

async function loadSums(
  store: TraceReader,
  question: StatsQuestion,
): Promise<{ readonly sums: readonly StepSum[]; readonly durations: readonly StepDuration[] }> {
  const days = daysOf(question)
  const sums: readonly StepSum[] = await store.rollups({ by: "day", ...days })
  refuseUnknown(sums, question)
  const steps = sums.reduce((total, { count }) => total + count, 0)
  return { sums, durations: steps > MOST_STEPS_ONE_BY_ONE ? [] : await store.stepDurations(days) }
}

const daysOf = ({ since, until }: Pick<StatsQuestion, "since" | "until">) => given({ since, until })

/** A filter that nothing answers to is a slip, not an answer of zero. */
function refuseUnknown(sums: readonly StepSum[], filter: StatsFilter): void {
  const unknown = sums.length === 0 ? undefined : unknownWord(sums, filter)
  if (unknown === undefined) return
  const { known, wanted } = unknown
  const option = unknown.filter === "version" ? "agent-version" : unknown.filter
  const nearest = nearestWord(wanted, known)
  const words = (nearest === undefined ? known.slice(0, MOST_NAMED) : [nearest]).map((word) => recordedWord(word, 60))
  const more = nearest === undefined && known.length > MOST_NAMED ? `, and ${known.length - MOST_NAMED} more` : ""
  throw new InputError("STATS_NOTHING_MATCHES", {
    what: `nothing recorded in this time has --${option} ${recordedWord(wanted, 60)}`,
    next:
      words.length === 0
        ? "Nothing there says one"
        : `${nearest === undefined ? "There are" : "Did you mean"}: ${words.join(", ")}${more}`,
  })
}

const MOST_NAMED = 8
