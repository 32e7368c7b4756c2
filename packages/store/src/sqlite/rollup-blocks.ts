import type { SumShape } from "../sums/sum-shape.js"
import type { SqliteDatabase, SqliteStatement } from "./driver.js"
import { SumTable } from "./sum-table.js"

/** So many runs, by their keys, are one block of the lowest level. */
const BLOCK_RUNS = 256
/** So many blocks of one level are one of the next. */
const FAN_OUT = 4
/** Blocks of this level, of four million runs each, are never added up: they are always open, so a reader that begins at the open ones misses none. */
const TOP = 7
/** A block is named by one number: its level times this, and which of its level it is. */
const LEVEL = 2 ** 40
/** So many blocks of the lowest level may be open before they are added up: what a reader reads run by run is bounded by it. */
const MOST_OPEN_BLOCKS = 4

export interface BlockedSums {
  readonly blocks: SumShape
  /** The sums of runs, each with what stands in the row of its run. */
  readonly ofRuns: string
}

/**
 * Sums of runs, added up again for each block of runs that lie beside each other, and those for each four blocks, level upon level. A block is open
 * from the moment something in it changes until it is added up; then all blocks around it are open too, and it has no rows of its own. So a question
 * reads the closed blocks inside the open ones, each as high as it goes, and run by run only the open ones of the lowest level. Where runs of many days
 * came in mixed, a low block has little to add up (256 runs of 60 days are 256 rows of each sort) and a higher one much.
 */
export class RollupBlocks {
  readonly #database: SqliteDatabase
  readonly #tables: readonly {
    readonly table: SumTable
    readonly ofRuns: SqliteStatement
    readonly ofBlocks: SqliteStatement
  }[]
  readonly #open: SqliteStatement
  readonly #touched = new Set<number>()

  constructor(database: SqliteDatabase, sums: readonly BlockedSums[]) {
    this.#database = database
    this.#open = database.prepare("INSERT OR IGNORE INTO open_blocks (block) VALUES (?)")
    this.#tables = sums.map(({ blocks, ofRuns }) => ({
      table: new SumTable(database, blocks),
      ofRuns: database.prepare(`SELECT * FROM (${ofRuns}) WHERE run BETWEEN ? AND ?`),
      ofBlocks: database.prepare(`SELECT * FROM ${blocks.table} WHERE run BETWEEN ? AND ?`),
    }))
  }

  /** Something of this run changed, or is about to, in this transaction. */
  touch(run: number): void {
    let nth = Math.floor(run / BLOCK_RUNS)
    if (this.#touched.has(nth)) return
    for (let level = 0; level <= TOP; level++) {
      const block = level * LEVEL + nth
      this.#touched.add(block)
      if (Number(this.#open.run(block).changes) > 0) for (const { table } of this.#tables) table.removeRun(block)
      nth = Math.floor(nth / FAN_OUT)
    }
  }

  /** Every block is read run by run until it is added up again. */
  openAll(): void {
    for (const statement of OPEN_ALL_BLOCKS) this.#database.exec(statement)
    for (const { table } of this.#tables) table.clear()
  }

  /** Adds up what is open, when it has become much; but what this transaction changed is likely to change again. */
  addUp(): void {
    for (let level = 0; level < TOP; level++) if (!this.#addUpLevel(level)) break
    this.reset()
  }

  reset(): void {
    this.#touched.clear()
  }

  /** Whether anything was closed, so that there may be something to do a level higher. The last block is still growing. */
  #addUpLevel(level: number): boolean {
    const open = this.#openOf(level)
    if (open.length <= (level === 0 ? MOST_OPEN_BLOCKS : 1)) return false
    const parentsOfOpen = new Set(level === 0 ? [] : this.#openOf(level - 1).map((nth) => Math.floor(nth / FAN_OUT)))
    const closing = open
      .slice(0, -1)
      .filter((nth) => !parentsOfOpen.has(nth) && !this.#touched.has(level * LEVEL + nth))
    const close = this.#database.prepare("DELETE FROM open_blocks WHERE block = ?")
    for (const nth of closing) {
      const block = level * LEVEL + nth
      const first = level === 0 ? Math.max(1, nth * BLOCK_RUNS) : (level - 1) * LEVEL + nth * FAN_OUT
      const last = level === 0 ? nth * BLOCK_RUNS + BLOCK_RUNS - 1 : first + FAN_OUT - 1
      for (const { table, ofRuns, ofBlocks } of this.#tables) {
        const rows = level === 0 ? ofRuns : ofBlocks
        for (const row of rows.iterate(first, last)) table.add({ ...row, run: block })
        table.write()
      }
      close.run(block)
    }
    return closing.length > 0
  }

  #openOf(level: number): number[] {
    return this.#database
      .prepare("SELECT block FROM open_blocks WHERE block BETWEEN ? AND ? ORDER BY block")
      .all(level * LEVEL, level * LEVEL + LEVEL - 1)
      .map((row) => Number(row["block"]) - level * LEVEL)
  }
}

/** Opens every block that holds a run, on every level. */
export const OPEN_ALL_BLOCKS: readonly string[] = Array.from(
  { length: TOP + 1 },
  (_, level) =>
    `INSERT OR IGNORE INTO open_blocks SELECT DISTINCT ${level * LEVEL} + key / ${BLOCK_RUNS * FAN_OUT ** level} FROM run_rows`,
)

/** Of a row of sums of runs beside one of `open_blocks`: whether the run has to be read on its own, because its block is open. */
export const isRunOfOpenBlock = (run: string): string =>
  `open_blocks.block < ${LEVEL} AND ${run} BETWEEN max(1, open_blocks.block * ${BLOCK_RUNS}) AND open_blocks.block * ${BLOCK_RUNS} + ${BLOCK_RUNS - 1}`

/** Of a row of sums of blocks beside one of `open_blocks`: whether it is of a closed block right inside that one. */
export const isBlockInOpenBlock = (block: string): string => {
  const first = `(open_blocks.block / ${LEVEL} - 1) * ${LEVEL} + open_blocks.block % ${LEVEL} * ${FAN_OUT}`
  return `open_blocks.block >= ${LEVEL} AND ${block} BETWEEN ${first} AND ${first} + ${FAN_OUT - 1}`
}
