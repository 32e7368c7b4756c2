import { DAMAGED_LINE_CODES, endInDoubt } from "../damaged-end.js"
import type { Gap } from "../trace-store.js"
import type { SqliteDatabase } from "./driver.js"
import { OWN_PLACES, PLACES } from "./keys.js"

/**
 * A run without an end whose journal has damaged lines: one of them may have been its end. A damaged line says nothing of its run, so lines
 * are first taken for the events that are missing inside the runs of the same process; only what is left over is in doubt.
 */
export function damagedEndOf(database: SqliteDatabase, runId: string): Gap[] {
  const run = database
    .prepare(
      "SELECT run_rows.writer AS writer, writer_id FROM run_rows JOIN writer_rows ON writer_rows.key = run_rows.writer WHERE run_id = ? AND status IN ('running', 'crashed')",
    )
    .get(runId)
  if (run === undefined) return []
  const damaged = database
    .prepare(
      `SELECT json ->> '$.reason' AS reason FROM gap_rows WHERE json ->> '$.writerId' = ? AND json ->> '$.code' IN (${DAMAGE})
       AND NOT EXISTS (SELECT 1 FROM gap_runs WHERE gap = gap_rows.key)`,
    )
    .all(run["writer_id"]!)
  if (damaged.length === 0) return []
  const { missing } = database.prepare(MISSING_IN_SEQUENCE).get(run["writer"]!) as { missing: number | bigint }
  return endInDoubt(runId, damaged.length, Number(missing))
}

const DAMAGE = DAMAGED_LINE_CODES.map((code) => `'${code}'`).join(", ")

const MISSING_IN_SEQUENCE = `SELECT coalesce(sum(
    coalesce((SELECT max(event_rows.key) FROM event_rows
      WHERE event_rows.key BETWEEN run_rows.key * ${PLACES} AND run_rows.key * ${PLACES} + ${OWN_PLACES - 1}) - run_rows.key * ${PLACES} + 1, 0) - events
  ), 0) AS missing FROM run_rows WHERE writer = ?`
