import { type CountTokens, estimateTokens, fenced, type Painter } from "@orangebox/text"

/** What every view with a budget takes. */
export interface ViewOptions {
  /** At most this many tokens. Every view has a default, and a least that it needs. */
  readonly budget?: number
  readonly format?: "text" | "markdown"
  readonly color?: Painter
  readonly countTokens?: CountTokens
}

/** How many tokens a view may take, and who counts them. */
export interface Room {
  readonly budget: number
  readonly count: CountTokens
}

export function roomOf({ budget, format, countTokens }: ViewOptions, usual: number, least: number): Room {
  const count = countTokens ?? estimateTokens
  const fence = format === "markdown" ? count(fenced("")) + 4 : 0
  return { budget: Math.max(budget ?? usual, least) - fence, count }
}

export const inFormat = (text: string, { format }: ViewOptions): string => (format === "markdown" ? fenced(text) : text)

/** Rows of a list from one on, and where the next page begins. */
export interface Page<Row> {
  readonly rows: readonly Row[]
  /** What each of them says, without colours. */
  readonly texts: readonly string[]
  readonly from: number
  readonly to: number
  readonly total: number
}

export interface PagedRow<Row> {
  /** Cut to `most` tokens where that is said: a page never comes back empty, or its reader would ask for it for ever. */
  textOf(row: Row, most: number): string
  /** Stands above the first of all neighbours that share it. */
  headingOf?(row: Row): string
}

/** As many rows as fit, but at least one. */
export function pageOf<Row>(
  all: readonly Row[],
  cursor: number | undefined,
  { budget, count }: Room,
  { textOf, headingOf }: PagedRow<Row>,
): Page<Row> {
  const from = rowAt(cursor, all.length)
  const texts: string[] = []
  let left = budget
  let heading: string | undefined
  for (const row of all.slice(from)) {
    const isFirst = texts.length === 0
    const above = headingOf?.(row)
    const headingCost = above === undefined || above === heading ? 0 : count(above) + 2
    heading = above
    const text = textOf(row, isFirst ? left - headingCost - 1 : Number.POSITIVE_INFINITY)
    left -= count(text) + headingCost + 1
    if (left < 0 && !isFirst) break
    texts.push(text)
  }
  const to = from + texts.length
  return { rows: all.slice(from, to), texts, from, to, total: all.length }
}

/** The row a cursor stands for. */
export const rowAt = (cursor: number | undefined, total: number): number =>
  Math.min(Math.max(0, Math.floor(cursor ?? 0)), total)

type Range = Pick<Page<unknown>, "from" | "to" | "total">

/** The last page of a list as long as this one: no footer is longer. */
export const lastOf = (total: number): Range => ({ from: total, to: total - 1, total })

/** `rows 1–20 of 35`, `no rows`. */
export const rangeWords = (what: string, { from, to, total }: Range): string =>
  total === 0 ? `no ${what}` : `${what} ${from + 1}–${to} of ${total}`

export const pageJson = ({ from, to, total }: Range) => ({ from, to, total, next_cursor: to < total ? to : null })
