import {
  type CountTokens,
  cutToTokens,
  cutToWidth,
  padToWidth,
  plain,
  recordedText,
  recordedWord,
  safeText,
} from "@orangebox/text"
import { runAddress, stepAt } from "./format-run.js"
import { stepWords } from "./format-skeleton.js"
import { inFormat, lastOf, pageJson, pageOf, rangeWords, roomOf, rowAt, type ViewOptions } from "./page.js"
import type { RunView, StepView } from "./run-view.js"
import { stepSummaryJson } from "./skeleton-json.js"
import { type StepRow, stepRows } from "./step-rows.js"

/** The budget is at least `MIN_STEP_BUDGET`, and 2,000 tokens where none is said. */
export interface StepOptions extends ViewOptions {
  /** The row to begin with, counted from 0: `next_cursor` of the answer before. */
  readonly cursor?: number
  /** Every row: also hashes, nulls and the ids of events. Default: what a person came for. The JSON form always has all. */
  readonly all?: boolean
  /** What was said in the step, in full where the budget allows: shown before any fact about it. */
  readonly contents?: readonly StepContent[]
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

const USUAL_BUDGET = 2000
export const MIN_STEP_BUDGET = 200

/** Everything about one step, in rows; as many as the budget allows, and where to go on. */
export function stepText(view: RunView, n: number, options: StepOptions = {}): string {
  const { title, contents, hidden, ...page } = stepPage(view, n, options)
  const paint = options.color ?? plain
  const lines = [paint(title, "heading")]
  for (const { heading, text } of contents) lines.push(paint(heading, "number"), ...text)
  let section = ""
  page.rows.forEach((row, index) => {
    if (row.section !== section) lines.push(paint(`${row.section}:`, "number"))
    section = row.section
    lines.push(page.texts[index]!)
  })
  lines.push(paint(footerOf(view, n, { ...page, hidden }, options), "dim"))
  return inFormat(lines.join("\n"), options)
}

/** The same rows for programs, values whole and as recorded; print it with `safeJson`. */
export function stepJson(view: RunView, n: number, options: Omit<StepOptions, "format" | "color"> = {}) {
  const page = stepPage(view, n, { ...options, all: true, contents: [] })
  const rows = page.rows.map(({ recorded: _, ...row }) => row)
  return { step: stepSummaryJson(page.step), rows, ...pageJson(page) }
}

function stepPage(view: RunView, n: number, options: StepOptions) {
  const step = stepAt(view, n)
  const { budget, count } = roomOf(options, USUAL_BUDGET, MIN_STEP_BUDGET)
  const isAll = options.all === true
  const every = stepRows(view, step)
  const rows = isAll ? every : every.filter(isTelling)
  /** Rows that only `all` shows. */
  const hidden = every.length - rows.length
  const title = cutToTokens(stepTitle(step), Math.floor(budget / 3), count)
  const frame = count(title) + count(footerOf(view, n, { ...lastOf(rows.length), hidden }, options)) + 8
  // A later page goes on with the rows; what was said is on the first one.
  const isFirst = rowAt(options.cursor, rows.length) === 0
  const contents = isFirst ? contentsOf(view, n, options, Math.floor((budget - frame) * CONTENT_SHARE), count) : []
  const left = contents.reduce((rest, { cost }) => rest - cost, budget - frame)
  const page = pageOf(
    rows,
    options.cursor,
    { budget: left, count },
    {
      textOf: (row, most) => {
        let text = rowText(row, LONGEST_VALUE, isAll)
        for (let width = LONGEST_VALUE / 2; width > 10 && count(text) > most; width /= 2) {
          text = rowText(row, Math.floor(width), isAll)
        }
        return text
      },
      headingOf: ({ section }) => section,
    },
  )
  return { ...page, step, title, contents, hidden }
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

/** Rows for a person: no nulls, no digests, no ids of events; what points at bytes is shown by their names and sizes. */
function isTelling({ section, name, value }: StepRow): boolean {
  if (value === null) return false
  if (section === "step") return name !== "trace_id"
  if (!section.startsWith("event ")) return true
  return (
    name !== "event_id" && !/(?:_ref|_hash|_digest|_fingerprint)$/.test(name) && (name === "commit" || !isDigest(value))
  )
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
  if (typeof value === "number") return String(Math.round(value * 1000) / 1000)
  if (typeof value !== "string") return String(value)
  if (recorded === "nothing") return cutToWidth(value, width)
  const size = value.length > width ? ` (${value.length} characters)` : ""
  // Text that looks like a number or a literal is quoted, so that it is not taken for one.
  const isLookalike = recorded === "name and value" && LITERAL.test(value)
  return (isLookalike ? recordedText(value, width) : recordedWord(value, width)) + size
}

const LITERAL = /^(?:null|true|false|-?\d[\d.eE+-]*)$/

/** One line about a step: what it is, how long it took, how it ended. */
export function stepTitle(step: StepView): string {
  // Here there is room for it, and its error is what the reader came for, wherever else it stands.
  const words = stepWords(step.error ? { ...step, error: { ...step.error, sameAs: undefined } } : step, false)
  return [`#${step.n} ${words.label}`, words.time, words.verdict].filter((part) => part !== "").join(" · ")
}

function footerOf(
  view: RunView,
  n: number,
  { hidden, ...page }: ReturnType<typeof lastOf> & { readonly hidden: number },
  options: StepOptions,
): string {
  const { to, total } = page
  const place = `${options.address ?? runAddress(view)}#${n}${options.all ? " --all" : ""}`
  const next = to < total ? ` · next: orangebox step ${place} --cursor ${to}` : ""
  return `${rangeWords("rows", page)}${hidden > 0 ? ` · ${hidden} more with --all: hashes, nulls, ids` : ""}${next}`
}
