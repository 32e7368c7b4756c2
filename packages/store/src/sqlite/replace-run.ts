import type { Event } from "@orangebox/contract"
import type { RunFold } from "@orangebox/runs"
import { numberOrNull } from "../row-values.js"
import { noteTold, SkillsSeen, type Told } from "../sums/prompt-sums.js"
import type { SqliteDatabase, SqliteRow } from "./driver.js"
import type { EventReader } from "./event-reader.js"
import { foldStored } from "./fold-stored.js"
import { firstKey, lastKey } from "./keys.js"
import type { Rollups } from "./rollups.js"
import { RowWriter, runColumns, stepColumns, toStep } from "./run-rows.js"

export interface FoldContext {
  readonly database: SqliteDatabase
  readonly reader: EventReader
  readonly rollups: Rollups
}

/**
 * Folds a run again from its events and puts it, its steps and its roll-ups in the place of what was there. What is not derived from events
 * stays, and so does the parent that a step was first opened with: events of the step were written without theirs where it is the same.
 */
export function foldAgain(
  { database, reader, rollups }: FoldContext,
  runKey: number,
  fold: RunFold<number>,
  onEvent: (row: SqliteRow, event: Event) => void = () => {},
): void {
  const told = new Map<string, Told>()
  const skills = new SkillsSeen()
  const steps = foldStored(database, reader, runKey, fold, (row, event) => {
    noteTold(told, event, () => skills)
    onEvent(row, event)
  })
  const kept = database.prepare("SELECT * FROM run_rows WHERE key = ?").get(runKey)
  if (kept === undefined) return
  const range = [firstKey(runKey), lastKey(runKey)] as const
  const openedUnder = new Map<string, string>()
  for (const row of database.prepare("SELECT * FROM step_rows WHERE key BETWEEN ? AND ?").iterate(...range)) {
    const step = toStep(row, null)
    if (step.openedUnder !== null) openedUnder.set(step.id, step.openedUnder)
  }
  database.prepare("DELETE FROM step_rows WHERE key BETWEEN ? AND ?").run(...range)
  rollups.removeRun(runKey)
  const rows = new RowWriter(database, "step_rows")
  for (const step of steps) {
    step.openedUnder = openedUnder.get(step.id) ?? step.openedUnder
    rows.put(stepColumns(runKey, step))
    if (step.closed !== null) rollups.count(runKey, step, told.get(step.id))
  }
  rollups.write()
  const run = { key: runKey, runId: String(kept["run_id"]), fold, writer: numberOrNull(kept["writer"]) }
  const columns = runColumns(run, Number(kept["ingested_at"]))
  new RowWriter(database, "run_rows").put({ ...columns, released: Number(kept["released"]) })
}
