import type { SqliteDatabase, SqliteRow, SqliteStatement, SqliteValue } from "./driver.js"

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
  readonly #row: SqliteRow
  #counts: Record<string, Counts> | undefined

  constructor(row: SqliteRow, shape: SumShape) {
    this.#row = row
    this.#shape = shape
  }

  /** Unknown is not zero: a sum is null until something was known. */
  add(row: SqliteRow): void {
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

  row(): SqliteRow {
    for (const [column, counts] of Object.entries(this.#counts ?? {})) this.#row[column] = JSON.stringify(counts)
    this.#counts = undefined
    return this.#row
  }
}

function combine(
  one: SqliteValue | undefined,
  other: SqliteValue | undefined,
  how: (one: number, other: number) => number,
): number | null {
  if (one == null || other == null) return one == null ? (other == null ? null : Number(other)) : Number(one)
  return how(Number(one), Number(other))
}

export const countsOf = (text: SqliteValue): Counts => (text == null ? {} : JSON.parse(String(text)))

/** Sums that grow row by row. A run's own can be put away and made anew; what retention takes is added to those of run 0. */
export class SumTable {
  readonly #shape: SumShape
  readonly #find: SqliteStatement
  readonly #put: SqliteStatement
  readonly #remove: SqliteStatement
  readonly #clear: SqliteStatement
  readonly #columns: readonly string[]
  #pending = new Map<string, RowSum>()

  constructor(database: SqliteDatabase, shape: SumShape) {
    this.#shape = shape
    const { table, key, added, largest, counted } = shape
    this.#columns = [...key, ...added, ...largest, ...counted]
    this.#find = database.prepare(`SELECT * FROM ${table} WHERE ${key.map((column) => `${column} = ?`).join(" AND ")}`)
    this.#put = database.prepare(
      `INSERT OR REPLACE INTO ${table} (${this.#columns.join(", ")}) VALUES (${this.#columns.map(() => "?").join(", ")})`,
    )
    this.#remove = database.prepare(`DELETE FROM ${table} WHERE run = ?`)
    this.#clear = database.prepare(`DELETE FROM ${table}`)
  }

  /** Takes a row in; the row is the table's from then on. */
  add(row: SqliteRow): void {
    const name = this.#keyOf(row).join("\n")
    const sum = this.#pending.get(name)
    if (sum === undefined) this.#pending.set(name, new RowSum(row, this.#shape))
    else sum.add(row)
  }

  /** Adds what was counted to the rows. */
  write(): void {
    for (const sum of this.#pending.values()) {
      const stored = this.#find.get(...this.#keyOf(sum.row()))
      if (stored !== undefined) sum.add(stored)
      const row = sum.row()
      this.#put.run(...this.#columns.map((column) => row[column] ?? null))
    }
    this.reset()
  }

  /** Forgets what a run added. */
  removeRun(run: number): void {
    this.#remove.run(run)
  }

  clear(): void {
    this.#clear.run()
  }

  reset(): void {
    this.#pending = new Map()
  }

  #keyOf(row: SqliteRow): SqliteValue[] {
    return this.#shape.key.map((column) => row[column]!)
  }
}
