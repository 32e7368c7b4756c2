import {
  type CountTokens,
  cutToTokens,
  estimateTokens,
  fenced,
  formatCount,
  formatPercent,
  formatTable,
  type Painter,
  plural,
  recordedWord,
  type SnakeJson,
  snakeJson,
} from "@orangebox/text"
import { headerOf } from "../format-run.js"
import type { RunView } from "../run-view.js"
import type { ContextChanges } from "./context-changes.js"
import type { ContextReading } from "./context-reading.js"
import { changesSince } from "./context-view.js"
import { previousContext, type RecordedContext } from "./recorded-contexts.js"

/** One context of a run, in a line. */
export interface ContextSummary {
  readonly n: number
  readonly name: string | undefined
  readonly lane: string | undefined
  readonly isAuxiliary: boolean
  readonly basis: ContextReading["basis"]
  readonly inferredBy: string | undefined
  readonly tokens: number | undefined
  readonly isEstimated: boolean
  readonly budget: number | undefined
  readonly items: number
  readonly excluded: number | undefined
  readonly faults: number
  /** Null for the first of its lane, and where either of the two is not known. */
  readonly changes: ChangeCounts | null
}

export interface ChangeCounts {
  readonly since: number
  readonly added: number
  readonly removed: number
  readonly changed: number
  readonly same: number
  readonly prefix: ContextChanges["prefix"]
  readonly historyLoss: ContextChanges["historyLoss"] | null
}

/** All contexts of a run side by side. */
export function summarizeContexts(readings: readonly ContextReading[]): ContextSummary[] {
  const contexts = readings.map(({ context }) => context)
  const byContext = new Map<RecordedContext, ContextReading>(readings.map((reading) => [reading.context, reading]))
  return readings.map((reading) => {
    const { context, basis, inferredBy, prompt, items, excludedCount, manifest } = reading
    const before = previousContext(contexts, context)
    const changes = before && changesSince(byContext.get(before)!, reading)
    return {
      n: context.n,
      name: context.step.name,
      lane: context.lane,
      isAuxiliary: context.isAuxiliary,
      basis,
      inferredBy,
      tokens: prompt.tokens,
      isEstimated: prompt.countedBy === "estimate",
      budget: prompt.budget,
      items: items.length,
      excluded: excludedCount,
      faults: manifest?.faults.length ?? 0,
      changes: changes ? countsOf(changes) : null,
    }
  })
}

function countsOf({ since, added, removed, changed, same, prefix, historyLoss }: ContextChanges): ChangeCounts {
  return {
    since,
    added: added.length,
    removed: removed.length,
    changed: changed.length,
    same,
    prefix,
    historyLoss: historyLoss ?? null,
  }
}

export interface OverviewOptions {
  /** At most this many tokens; at least `MIN_OVERVIEW_BUDGET`. Default 2,000. */
  readonly budget?: number
  readonly cursor?: number
  readonly format?: "text" | "markdown"
  readonly color?: Painter
  readonly countTokens?: CountTokens
  readonly address: string
}

export const DEFAULT_OVERVIEW_BUDGET = 2000
export const MIN_OVERVIEW_BUDGET = 320

/** A run's contexts as a table, and where to go on. */
export function overviewText(view: RunView, summaries: readonly ContextSummary[], options: OverviewOptions): string {
  const paint: Painter = options.color ?? ((text) => text)
  const { header, lines, from, to } = pageOf(view, summaries, options)
  const [titles, ...rows] = lines
  const text = [
    paint(header, "heading"),
    ...(summaries.length === 0
      ? ["no model was called, and no context compiled"]
      : [paint(titles ?? "", "dim"), ...rows]),
    paint(footerOf(summaries, from, to, options), "dim"),
  ].join("\n")
  return options.format === "markdown" ? fenced(text) : text
}

export interface OverviewJson {
  readonly contexts: SnakeJson<readonly ContextSummary[]>
  readonly from: number
  readonly to: number
  readonly total: number
  readonly next_cursor: number | null
}

export function overviewJson(
  view: RunView,
  summaries: readonly ContextSummary[],
  options: Omit<OverviewOptions, "format" | "color">,
): OverviewJson {
  const { from, to } = pageOf(view, summaries, options)
  const total = summaries.length
  return {
    contexts: snakeJson(summaries.slice(from, to)),
    ...{ from, to, total, next_cursor: to < total ? to : null },
  }
}

function pageOf(view: RunView, summaries: readonly ContextSummary[], options: OverviewOptions) {
  const count = options.countTokens ?? estimateTokens
  const fence = options.format === "markdown" ? count(fenced("")) + 4 : 0
  const budget = Math.max(options.budget ?? DEFAULT_OVERVIEW_BUDGET, MIN_OVERVIEW_BUDGET) - fence
  const header = cutToTokens(headerOf(view), Math.floor(budget / 3), count)
  const from = Math.min(Math.max(0, Math.floor(options.cursor ?? 0)), summaries.length)
  const longestFooter = footerOf(summaries, summaries.length, summaries.length - 1, options)
  let left = budget - count(header) - count(longestFooter) - 8
  // Columns are as wide as the rows that could fit, so that a page does not change its width with what is on the next.
  const [titles = "", ...rows] = tableOf(summaries.slice(from, from + MOST_ROWS)).split("\n")
  left -= count(titles) + 1
  const lines = [titles]
  for (const row of rows) {
    left -= count(row) + 1
    if (left < 0 && lines.length > 1) break
    lines.push(row)
  }
  return { header, lines, from, to: summaries.length === 0 ? 0 : from + lines.length - 1 }
}

const MOST_ROWS = 500

function tableOf(summaries: readonly ContextSummary[]): string {
  const hasLanes = new Set(summaries.map(({ lane }) => lane)).size > 1
  return formatTable(
    [
      { title: "step", align: "right" },
      { title: "model", maxWidth: 28 },
      ...(hasLanes ? [{ title: "lane", maxWidth: 14 }] : []),
      { title: "tokens", align: "right" },
      { title: "of budget", align: "right" },
      { title: "items", align: "right" },
      { title: "left out", align: "right" },
      { title: "since the one before" },
      { title: "known from" },
    ],
    summaries.map((summary) => [
      `#${summary.n}`,
      summary.name === undefined ? "?" : recordedWord(summary.name, 28),
      ...(hasLanes ? [summary.lane === undefined ? "" : recordedWord(summary.lane, 14)] : []),
      `${summary.isEstimated ? "≈" : ""}${formatCount(summary.tokens)}`,
      summary.budget && summary.tokens !== undefined
        ? `${formatPercent(summary.tokens, summary.budget)} of ${formatCount(summary.budget)}`
        : "–",
      String(summary.items),
      summary.excluded === undefined ? "?" : String(summary.excluded),
      sinceWords(summary),
      knownFrom(summary),
    ]),
  )
}

function sinceWords({ changes, isAuxiliary, faults, basis }: ContextSummary): string {
  const words = faults > 0 ? [`✗ ${plural(faults, "fault")}`] : []
  if (isAuxiliary) return ["side call", ...words].join(" · ")
  if (!changes) return [basis === "unknown" ? "?" : "first", ...words].join(" · ")
  const { since, added, removed, changed, same, historyLoss } = changes
  const loss = historyLoss ? ` ≈ ${historyLoss.why}` : ""
  return [`+${added} −${removed} ~${changed} =${same} (#${since})${loss}`, ...words].join(" · ")
}

function knownFrom({ basis, inferredBy }: ContextSummary): string {
  return inferredBy === undefined ? basis : `≈ ${basis}`
}

function footerOf(summaries: readonly ContextSummary[], from: number, to: number, options: OverviewOptions): string {
  const total = summaries.length
  const rows = to - from === total ? plural(total, "context") : `contexts ${from + 1}–${to} of ${total}`
  const example = summaries.findLast(({ isAuxiliary }) => !isAuxiliary) ?? summaries.at(-1)
  const next = [
    ...(to < total ? [`orangebox context ${options.address} --cursor ${to}`] : []),
    ...(example ? [`orangebox context ${options.address}#${example.n}`] : []),
  ]
  return next.length === 0 ? rows : `${rows} · next: ${next.join(" · ")}`
}
