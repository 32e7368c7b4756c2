import { injectionWords, missingWords } from "@orangebox/dialects"
import {
  cutToTokens,
  formatCount,
  formatPercent,
  formatTable,
  plain,
  plural,
  recordedWord,
  snakeJson,
} from "@orangebox/text"
import { headerOf } from "../format-run.js"
import { inFormat, lastOf, pageJson, pageOf, rangeWords, roomOf, rowAt, type ViewOptions } from "../page.js"
import type { RunView } from "../run-view.js"
import { countsOf, sinceWord } from "./context-changes.js"
import type { ContextReading } from "./context-reading.js"
import { changesSince } from "./context-view.js"
import { previousContext, type RecordedContext } from "./recorded-contexts.js"

/** One context of a run, in a line. */
type ContextSummary = ReturnType<typeof summarizeContexts>[number]

/** All contexts of a run side by side. */
export function summarizeContexts(readings: readonly ContextReading[]) {
  const contexts = readings.map(({ context }) => context)
  const byContext = new Map<RecordedContext, ContextReading>(readings.map((reading) => [reading.context, reading]))
  return readings.map((reading) => {
    const { context, basis, inferredBy, prompt, items, excludedCount } = reading
    const before = previousContext(contexts, context)
    const changes = before && changesSince(byContext.get(before)!, reading)
    return {
      n: context.n,
      name: context.step.name,
      lane: context.lane,
      laneInferredBy: context.laneInferredBy,
      isAuxiliary: context.isAuxiliary,
      basis,
      inferredBy,
      tokens: prompt.tokens,
      isEstimated: prompt.countedBy === "estimate",
      budget: prompt.budget,
      items: items.length,
      excluded: excludedCount,
      faults: reading.faults.length,
      // What the model read that was not put together for it, as the recorder found it when the request was sent.
      injected: context.account && injectionWords(context.account),
      incomplete: context.account && missingWords(context.account),
      // Null for the first of its lane, and where either of the two is not known.
      changes: changes ? countsOf(changes) : null,
    }
  })
}

/** The budget is at least `MIN_OVERVIEW_BUDGET`, and 2,000 tokens where none is said. */
export interface OverviewOptions extends ViewOptions {
  readonly cursor?: number
  /** Columns of the reader's terminal, where the table has to fit. Default: nothing limits a line. */
  readonly width?: number
  readonly address: string
}

const USUAL_BUDGET = 2000
export const MIN_OVERVIEW_BUDGET = 320

/** A run's contexts as a table, and where to go on. */
export function overviewText(view: RunView, summaries: readonly ContextSummary[], options: OverviewOptions): string {
  const paint = options.color ?? plain
  const { header, titles, rows, ...page } = overviewPage(view, summaries, options)
  const table =
    summaries.length === 0 ? ["no model was called, and no context compiled"] : [paint(titles, "dim"), ...rows]
  const lines = [paint(header, "heading"), ...table, paint(footerOf(summaries, page, options), "dim")]
  return inFormat(lines.join("\n"), options)
}

export function overviewJson(
  view: RunView,
  summaries: readonly ContextSummary[],
  options: Omit<OverviewOptions, "format" | "color">,
) {
  const page = overviewPage(view, summaries, options)
  return { contexts: snakeJson(summaries.slice(page.from, page.to)), ...pageJson(page) }
}

function overviewPage(view: RunView, summaries: readonly ContextSummary[], options: OverviewOptions) {
  const { budget, count } = roomOf(options, USUAL_BUDGET, MIN_OVERVIEW_BUDGET)
  const header = cutToTokens(headerOf(view), Math.floor(budget / 3), count)
  const total = summaries.length
  const from = rowAt(options.cursor, total)
  // Columns are as wide as the rows that could fit, so that a page does not change its width with what is on the next.
  const [titles = "", ...table] = tableOf(summaries.slice(from, from + MOST_ROWS), options.width).split("\n")
  const frame = [header, titles, footerOf(summaries, lastOf(total), options)]
  const left = frame.reduce((rest, line) => rest - count(line), budget - 9)
  const { texts: rows } = pageOf(table, 0, { budget: left, count }, { textOf: (row) => row })
  return { header, titles, rows, from, to: from + rows.length, total }
}

const MOST_ROWS = 500

function tableOf(summaries: readonly ContextSummary[], width = Number.POSITIVE_INFINITY): string {
  const hasLanes = new Set(summaries.map(({ lane }) => lane)).size > 1
  const hasBudgets = summaries.some(({ budget }) => budget)
  return formatTable(
    [
      { title: "step", align: "right" },
      { title: "model", maxWidth: 28, minWidth: 20 },
      ...(hasLanes ? [{ title: "lane", maxWidth: 20, minWidth: 6 }] : []),
      { title: "tokens", align: "right" },
      ...(hasBudgets ? [{ title: "of budget", align: "right" as const, dropRank: 3 }] : []),
      { title: "items", align: "right" },
      { title: "left out", align: "right" },
      { title: "since the one before" },
      { title: "known from", dropRank: 2 },
    ],
    summaries.map((summary) => [
      `#${summary.n}`,
      summary.name === undefined ? "?" : recordedWord(summary.name, 28),
      ...(hasLanes ? [laneWords(summary)] : []),
      `${summary.isEstimated ? "≈" : ""}${formatCount(summary.tokens)}`,
      ...(hasBudgets ? [budgetWords(summary)] : []),
      String(summary.items),
      summary.excluded === undefined ? "?" : String(summary.excluded),
      sinceWords(summary),
      knownFrom(summary),
    ]),
    { width },
  )
}

const budgetWords = ({ budget, tokens }: ContextSummary): string =>
  budget && tokens !== undefined ? `${formatPercent(tokens, budget)} of ${formatCount(budget)}` : "–"

const laneWords = ({ lane, laneInferredBy }: ContextSummary): string =>
  lane === undefined ? "" : `${laneInferredBy === undefined ? "" : "≈ "}${recordedWord(lane, 18)}`

function sinceWords({ changes, isAuxiliary, faults, basis, injected, incomplete }: ContextSummary): string {
  const words = [
    ...(injected === undefined ? [] : [`✗ context_injected: ${injected}`]),
    ...(incomplete === undefined ? [] : [`✗ incomplete: ${incomplete}`]),
    ...(faults > 0 ? [`✗ ${plural(faults, "fault")}`] : []),
  ]
  if (isAuxiliary) return ["side call", ...words].join(" · ")
  if (!changes) return [basis === "unknown" ? "?" : "first", ...words].join(" · ")
  const { added, removed, changed, same, historyLoss } = changes
  const loss = historyLoss ? ` ≈ ${historyLoss.why}` : ""
  return [`+${added} −${removed} ~${changed} =${same} (${sinceWord(changes)})${loss}`, ...words].join(" · ")
}

function knownFrom({ basis, inferredBy }: ContextSummary): string {
  return inferredBy === undefined ? basis : `≈ ${basis}`
}

function footerOf(
  summaries: readonly ContextSummary[],
  page: ReturnType<typeof lastOf>,
  options: OverviewOptions,
): string {
  const { from, to, total } = page
  const rows = to - from === total ? plural(total, "context") : rangeWords("contexts", page)
  const example = summaries.findLast(({ isAuxiliary }) => !isAuxiliary) ?? summaries.at(-1)
  const next = [
    ...(to < total ? [`orangebox context ${options.address} --cursor ${to}`] : []),
    ...(example ? [`orangebox context ${options.address}#${example.n}`] : []),
  ]
  return next.length === 0 ? rows : `${rows} · next: ${next.join(" · ")}`
}
