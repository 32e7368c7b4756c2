import {
  type CountTokens,
  cutToTokens,
  cutToWidth,
  estimateTokens,
  fenced,
  padToWidth,
  recordedText,
  recordedWord,
} from "@orangebox/text"
import type { RunView, StepView } from "./run-view.js"
import { runAddress, stepAt } from "./run-words.js"
import type { Painter } from "./skeleton.js"
import { type StepJson, stepSummaryJson } from "./skeleton-json.js"
import { stepWords } from "./skeleton-words.js"
import { type StepRow, stepRows } from "./step-rows.js"

export interface StepOptions {
  /** At most this many tokens; at least `MIN_STEP_BUDGET`. Default 2,000. */
  readonly budget?: number
  /** The row to begin with, counted from 0: `nextCursor` of the answer before. */
  readonly cursor?: number
  readonly format?: "text" | "markdown"
  readonly color?: Painter
  readonly countTokens?: CountTokens
  /** How the reader addressed the run, for the commands in the footer. Default: its id. */
  readonly address?: string
}

export const DEFAULT_STEP_BUDGET = 2000
export const MIN_STEP_BUDGET = 200

/** Everything about one step, in rows; as many as the budget allows, and where to go on. */
export function stepText(view: RunView, n: number, options: StepOptions = {}): string {
  const { title, rows, texts, from, to, total } = page(view, n, options)
  const paint: Painter = options.color ?? ((text) => text)
  const lines = [paint(title, "heading")]
  let section = ""
  rows.forEach((row, index) => {
    if (row.section !== section) lines.push(paint(`${row.section}:`, "number"))
    section = row.section
    lines.push(texts[index]!)
  })
  lines.push(paint(footerOf(view, n, from, to, total, options.address), "dim"))
  const text = lines.join("\n")
  return options.format === "markdown" ? fenced(text) : text
}

export interface StepReportJson {
  readonly step: StepJson
  readonly rows: readonly Omit<StepRow, "recorded">[]
  readonly from: number
  readonly to: number
  readonly total: number
  /** Null when this was the last page. */
  readonly next_cursor: number | null
}

/** The same rows for programs, values whole and as recorded; print it with `safeJson`. */
export function stepJson(
  view: RunView,
  n: number,
  options: Omit<StepOptions, "format" | "color"> = {},
): StepReportJson {
  const { step, rows, from, to, total } = page(view, n, options)
  return {
    step: stepSummaryJson(step),
    rows: rows.map(({ recorded: _, ...row }) => row),
    from,
    to,
    total,
    next_cursor: to < total ? to : null,
  }
}

interface Page {
  readonly step: StepView
  readonly title: string
  readonly rows: readonly StepRow[]
  readonly texts: readonly string[]
  readonly from: number
  readonly to: number
  readonly total: number
}

function page(view: RunView, n: number, options: StepOptions): Page {
  const step = stepAt(view, n)
  const count = options.countTokens ?? estimateTokens
  const all = stepRows(view, step)
  const from = Math.min(Math.max(0, Math.floor(options.cursor ?? 0)), all.length)
  const fence = options.format === "markdown" ? count(fenced("")) + 4 : 0
  const budget = Math.max(options.budget ?? DEFAULT_STEP_BUDGET, MIN_STEP_BUDGET) - fence
  const title = cutToTokens(titleOf(step), Math.floor(budget / 3), count)
  const longestFooter = footerOf(view, n, all.length, all.length - 1, all.length, options.address)
  const frame = count(title) + count(longestFooter) + 8
  let left = budget - frame
  let to = from
  const texts: string[] = []
  for (; to < all.length; to++) {
    const row = all[to]!
    const heading = row.section === all[to - 1]?.section && to > from ? 0 : count(row.section) + 2
    let text = rowText(row, LONGEST_VALUE)
    // A page never comes back empty, or a reader would ask for it for ever: its first row is cut until it fits.
    for (let width = LONGEST_VALUE / 2; to === from && width > 10 && count(text) + heading + 1 > left; width /= 2) {
      text = rowText(row, Math.floor(width))
    }
    left -= count(text) + heading + 1
    if (left < 0 && to > from) break
    texts.push(text)
  }
  return { step, rows: all.slice(from, to), title, texts, from, to, total: all.length }
}

const NAME_COLUMN = 22
/** Longer than any summary, so only log messages and free payload text are ever cut here; the JSON form has them whole. */
const LONGEST_VALUE = 600

function rowText(row: StepRow, width: number): string {
  const name = row.recorded === "name and value" ? recordedWord(row.name, Math.min(64, width)) : row.name
  const detail = row.detail === undefined ? "" : `  ${cutToWidth(row.detail, width)}`
  return `  ${padToWidth(name, NAME_COLUMN)} ${valueText(row, width)}${detail}`
}

function valueText({ value, recorded }: StepRow, width: number): string {
  if (typeof value !== "string") return String(value)
  if (recorded === "nothing") return cutToWidth(value, width)
  const size = value.length > width ? ` (${value.length} characters)` : ""
  // Text that looks like a number or a literal is quoted, so that it is not taken for one.
  const isLookalike = recorded === "name and value" && LITERAL.test(value)
  return (isLookalike ? recordedText(value, width) : recordedWord(value, width)) + size
}

const LITERAL = /^(?:null|true|false|-?\d[\d.eE+-]*)$/

function titleOf(step: StepView): string {
  const words = stepWords(step, true)
  return [`#${step.n} ${words.label}`, words.time, words.verdict].filter((part) => part !== "").join(" · ")
}

function footerOf(
  view: RunView,
  n: number,
  from: number,
  to: number,
  total: number,
  addressed: string | undefined,
): string {
  const address = addressed ?? runAddress(view)
  const rows = `rows ${total === 0 ? 0 : from + 1}–${to} of ${total}`
  return to < total ? `${rows} · next: orangebox step ${address}#${n} --cursor ${to}` : rows
}
