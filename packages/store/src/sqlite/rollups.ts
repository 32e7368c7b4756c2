import type { PriceTable } from "@orangebox/dialects"
import type { FoldedStep } from "@orangebox/runs"
import { ORIGINS, STEP_STATUSES } from "../codes.js"
import type { Told } from "../sums/prompt-sums.js"
import { contributorSums, DAY_MS, ROLLUP_SHAPES, stepSum } from "../sums/step-sums.js"
import type { SumShape } from "../sums/sum-shape.js"
import type { SqliteDatabase } from "./driver.js"
import { PLACES } from "./keys.js"
import { isBlockInOpenBlock, isRunOfOpenBlock, RollupBlocks } from "./rollup-blocks.js"
import { SumTable } from "./sum-table.js"

const { steps: STEPS, contributors: CONTRIBUTORS } = ROLLUP_SHAPES

/**
 * What steps add up to by day and by what they were, and what each contributor put into prompts. A run has rows of its own, made from the same
 * fold as its steps; when retention takes the run they are added to those of run 0, so a question has one answer before and after.
 */
export class Rollups {
  readonly #database: SqliteDatabase
  readonly #prices: PriceTable
  readonly #steps: SumTable
  readonly #contributors: SumTable
  readonly #blocks: RollupBlocks

  constructor(database: SqliteDatabase, prices: PriceTable) {
    this.#database = database
    this.#prices = prices
    this.#steps = new SumTable(database, STEPS)
    this.#contributors = new SumTable(database, CONTRIBUTORS)
    this.#blocks = new RollupBlocks(database, [
      { blocks: { ...STEPS, table: "rollup_blocks" }, ofRuns: STEPS_OF_RUNS },
      { blocks: { ...CONTRIBUTORS, table: "contributor_blocks" }, ofRuns: CONTRIBUTORS_OF_RUNS },
    ])
  }

  /** Counts a step that has ended. Attempts of a call are part of the call. */
  count(run: number, step: FoldedStep<unknown>, told: Told = {}): void {
    if (step.isAttempt) return
    this.#blocks.touch(run)
    this.#steps.add(stepSum(run, step, this.#prices))
    for (const row of contributorSums(run, step, told, this.#prices)) this.#contributors.add(row)
  }

  write(): void {
    this.#steps.write()
    this.#contributors.write()
  }

  /** The end of a transaction's work: adds runs up in blocks, where there are many. */
  addUp(): void {
    this.#blocks.addUp()
  }

  /** The same after work that went through all runs. */
  addUpAll(): void {
    this.#blocks.reset()
    this.#blocks.addUp()
  }

  removeRun(run: number): void {
    this.#blocks.touch(run)
    this.#steps.removeRun(run)
    this.#contributors.removeRun(run)
  }

  /** Adds a run's rows, and its steps that never ended, to those of the runs that are gone. */
  keep(run: number): void {
    for (const row of this.#database
      .prepare(`SELECT * FROM (${STEPS_OF_RUNS} UNION ALL ${OPEN_STEPS}) WHERE run = ?`)
      .all(run))
      this.#steps.add({ ...row, run: 0 })
    for (const row of this.#database.prepare(`SELECT * FROM (${CONTRIBUTORS_OF_RUNS}) WHERE run = ?`).all(run))
      this.#contributors.add({ ...row, run: 0 })
    this.removeRun(run)
    this.write()
  }

  /** Forgets the days before this one, of runs that are gone. */
  forgetBefore(day: number): number {
    let gone = 0
    for (const { table } of [STEPS, CONTRIBUTORS])
      gone += Number(this.#database.prepare(`DELETE FROM ${table} WHERE run = 0 AND day < ?`).run(day).changes)
    return gone
  }

  /** Gives rows other names, and joins those that then have the same. Says how many were renamed. */
  rename(rename: (name: string) => string): number {
    let renamed = 0
    for (const [table, shape] of [
      [this.#steps, STEPS],
      [this.#contributors, CONTRIBUTORS],
    ] as const) {
      const isKey = shape.key.map((name) => `${name} = ?`).join(" AND ")
      const remove = this.#database.prepare(`DELETE FROM ${shape.table} WHERE ${isKey}`)
      for (const row of this.#database.prepare(`SELECT * FROM ${shape.table}`).all()) {
        const texts = shape.key.flatMap((name) => (typeof row[name] === "string" ? [[name, rename(row[name])]] : []))
        const after = { ...row, ...Object.fromEntries(texts) }
        if (shape.key.every((name) => after[name] === row[name])) continue
        remove.run(...shape.key.map((name) => row[name]!))
        table.add(after)
        renamed++
      }
      table.write()
    }
    if (renamed > 0) this.#blocks.openAll()
    return renamed
  }

  /** Forgets what was counted of runs that are here: they are folded again. */
  removeRuns(): void {
    for (const { table } of [STEPS, CONTRIBUTORS]) this.#database.exec(`DELETE FROM ${table} WHERE run <> 0`)
    this.#blocks.openAll()
  }

  reset(): void {
    this.#steps.reset()
    this.#contributors.reset()
    this.#blocks.reset()
  }
}

const ownColumn = (name: string): string =>
  `CASE rollup.run WHEN 0 THEN rollup.${name} ELSE coalesce(run_rows.${name}, '') END AS ${name}`

/** No process of this machine wrote an imported run. */
const IMPORTED = `run_rows.key IS NOT NULL AND run_rows.writer IS NULL`
const ownOrigin = `CASE WHEN ${IMPORTED} THEN ${ORIGINS.indexOf("imported")} ELSE rollup.origin END AS origin`

const OPEN = STEP_STATUSES.indexOf("open")

const ownColumns = ({ key, added, largest, counted }: SumShape): string =>
  [
    ...key.map((name) =>
      name === "origin" ? ownOrigin : ["app", "agent_version"].includes(name) ? ownColumn(name) : `rollup.${name}`,
    ),
    ...[...added, ...largest, ...counted].map((name) => `rollup.${name}`),
  ].join(", ")

/** The sums of each run with what stands in its row, and those of the runs that are gone, under run 0. */
const sumsOfRuns = (shape: SumShape): string =>
  `SELECT ${ownColumns(shape)} FROM ${shape.table} AS rollup LEFT JOIN run_rows ON run_rows.key = rollup.run`

const STEPS_OF_RUNS = sumsOfRuns(STEPS)
const CONTRIBUTORS_OF_RUNS = sumsOfRuns(CONTRIBUTORS)

/** Steps without an end are counted from their own rows: they may still get one. */
const OPEN_STEPS = `
  SELECT run_rows.key, step_rows.opened_at / ${DAY_MS}, step_rows.kind, coalesce(work_kind, ''), step_rows.name, coalesce(provider, ''),
    coalesce(source, ''), ${OPEN}, '',
    CASE WHEN ${IMPORTED} THEN ${ORIGINS.indexOf("imported")} WHEN is_replayed THEN ${ORIGINS.indexOf("replayed")} ELSE ${ORIGINS.indexOf("recorded")} END,
    coalesce(app, ''), coalesce(agent_version, ''),
    count(*), ${[...STEPS.added.slice(1), ...STEPS.largest, ...STEPS.counted].map(() => "NULL").join(", ")}
  FROM run_rows JOIN step_rows ON step_rows.key BETWEEN run_rows.key * ${PLACES} AND run_rows.key * ${PLACES} + ${PLACES - 1}
  WHERE run_rows.open_steps > 0 AND step_rows.closed IS NULL AND step_rows.attempt IS NULL GROUP BY 1, 2, 3, 4, 5, 6, 7, 10`

/** What retention took, the blocks that are added up, and the runs of those that are not. Cross joins, so that the few open blocks are gone through first. */
const sumsOfAll = (shape: SumShape, blocks: string): string => {
  const columns = [...shape.key, ...shape.added, ...shape.largest, ...shape.counted].join(", ")
  return `SELECT ${columns} FROM ${shape.table} WHERE run = 0
  UNION ALL SELECT ${columns} FROM open_blocks CROSS JOIN ${blocks} ON ${isBlockInOpenBlock("run")}
  UNION ALL SELECT ${ownColumns(shape)} FROM open_blocks CROSS JOIN ${shape.table} AS rollup ON ${isRunOfOpenBlock("rollup.run")}
    LEFT JOIN run_rows ON run_rows.key = rollup.run`
}

/** Sums of steps by what they were, each of one run, of a block of runs or of all that are gone. */
export const STEP_ROLLUPS = `${sumsOfAll(STEPS, "rollup_blocks")}
  UNION ALL ${OPEN_STEPS}`

export const CONTRIBUTOR_ROLLUPS = sumsOfAll(CONTRIBUTORS, "contributor_blocks")
