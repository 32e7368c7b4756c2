import type { SqliteDatabase, SqliteStatement } from "./driver.js"
import { type SumShape, SumTable } from "./sum-table.js"

/** So many runs, by their keys, are one block. */
export const BLOCK_RUNS = 256
/** So many blocks may be open before they are added up: what a reader reads run by run is bounded by it. */
const MOST_OPEN_BLOCKS = 4

export interface BlockedSums {
  readonly blocks: SumShape
  /** The sums of runs, each with what stands in the row of its run. */
  readonly ofRuns: string
}

/**
 * Sums of runs, added up again for each block of runs that lie beside each other. A block is open, and read run by run, from the moment
 * something in it changes until it is added up: a question about a million steps reads some thousand rows, and no row of a block is ever
 * behind the rows of its runs.
 */
export class RollupBlocks {
  readonly #database: SqliteDatabase
  readonly #tables: readonly { readonly table: SumTable; readonly rows: SqliteStatement }[]
  readonly #open: SqliteStatement
  readonly #touched = new Set<number>()

  constructor(database: SqliteDatabase, sums: readonly BlockedSums[]) {
    this.#database = database
    this.#open = database.prepare("INSERT OR IGNORE INTO open_blocks (block) VALUES (?)")
    this.#tables = sums.map(({ blocks, ofRuns }) => ({
      table: new SumTable(database, blocks),
      rows: database.prepare(`SELECT * FROM (${ofRuns}) WHERE run BETWEEN ? AND ?`),
    }))
  }

  /** Something of this run changed, or is about to, in this transaction. */
  touch(run: number): void {
    const block = Math.floor(run / BLOCK_RUNS)
    if (this.#touched.has(block)) return
    this.#touched.add(block)
    if (Number(this.#open.run(block).changes) > 0) for (const { table } of this.#tables) table.removeRun(block)
  }

  /** Every block is read run by run until it is added up again. */
  openAll(): void {
    this.#database.exec(`INSERT OR IGNORE INTO open_blocks SELECT DISTINCT key / ${BLOCK_RUNS} FROM run_rows`)
    this.#database.exec("DELETE FROM rollup_blocks")
    this.#database.exec("DELETE FROM contributor_blocks")
  }

  /** Adds up what is open, when it has become much; but what this transaction changed is likely to change again. */
  addUp(): void {
    const open = this.#database
      .prepare("SELECT block FROM open_blocks ORDER BY block")
      .all()
      .map((row) => Number(row["block"]))
    if (open.length > MOST_OPEN_BLOCKS) {
      const close = this.#database.prepare("DELETE FROM open_blocks WHERE block = ?")
      for (const block of open.slice(0, -1)) {
        if (this.#touched.has(block)) continue
        const first = Math.max(1, block * BLOCK_RUNS)
        for (const { table, rows } of this.#tables) {
          for (const row of rows.iterate(first, block * BLOCK_RUNS + BLOCK_RUNS - 1)) table.add({ ...row, run: block })
          table.write()
        }
        close.run(block)
      }
    }
    this.reset()
  }

  reset(): void {
    this.#touched.clear()
  }
}
