import { cutToTokens, plain } from "@orangebox/text"
import { inFormat, lastOf, type Page, pageOf, rangeWords, roomOf, type ViewOptions } from "../page.js"
import { headOf } from "./context-head.js"
import { type ContextRow, contextRows } from "./context-rows.js"
import type { ContextView } from "./context-view.js"

/** The budget is at least `MIN_CONTEXT_BUDGET`, and 2,000 tokens where none is said. */
export interface ContextOptions extends ViewOptions {
  /** The row to begin with, counted from 0: `next_cursor` of the answer before. */
  readonly cursor?: number
  /** Every item, also those that the context before held as well. */
  readonly all?: boolean
  /** How the reader addressed the run, for the commands in the footer. */
  readonly address: string
}

const USUAL_BUDGET = 2000
export const MIN_CONTEXT_BUDGET = 400

/** What a step saw, in lines: as many as the budget allows, and where to go on. */
export function contextText(view: ContextView, options: ContextOptions): string {
  const page = contextPage(view, options)
  const paint = options.color ?? plain
  const [title, ...head] = headOf(view, paint)
  const lines = [paint(title!, "heading"), ...head]
  let heading = ""
  for (const [index, row] of page.rows.entries()) {
    if (row.heading !== heading) lines.push(paint(row.heading, "heading"))
    heading = row.heading
    const isCut = page.texts[index] !== row.text(plain)
    lines.push(isCut ? page.texts[index]! : row.text(paint))
  }
  lines.push(paint(footerOf(view, page, options), "dim"))
  return inFormat(lines.join("\n"), options)
}

/** The rows that the text shows; JSON is made of the same. */
export function contextPage(view: ContextView, options: ContextOptions): Page<ContextRow> {
  const { budget, count } = roomOf(options, USUAL_BUDGET, MIN_CONTEXT_BUDGET)
  const rows = contextRows(view, options)
  const frame = [...headOf(view, plain), footerOf(view, lastOf(rows.length), options)].join("\n")
  return pageOf(
    rows,
    options.cursor,
    { budget: budget - count(frame) - 8, count },
    {
      textOf: (row, most) => cutToTokens(row.text(plain), Math.max(16, most), count),
      headingOf: ({ heading }) => heading,
    },
  )
}

function footerOf(view: ContextView, page: ReturnType<typeof lastOf>, options: ContextOptions): string {
  const { to, total } = page
  const place = `${options.address}#${view.context.n}${options.all ? " --all" : ""}`
  return `${rangeWords("rows", page)}${to < total ? ` · next: orangebox context ${place} --cursor ${to}` : ""}`
}
