import { type CountTokens, cutToTokens, estimateTokens, fenced, type Painter } from "@orangebox/text"
import { headOf } from "./context-head.js"
import { type ContextRow, contextRows } from "./context-rows.js"
import type { ContextView } from "./context-view.js"

export interface ContextOptions {
  /** At most this many tokens; at least `MIN_CONTEXT_BUDGET`. Default 2,000. */
  readonly budget?: number
  /** The row to begin with, counted from 0: `next_cursor` of the answer before. */
  readonly cursor?: number
  /** Every item, also those that the context before held as well. */
  readonly all?: boolean
  readonly format?: "text" | "markdown"
  readonly color?: Painter
  readonly countTokens?: CountTokens
  /** How the reader addressed the run, for the commands in the footer. */
  readonly address: string
}

export const DEFAULT_CONTEXT_BUDGET = 2000
export const MIN_CONTEXT_BUDGET = 400

export interface ContextPage {
  readonly rows: readonly ContextRow[]
  readonly texts: readonly string[]
  /** The first row alone was too long, and is shown in part. */
  readonly isCut: boolean
  readonly from: number
  readonly to: number
  readonly total: number
}

const plain: Painter = (text) => text

export function pageOf(view: ContextView, options: ContextOptions): ContextPage {
  const count = options.countTokens ?? estimateTokens
  const all = contextRows(view, options)
  const from = Math.min(Math.max(0, Math.floor(options.cursor ?? 0)), all.length)
  const fence = options.format === "markdown" ? count(fenced("")) + 4 : 0
  const budget = Math.max(options.budget ?? DEFAULT_CONTEXT_BUDGET, MIN_CONTEXT_BUDGET) - fence
  const longestFooter = footerOf(view, { from: all.length, to: all.length - 1, total: all.length }, options)
  let left = budget - count([...headOf(view, plain), longestFooter].join("\n")) - 8
  const texts: string[] = []
  let isCut = false
  let to = from
  for (; to < all.length; to++) {
    const row = all[to]!
    const heading = to > from && row.heading === all[to - 1]!.heading ? 0 : count(row.heading) + 2
    let text = row.text(plain)
    // A page never comes back empty, or a reader would ask for it for ever.
    if (to === from && count(text) + heading + 1 > left) {
      text = cutToTokens(text, Math.max(16, left - heading - 1), count)
      isCut = true
    }
    left -= count(text) + heading + 1
    if (left < 0 && to > from) break
    texts.push(text)
  }
  return { rows: all.slice(from, to), texts, isCut, from, to, total: all.length }
}

export function footerOf(
  view: ContextView,
  page: Pick<ContextPage, "from" | "to" | "total">,
  options: ContextOptions,
): string {
  const { from, to, total } = page
  const rows = `rows ${total === 0 ? 0 : from + 1}–${to} of ${total}`
  const all = options.all ? " --all" : ""
  const place = `${options.address}#${view.context.n}`
  return to < total ? `${rows} · next: orangebox context ${place}${all} --cursor ${to}` : rows
}
