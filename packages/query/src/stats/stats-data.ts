import { safeLine, snakeJson } from "@orangebox/text"
import type { ContributorFigures, CostBenefit } from "./cost-benefit.js"
import type { Figures } from "./figures.js"
import type { GroupFigures, Stats, StatsGroup, StatsOverview } from "./stats.js"

/** The document of `stats --by … --json`. */
export function statsJson({ groups, total, notCounted, by, firstDay, lastDay }: Stats) {
  return snakeJson({ by, firstDay, lastDay, total: figuresJson(total), groups: groups.map(groupJson), notCounted })
}

/** The document of `stats --json`. */
export function statsOverviewJson({ model, tool, day }: StatsOverview) {
  const { firstDay, lastDay, total, notCounted } = day
  return snakeJson({
    by: null,
    firstDay,
    lastDay,
    total: figuresJson(total),
    models: model.groups.map(groupJson),
    tools: tool.groups.map(groupJson),
    days: day.groups.map(groupJson),
    notCounted,
  })
}

const groupJson = (group: StatsGroup) => ({ key: group.key, ...figuresJson(group) })

export const costBenefitJson = (table: CostBenefit) => snakeJson({ by: "contributor", ...table })

const figuresJson = ({ runs, modelCalls, toolCalls, steps }: GroupFigures) => ({ runs, modelCalls, toolCalls, steps })

/** One line for each group and kind of step, for a spreadsheet. Unknown is an empty cell. */
export function statsCsv({ by, groups }: Stats): string {
  return csv(
    [by, "kind", ...FIGURES.map(([name]) => name)],
    groups.flatMap((group) =>
      KINDS.flatMap(([kind, of]) => {
        const figures = of(group)
        return figures ? [[group.key, kind, ...FIGURES.map(([, value]) => value(figures))]] : []
      }),
    ),
  )
}

const KINDS: readonly [string, (group: StatsGroup) => Figures | undefined][] = [
  ["run", ({ runs }) => runs],
  ["model", ({ modelCalls }) => modelCalls],
  ["tool", ({ toolCalls }) => toolCalls],
  ["step", ({ steps }) => steps],
]

const FIGURES: readonly [string, (figures: Figures) => number | boolean | null][] = [
  ["count", ({ count }) => count],
  ["successes", ({ successes }) => successes],
  ["errors", ({ errors }) => errors],
  ["timeouts", ({ timeouts }) => timeouts],
  ["open", ({ open }) => open],
  ["attempts", ({ attempts }) => attempts],
  ["prompt_tokens", ({ tokens }) => tokens.prompt],
  ["completion_tokens", ({ tokens }) => tokens.completion],
  ["cache_read_tokens", ({ tokens }) => tokens.cacheRead],
  ["cache_write_tokens", ({ tokens }) => tokens.cacheWrite],
  ["reasoning_tokens", ({ tokens }) => tokens.reasoning],
  ["calls_without_usage", ({ callsWithoutUsage }) => callsWithoutUsage],
  ["usd", ({ usd }) => usd],
  ["unpriced_calls", ({ unpricedCalls }) => unpricedCalls],
  ["duration_ms_sum", ({ duration }) => duration.sumMs],
  ["duration_ms_max", ({ duration }) => duration.maxMs],
  ["duration_ms_p50_from", ({ duration }) => duration.p50?.fromMs ?? null],
  ["duration_ms_p50_to", ({ duration }) => duration.p50?.toMs ?? null],
  ["duration_ms_p95_from", ({ duration }) => duration.p95?.fromMs ?? null],
  ["duration_ms_p95_to", ({ duration }) => duration.p95?.toMs ?? null],
  ["first_byte_ms_p50_from", ({ firstByte }) => firstByte.p50?.fromMs ?? null],
  ["first_byte_ms_p50_to", ({ firstByte }) => firstByte.p50?.toMs ?? null],
]

const CONTRIBUTOR_CELLS: readonly [string, (row: ContributorFigures) => string | number | null][] = [
  ["contributor", ({ contributor }) => contributor],
  ["kind", ({ kind }) => kind],
  ["prompts", ({ prompts }) => prompts],
  ["bytes", ({ bytes }) => bytes],
  ["tokens_estimated", ({ tokensEstimated }) => tokensEstimated],
  ["uncounted_prompts", ({ uncountedPrompts }) => uncountedPrompts],
  ["usd", ({ usd }) => usd],
  ["unpriced_prompts", ({ unpricedPrompts }) => unpricedPrompts],
  ["uses", ({ uses }) => uses],
  ["unheard_prompts", ({ unheardPrompts }) => unheardPrompts],
  ["calls", ({ calls }) => calls],
  ["successes", ({ successes }) => successes],
  ["errors", ({ errors }) => errors],
  ["bad_input", ({ badInput }) => badInput],
  ["note", ({ note }) => note],
]

export const costBenefitCsv = ({ standing, rest }: CostBenefit): string =>
  csv(
    CONTRIBUTOR_CELLS.map(([name]) => name),
    [...standing, ...rest].map((row) => CONTRIBUTOR_CELLS.map(([, value]) => value(row))),
  )

function csv(head: readonly string[], rows: readonly (readonly (string | number | boolean | null)[])[]): string {
  return [head, ...rows].map((row) => `${row.map(csvCell).join(",")}\r\n`).join("")
}

/** RFC 4180. Recorded text that a spreadsheet would run as a formula gets the sign that makes it text. */
function csvCell(value: string | number | boolean | null): string {
  if (value === null) return ""
  if (typeof value !== "string") return String(value)
  const line = safeLine(value)
  const text = /^[=+\-@]/.test(line) ? `'${line}` : line
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
