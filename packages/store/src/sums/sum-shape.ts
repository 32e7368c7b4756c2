import type { Row, RowValue } from "../row-values.js"

/** How the rows of a table of sums add up, column by column. What is in no list is the key. */
export interface SumShape {
  readonly table: string
  /** Begins with `run`: whose sum it is, 0 for the runs that retention took. */
  readonly key: readonly string[]
  readonly added: readonly string[]
  readonly largest: readonly string[]
  /** JSON objects of counts by bucket. */
  readonly counted: readonly string[]
}

type Counts = Record<string, number>

/** A row of sums that rows of the same key are added to. Its counts are parsed when there is something to add, and written as JSON once, at the end. */
export class RowSum {
  readonly #shape: SumShape
  readonly #row: Row
  #counts: Record<string, Counts> | undefined

  constructor(row: Row, shape: SumShape) {
    this.#row = row
    this.#shape = shape
  }

  /** Unknown is not zero: a sum is null until something was known. */
  add(row: Row): void {
    const { added, largest, counted } = this.#shape
    for (const column of added) this.#row[column] = combine(this.#row[column], row[column], (one, other) => one + other)
    for (const column of largest) this.#row[column] = combine(this.#row[column], row[column], Math.max)
    for (const column of counted) if (row[column] != null) this.#count(column, countsOf(row[column]))
  }

  #count(column: string, counts: Counts): void {
    this.#counts ??= {}
    this.#counts[column] ??= countsOf(this.#row[column] ?? null)
    const sum = this.#counts[column]
    for (const bucket in counts) sum[bucket] = (sum[bucket] ?? 0) + counts[bucket]!
  }

  row(): Row {
    for (const [column, counts] of Object.entries(this.#counts ?? {})) this.#row[column] = JSON.stringify(counts)
    this.#counts = undefined
    return this.#row
  }
}

function combine(
  one: RowValue | undefined,
  other: RowValue | undefined,
  how: (one: number, other: number) => number,
): number | null {
  if (one == null || other == null) return one == null ? (other == null ? null : Number(other)) : Number(one)
  return how(Number(one), Number(other))
}

export const countsOf = (text: RowValue): Counts => (text == null ? {} : JSON.parse(String(text)))
