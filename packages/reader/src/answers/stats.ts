import {
  costBenefitCsv,
  costBenefitJson,
  costBenefitText,
  GROUPINGS,
  statsCsv,
  statsJson,
  statsOverviewJson,
  statsOverviewText,
  statsText,
} from "@orangebox/query"
import { plain } from "@orangebox/text"
import type { StoreReading } from "../open/open-reading.js"
import { loadCostBenefit, loadOverview, loadStats, type StatsQuestion } from "../stats/load-stats.js"
import type { Answer, Shown } from "./answer.js"
import { inFolder } from "./placed.js"

export const STATS_BY = [...GROUPINGS, "contributor"] as const

export interface StatsAsked extends StatsQuestion {
  readonly by?: (typeof STATS_BY)[number]
  /** So many rows of a table. */
  readonly limit?: number
}

/** Of all answers this one is also a table of figures. */
export interface StatsAnswer extends Answer {
  csv(): string
}

/** What runs add up to. */
export async function answerStats(
  { store, freshness }: StoreReading,
  { by, limit, ...question }: StatsAsked,
  { width, color = plain }: Shown,
  data: string | undefined,
): Promise<StatsAnswer> {
  const shown = {
    ...(width === undefined ? {} : { width }),
    ...(limit === undefined ? {} : { limit }),
    paint: color,
    next: `orangebox stats ${inFolder(data, "--by contributor")}`,
  }
  const answer = (json: () => object, text: () => string, csv: () => string): StatsAnswer => ({
    ...{ text, csv },
    json: () => ({ ...json(), ...freshness }),
  })
  if (by === "contributor") {
    const table = await loadCostBenefit(store, question)
    return answer(
      () => costBenefitJson(table),
      () => costBenefitText(table, shown),
      () => costBenefitCsv(table),
    )
  }
  if (by === undefined) {
    const overview = await loadOverview(store, question)
    return answer(
      () => statsOverviewJson(overview),
      () => statsOverviewText(overview, shown),
      () => statsCsv(overview.day),
    )
  }
  const stats = await loadStats(store, by, question)
  return answer(
    () => statsJson(stats),
    () => statsText(stats, shown),
    () => statsCsv(stats),
  )
}
