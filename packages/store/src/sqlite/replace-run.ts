import { isComplete, type RunFold } from "@orangebox/runs"
import type { SqliteDatabase } from "./driver.js"
import type { EventReader } from "./event-reader.js"
import { foldStored } from "./fold-stored.js"
import { firstKey, lastKey } from "./keys.js"
import { RollupTable } from "./rollup-table.js"
import { numberOrNull, RowWriter, runColumns, type StoredStep, stepColumns, textOrNull, toStep } from "./run-rows.js"

/**
 * Puts a run that was folded again in the place of what was there. What is not derived from events stays, and so does the parent that a
 * step was first opened with: events of the step were written without theirs where it is the same.
 */
export function replaceRun(
  database: SqliteDatabase,
  runKey: number,
  fold: RunFold<number>,
  steps: Iterable<StoredStep>,
): void {
  const kept = database.prepare("SELECT * FROM run_rows WHERE key = ?").get(runKey)
  if (kept === undefined) return
  const range = [firstKey(runKey), lastKey(runKey)] as const
  const openedUnder = new Map<string, string>()
  for (const row of database.prepare("SELECT * FROM step_rows WHERE key BETWEEN ? AND ?").iterate(...range)) {
    const step = toStep(row, null)
    if (step.openedUnder !== null) openedUnder.set(step.id, step.openedUnder)
  }
  database.prepare("DELETE FROM step_rows WHERE key BETWEEN ? AND ?").run(...range)
  const rows = new RowWriter(database, "step_rows")
  for (const step of steps) {
    step.openedUnder = openedUnder.get(step.id) ?? step.openedUnder
    rows.put(stepColumns(runKey, step))
  }
  const run = { key: runKey, runId: String(kept["run_id"]), fold, writer: numberOrNull(kept["writer"]) }
  const columns = runColumns(run, Number(kept["ingested_at"]))
  new RowWriter(database, "run_rows").put({ ...columns, released: Number(kept["released"]) })
}

/** The same where nothing else is derived again: the roll-ups follow. */
export function foldAgain(database: SqliteDatabase, reader: EventReader, runKey: number, fold: RunFold<number>): void {
  countedSteps(database, runKey).takeAway()
  replaceRun(database, runKey, fold, foldStored(database, reader, runKey, fold))
  countedSteps(database, runKey).write()
}

export function countedSteps(database: SqliteDatabase, runKey: number): RollupTable {
  const rollups = new RollupTable(database)
  const app = textOrNull(database.prepare("SELECT app FROM run_rows WHERE key = ?").get(runKey)?.["app"])
  const rows = database.prepare("SELECT * FROM step_rows WHERE key BETWEEN ? AND ?")
  for (const row of rows.iterate(firstKey(runKey), lastKey(runKey))) {
    const step = toStep(row, null)
    if (isComplete(step)) rollups.count(step, app)
  }
  return rollups
}
