import { RowSum, type SumShape } from "../sums/sum-shape.js"
import type { SqliteDatabase, SqliteRow, SqliteStatement, SqliteValue } from "./driver.js"

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
