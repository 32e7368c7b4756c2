import { formatDuration, type Painter, plain, plural } from "@orangebox/text"
import { dollars } from "../stats/stats-text.js"
import type { ObjectiveReading } from "./objectives.js"

const MARK = { met: "ok", breached: "BREACHED", unknown: "unknown" } as const
const COLOUR = { met: "heading", breached: "bad", unknown: "warn" } as const

/** An objective a paragraph: what it is now, what is left of its budget, and how the days went. */
export function objectivesText(readings: readonly ObjectiveReading[], paint: Painter = plain): string {
  return readings.map((reading) => paragraph(reading, paint)).join("\n\n")
}

function paragraph(reading: ObjectiveReading, paint: Painter): string {
  const { objective, verdict, value, note, budget, burnRate, days } = reading
  const tell = teller(objective.measure)
  const bounds = [
    ...(objective.most === undefined ? [] : [`at most ${tell(objective.most)}`]),
    ...(objective.least === undefined ? [] : [`at least ${tell(objective.least)}`]),
  ].join(", ")
  const of = objective.app === undefined ? "" : ` of ${objective.app}`
  const now = value === null ? "unknown" : tell(value)
  const left = budget === null ? [] : [budgetWords(budget, burnRate)]
  return [
    paint(
      `${MARK[verdict]}  ${objective.name ?? objective.measure}${of}: ${now} over ${plural(objective.days, "day")}, ${bounds}`,
      COLOUR[verdict],
    ),
    ...left.map((line) => `  ${line}`),
    ...(note === null ? [] : [`  ${note}`]),
    `  ${trend(days.map((day) => day.value))}  ${days[0]?.day} … ${days.at(-1)?.day}`,
  ].join("\n")
}

const teller = (measure: ObjectiveReading["objective"]["measure"]): ((value: number) => string) =>
  measure.endsWith("_ms")
    ? (value) => formatDuration(value * 1000)
    : measure === "cost_per_run"
      ? dollars
      : (value) => `${round(value * 100)} %`

function budgetWords({ of, allowed, used }: NonNullable<ObjectiveReading["budget"]>, burnRate: number | null): string {
  const share = allowed === 0 ? (used === 0 ? 0 : Number.POSITIVE_INFINITY) : used / allowed
  const words = Number.isFinite(share) ? `${Math.round(share * 100)} % of the budget` : "there is no budget"
  const burn = burnRate === null ? "" : ` · burning at ${burnRate.toFixed(1)} × what the window allows`
  return `${used} of ${of} failed, ${round(allowed)} may: ${words} used${burn}`
}

const round = (value: number): string => String(Math.round(value * 10) / 10)

const LEVELS = "▁▂▃▄▅▆▇█"

/** A sign for each day, as high as its value; a dot where nothing is known. */
function trend(values: readonly (number | null)[]): string {
  const most = Math.max(0, ...values.flatMap((value) => value ?? []))
  return values
    .map((value) => (value === null ? "·" : LEVELS[most === 0 ? 0 : Math.round((value / most) * (LEVELS.length - 1))]!))
    .join("")
}
