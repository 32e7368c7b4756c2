import { hostname } from "node:os"
import { CANARY_APP, OrangeboxError } from "@orangebox/contract"
import type { RunStatus } from "@orangebox/runs"
import { HELD, STEP_KINDS } from "../codes.js"
import { numberOrNull, textOrNull } from "../row-values.js"
import type { OpenRun, Page, RunQuery, RunRow, StepRow } from "../trace-store.js"
import type { SqliteDatabase, SqliteRow, SqliteValue } from "./driver.js"
import { firstKey, lastKey, PLACES, placeOf, unpackHex, unpackUuid } from "./keys.js"
import { runFacts, stepFacts } from "./run-rows.js"

const DEFAULT_LIMIT = 50
const MAX_LIMIT = 1000

/** A trace is causally connected, and nothing starts before what caused it. Of two that began at once the one that was stored first counts. */
export const FIRST_OF_TRACE = `NOT EXISTS (SELECT 1 FROM run_rows AS cause WHERE cause.trace_id = run_rows.trace_id
  AND (cause.started_at, cause.key) < (run_rows.started_at, run_rows.key))`

export function listRuns(
  database: SqliteDatabase,
  query: RunQuery,
  digestOf: (id: string) => string = (id) => id,
): Page<RunRow> {
  const conditions: string[] = []
  const values: SqliteValue[] = []
  const when = (condition: string, value: SqliteValue | undefined): void => {
    if (value === undefined) return
    conditions.push(condition)
    values.push(value)
  }
  if (query.conversationId !== undefined) {
    conditions.push("conversation_id IN (?, ?)")
    values.push(query.conversationId, digestOf(query.conversationId))
  }
  when("trace_id = ?", query.traceId)
  when(`${STATUS} = ?`, query.status)
  when("app = ?", query.app)
  when("started_at >= ?", query.since)
  when("started_at < ?", query.until)
  when(CALLED_MODEL, query.model)
  if (query.text !== undefined) {
    conditions.push(
      "(instr(lower(coalesce(input_summary, '') || ' ' || coalesce(entrypoint, '') || ' ' || run_id), lower(?)) > 0)",
    )
    values.push(query.text)
  }
  if (query.host !== undefined && query.host !== hostname()) conditions.push("0")
  if (query.isFirstOfTrace) conditions.push(FIRST_OF_TRACE)
  if (query.isNoCanary) when("app IS NOT ?", CANARY_APP)
  const where = (list: readonly string[]): string => (list.length === 0 ? "" : `WHERE ${list.join(" AND ")}`)
  const total = Number(
    database.prepare(`SELECT count(*) AS total FROM run_rows ${where(conditions)}`).get(...values)?.["total"],
  )

  if (query.cursor !== undefined) {
    const [startedAt, key] = readCursor(query.cursor)
    conditions.push("(started_at, run_rows.key) < (?, ?)")
    values.push(startedAt, key)
  }
  const limit = Math.max(1, Math.min(query.limit ?? DEFAULT_LIMIT, MAX_LIMIT))
  const rows = database
    .prepare(`${SELECT_RUN} ${where(conditions)} ORDER BY started_at DESC, run_rows.key DESC LIMIT ? OFFSET ?`)
    .all(...values, limit + 1, query.offset ?? 0)
  const page = rows.slice(0, limit).map(toRunRow)
  const last = rows[limit - 1]
  return rows.length > limit && last !== undefined
    ? { rows: page, total, cursor: `${Number(last["started_at"])}.${Number(last["key"])}` }
    : { rows: page, total }
}

const CALLED_MODEL = `EXISTS (SELECT 1 FROM step_rows WHERE step_rows.key BETWEEN run_rows.key * ${PLACES} AND run_rows.key * ${PLACES} + ${PLACES - 1}
  AND step_rows.kind = ${STEP_KINDS.indexOf("model")} AND step_rows.name = ?)`

export function getRun(database: SqliteDatabase, runId: string): RunRow | undefined {
  const row = database.prepare(`${SELECT_RUN} WHERE run_id = ?`).get(runId)
  return row && toRunRow(row)
}

export function runKeyOfId(database: SqliteDatabase, runId: string): number | undefined {
  const row = database.prepare("SELECT key FROM run_rows WHERE run_id = ?").get(runId)
  return row && Number(row["key"])
}

export function stepsOf(database: SqliteDatabase, runId: string): StepRow[] {
  const runKey = runKeyOfId(database, runId)
  if (runKey === undefined) return []
  const rows = database
    .prepare(
      `SELECT step_rows.*, opener.event_id AS opened_id, closer.event_id AS closed_id FROM step_rows
       LEFT JOIN event_rows AS opener ON opener.key = step_rows.opened LEFT JOIN event_rows AS closer ON closer.key = step_rows.closed
       WHERE step_rows.key BETWEEN ? AND ? ORDER BY step_rows.key`,
    )
    .all(firstKey(runKey), lastKey(runKey))
  const isCrashed = getRun(database, runId)?.status === "crashed"
  const ids = new Map(rows.map((row) => [placeOf(Number(row["key"])), unpackHex(row["step_id"])]))
  return rows.map((row) => toStepRow(row, runId, ids, isCrashed))
}

export function openRunsOf(database: SqliteDatabase, writerId: string): OpenRun[] {
  const rows = database
    .prepare(
      `SELECT run_rows.* FROM run_rows JOIN writer_rows ON writer_rows.key = run_rows.writer
       WHERE writer_rows.writer_id = ? AND status IN ('running', 'crashed') ORDER BY run_rows.key`,
    )
    .all(writerId)
  const lastOpen = database.prepare(
    "SELECT step_id FROM step_rows WHERE key BETWEEN ? AND ? AND closed IS NULL ORDER BY key DESC LIMIT 1",
  )
  return rows.map((row) => {
    const key = Number(row["key"])
    const step = lastOpen.get(firstKey(key), lastKey(key))
    return {
      runId: String(row["run_id"]),
      traceId: textOrNull(row["trace_id"]),
      conversationId: textOrNull(row["conversation_id"]),
      lastOpenStepId: step === undefined ? null : unpackHex(step["step_id"]) || null,
      lastAtMs: Number(row["last_at"]),
      lastMonoMicros: Number(row["last_mono"]),
      isMarkedCrashed: Number(row["is_crashed"]) === 1,
    }
  })
}

/** A row knows no end of its run; whether the run goes on is for its writer to say. */
export const STATUS =
  "CASE WHEN status = 'running' AND (SELECT state FROM writer_rows WHERE writer_rows.key = run_rows.writer) IS NOT 'running' THEN 'silent' ELSE status END"

const SELECT_RUN = `SELECT run_rows.*, ${STATUS} AS told_status, (SELECT writer_id FROM writer_rows WHERE writer_rows.key = run_rows.writer) AS writer_id FROM run_rows`

function readCursor(cursor: string): [number, number] {
  const match = /^(-?\d+)\.(\d+)$/.exec(cursor)
  if (match) return [Number(match[1]), Number(match[2])]
  throw new OrangeboxError("STORE_CURSOR", {
    what: "this cursor does not come from a list of runs",
    next: "Start again without one",
  })
}

function toRunRow(row: SqliteRow): RunRow {
  // A store of an earlier schema that can only be read has no duration.
  const duration = numberOrNull(
    "duration" in row ? row["duration"] : Number(row["last_mono"]) - Number(row["first_mono"]),
  )
  return {
    ...runFacts(row),
    writerId: textOrNull(row["writer_id"]),
    status: String(row["told_status"]) as RunStatus,
    durationMs: duration === null ? null : duration / 1000,
    openSteps: Number(row["open_steps"]),
    bodiesPruned: (Number(row["released"]) & (1 << HELD.body)) !== 0,
  }
}

function toStepRow(row: SqliteRow, runId: string, ids: ReadonlyMap<number, string>, isCrashed: boolean): StepRow {
  const duration = numberOrNull(row["duration"])
  const { status, ...facts } = stepFacts(row)
  const parentNo = numberOrNull(row["parent"])
  return {
    ...facts,
    status: status === "open" && isCrashed ? "crashed" : status,
    runId,
    stepId: unpackHex(row["step_id"]),
    parentNo,
    parentStepId: parentNo === null ? null : (ids.get(parentNo) ?? null),
    durationMs: duration === null ? null : duration / 1000,
    openedBy: row["opened_id"] == null ? null : unpackUuid(row["opened_id"]),
    closedBy: row["closed_id"] == null ? null : unpackUuid(row["closed_id"]),
  }
}
