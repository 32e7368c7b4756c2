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

/** Adds one row to another of the same key. Unknown is not zero: a sum is null until something was known. */
export function addRow(sum: SqliteRow, row: SqliteRow, { added, largest, counted }: SumShape): void {
  for (const column of added) sum[column] = combine(sum[column], row[column], (one, other) => one + other)
  for (const column of largest) sum[column] = combine(sum[column], row[column], Math.max)
  for (const column of counted) sum[column] = addCounts(sum[column] ?? null, row[column] ?? null)
}

function combine(
  one: SqliteValue | undefined,
  other: SqliteValue | undefined,
  how: (one: number, other: number) => number,
): number | null {
  if (one == null || other == null) return one == null ? (other == null ? null : Number(other)) : Number(one)
  return how(Number(one), Number(other))
}

function addCounts(one: SqliteValue, other: SqliteValue): SqliteValue {
  if (one === null || other === null) return one ?? other
  const sum = countsOf(one)
  for (const [bucket, count] of Object.entries(countsOf(other))) sum[bucket] = (sum[bucket] ?? 0) + count
  return JSON.stringify(sum)
}

export const countsOf = (text: SqliteValue): Record<string, number> => (text == null ? {} : JSON.parse(String(text)))

/** Sums that grow row by row. A run's own can be put away and made anew; what retention takes is added to those of run 0. */
export class SumTable {
  readonly #shape: SumShape
  readonly #find: SqliteStatement
  readonly #put: SqliteStatement
  readonly #remove: SqliteStatement
  readonly #columns: readonly string[]
  #pending = new Map<string, SqliteRow>()

  constructor(database: SqliteDatabase, shape: SumShape) {
    this.#shape = shape
    const { table, key, added, largest, counted } = shape
    this.#columns = [...key, ...added, ...largest, ...counted]
    this.#find = database.prepare(`SELECT * FROM ${table} WHERE ${key.map((column) => `${column} = ?`).join(" AND ")}`)
    this.#put = database.prepare(
      `INSERT OR REPLACE INTO ${table} (${this.#columns.join(", ")}) VALUES (${this.#columns.map(() => "?").join(", ")})`,
    )
    this.#remove = database.prepare(`DELETE FROM ${table} WHERE run = ?`)
  }

  /** Takes a row in; the row is the table's from then on. */
  add(row: SqliteRow): void {
    const name = this.#keyOf(row).join("\n")
    const sum = this.#pending.get(name)
    if (sum === undefined) this.#pending.set(name, row)
    else addRow(sum, row, this.#shape)
  }

  /** Adds what was counted to the rows. */
  write(): void {
    for (const row of this.#pending.values()) {
      const stored = this.#find.get(...this.#keyOf(row))
      if (stored !== undefined) addRow(row, stored, this.#shape)
      this.#put.run(...this.#columns.map((column) => row[column] ?? null))
    }
    this.reset()
  }

  /** Forgets what a run added. */
  removeRun(run: number): void {
    this.#remove.run(run)
  }

  reset(): void {
    this.#pending = new Map()
  }

  #keyOf(row: SqliteRow): SqliteValue[] {
    return this.#shape.key.map((column) => row[column]!)
  }
}
