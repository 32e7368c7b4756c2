import {
  type CountTokens,
  cutToTokens,
  cutToWidth,
  estimateTokens,
  fenced,
  type Painter,
  padToWidth,
  recordedText,
  recordedWord,
  safeText,
} from "@orangebox/text"
import { runAddress, stepAt } from "./format-run.js"
import { stepWords } from "./format-skeleton.js"
import type { RunView, StepView } from "./run-view.js"
import { type StepJson, stepSummaryJson } from "./skeleton-json.js"
import { type StepRow, stepRows } from "./step-rows.js"

export interface StepOptions {
  /** At most this many tokens; at least `MIN_STEP_BUDGET`. Default 2,000. */
  readonly budget?: number
  /** The row to begin with, counted from 0: `nextCursor` of the answer before. */
  readonly cursor?: number
  /** Every row: also hashes, nulls and the ids of events. Default: what a person came for. The JSON form always has all. */
  readonly all?: boolean
  /** What was said in the step, in full where the budget allows: shown before any fact about it. */
  readonly contents?: readonly StepContent[]
  readonly format?: "text" | "markdown"
  readonly color?: Painter
  readonly countTokens?: CountTokens
  /** How the reader addressed the run, for the commands in the footer. Default: its id. */
  readonly address?: string
}

/** An answer, arguments, an output, an exception: recorded text, made safe here. */
export interface StepContent {
  /** In our words: `answer`, `arguments`, `output`, `exception`. */
  readonly title: string
  /** Undefined where the bytes are not there; `note` says why. */
  readonly text: string | undefined
  readonly note?: string
  /** The name to read it by: `--body NAME`. */
  readonly body: string
}

export const DEFAULT_STEP_BUDGET = 2000
export const MIN_STEP_BUDGET = 200

/** Everything about one step, in rows; as many as the budget allows, and where to go on. */
export function stepText(view: RunView, n: number, options: StepOptions = {}): string {
  const { title, contents, rows, texts, from, to, total, hidden } = page(view, n, options)
  const paint: Painter = options.color ?? ((text) => text)
  const lines = [paint(title, "heading")]
  for (const { heading, text } of contents) lines.push(paint(heading, "number"), ...text)
  let section = ""
  rows.forEach((row, index) => {
    if (row.section !== section) lines.push(paint(`${row.section}:`, "number"))
    section = row.section
    lines.push(texts[index]!)
  })
  lines.push(paint(footerOf(view, n, { from, to, total, hidden }, options), "dim"))
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
  const { step, rows, from, to, total } = page(view, n, { ...options, all: true, contents: [] })
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
  readonly contents: readonly { readonly heading: string; readonly text: readonly string[] }[]
  readonly rows: readonly StepRow[]
  readonly texts: readonly string[]
  readonly from: number
  readonly to: number
  readonly total: number
  /** Rows that only `all` shows. */
  readonly hidden: number
}

function page(view: RunView, n: number, options: StepOptions): Page {
  const step = stepAt(view, n)
  const count = options.countTokens ?? estimateTokens
  const every = stepRows(view, step)
  const all = options.all ? every : every.filter(isTelling)
  const hidden = every.length - all.length
  const from = Math.min(Math.max(0, Math.floor(options.cursor ?? 0)), all.length)
  const fence = options.format === "markdown" ? count(fenced("")) + 4 : 0
  const budget = Math.max(options.budget ?? DEFAULT_STEP_BUDGET, MIN_STEP_BUDGET) - fence
  const title = cutToTokens(titleOf(step), Math.floor(budget / 3), count)
  const most = { from: all.length, to: all.length - 1, total: all.length, hidden }
  const frame = count(title) + count(footerOf(view, n, most, options)) + 8
  // A later page goes on with the rows; what was said is on the first one.
  const contents = from > 0 ? [] : contentsOf(view, n, options, Math.floor((budget - frame) * CONTENT_SHARE), count)
  let left = budget - frame - contents.reduce((sum, { cost }) => sum + cost, 0)
  let to = from
  const texts: string[] = []
  for (; to < all.length; to++) {
    const row = all[to]!
    const heading = row.section === all[to - 1]?.section && to > from ? 0 : count(row.section) + 2
    let text = rowText(row, LONGEST_VALUE, options.all === true)
    // A page never comes back empty, or a reader would ask for it for ever: its first row is cut until it fits.
    for (let width = LONGEST_VALUE / 2; to === from && width > 10 && count(text) + heading + 1 > left; width /= 2) {
      text = rowText(row, Math.floor(width), options.all === true)
    }
    left -= count(text) + heading + 1
    if (left < 0 && to > from) break
    texts.push(text)
  }
  return { step, rows: all.slice(from, to), title, contents, texts, from, to, total: all.length, hidden }
}

/** Of the budget, so that facts about a step are not pushed out by one long answer. */
const CONTENT_SHARE = 0.7

function contentsOf(
  view: RunView,
  n: number,
  { contents = [], address }: StepOptions,
  budget: number,
  count: CountTokens,
): { heading: string; text: string[]; cost: number }[] {
  let left = budget
  // The bar tells recorded lines from ours, whatever they say.
  return contents.map(({ title, text, note, body }, index) => {
    const share = Math.floor(left / (contents.length - index))
    const heading = `${title}${note === undefined ? "" : ` (${note})`}:`
    const safe = text === undefined ? [] : safeText(text.trimEnd()).split("\n")
    const more = `  … orangebox step ${address ?? runAddress(view)}#${n} --body ${body}`
    const lines: string[] = []
    let cost = count(heading) + 1
    for (const line of safe) {
      const shown = `  │ ${line}`
      if (cost + count(shown) + 1 + count(more) > share) {
        // At least the beginning of it, however small the budget.
        if (lines.length === 0) lines.push(cutToTokens(shown, Math.max(16, share - cost - count(more)), count))
        lines.push(more)
        break
      }
      lines.push(shown)
      cost += count(shown) + 1
    }
    cost = count([heading, ...lines].join("\n")) + 1
    left -= cost
    return { heading, text: lines, cost }
  })
}

/** Rows for a person: no nulls, no digests, no ids of events; what points at bytes is told by their names and sizes. */
function isTelling({ section, name, value }: StepRow): boolean {
  if (value === null) return false
  if (section === "step") return name !== "trace_id"
  if (!section.startsWith("event ")) return true
  return name !== "event_id" && !/(?:_ref|_hash|_digest|_fingerprint)$/.test(name) && !isDigest(value)
}

const isDigest = (value: StepRow["value"]): boolean =>
  typeof value === "string" && /^(?:[a-z0-9-]+:)?[0-9a-f]{32,}$/.test(value)

const NAME_COLUMN = 22
/** Longer than any summary, so only log messages and free payload text are ever cut here; the JSON form has them whole. */
const LONGEST_VALUE = 600

function rowText(row: StepRow, width: number, isAll: boolean): string {
  const isHidden = !isAll && row.section === "bodies"
  const name = row.recorded === "name and value" ? recordedWord(row.name, Math.min(64, width)) : row.name
  const detail = row.detail === undefined ? "" : `  ${cutToWidth(row.detail, width)}`
  return `  ${padToWidth(name, NAME_COLUMN)} ${isHidden ? detail.trimStart() : valueText(row, width) + detail}`
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
  { from, to, total, hidden }: Pick<Page, "from" | "to" | "total" | "hidden">,
  options: StepOptions,
): string {
  const rows = `rows ${total === 0 ? 0 : from + 1}–${to} of ${total}`
  const place = `${options.address ?? runAddress(view)}#${n}`
  const next = to < total ? ` · next: orangebox step ${place}${options.all ? " --all" : ""} --cursor ${to}` : ""
  return `${rows}${hidden > 0 ? ` · ${hidden} more with --all: hashes, nulls, ids` : ""}${next}`
}
