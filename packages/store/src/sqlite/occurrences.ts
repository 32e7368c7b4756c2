import { linksOf } from "@orangebox/runs"
import { ID_KINDS } from "../codes.js"
import { textOrNull } from "../row-values.js"
import type { InboundLink, Occurrence, Page, TargetKind } from "../trace-store.js"
import type { ReadConnection } from "./connection.js"
import type { SqliteDatabase, SqliteValue } from "./driver.js"
import { firstKey, lastKey, PLACES, packHash, packHex, packUuid, unpackHex, unpackUuid } from "./keys.js"
import { runKeyOfId } from "./read-runs.js"

const MOST_INBOUND = 100

/** `names` are all the forms in which one id may have been recorded. */
export function occurrencesOf(
  database: SqliteDatabase,
  kind: TargetKind,
  names: readonly string[],
  { from = 0, limit = 100 }: { from?: number; limit?: number },
): Page<Occurrence> {
  const { sql, values } = eventsWith(kind, names)
  // Events outside runs have negative keys, which all divide to 0; no run has that number.
  const places = `SELECT min(event_rows.key) AS event, max(0, event_rows.key / ${PLACES}) AS run, event_rows.step_id AS step_id,
    min(event_rows.at) AS at, count(*) AS events FROM (${sql}) JOIN event_rows ON event_rows.key = event GROUP BY run, event_rows.step_id`
  const total = Number(database.prepare(`SELECT count(*) AS total FROM (${places})`).get(...values)?.["total"])
  const rows = database
    .prepare(
      `SELECT places.*, run_rows.run_id AS run_id, event_rows.event_id AS event_id, event_types.name AS type,
         (SELECT min(step_rows.key) % ${PLACES} FROM step_rows WHERE step_rows.step_id = places.step_id
           AND step_rows.key BETWEEN places.run * ${PLACES} AND places.run * ${PLACES} + ${PLACES - 1}) AS no
       FROM (${places}) AS places LEFT JOIN run_rows ON run_rows.key = places.run
       JOIN event_rows ON event_rows.key = places.event JOIN event_types ON event_types.key = event_rows.type
       ORDER BY places.at, places.event LIMIT ? OFFSET ?`,
    )
    .all(...values, limit, from)
  return {
    rows: rows.map((row) => ({
      runId: textOrNull(row["run_id"]),
      stepId: row["step_id"] === null ? null : unpackHex(row["step_id"]),
      no: row["no"] === null ? null : Number(row["no"]),
      eventId: unpackUuid(row["event_id"]),
      eventType: String(row["type"]),
      events: Number(row["events"]),
      atMs: Number(row["at"]),
    })),
    total,
    ...(from + rows.length < total ? { cursor: String(from + rows.length) } : {}),
  }
}

/** A query for the keys of all events that have an id of this kind, whichever way that kind is stored. */
function eventsWith(kind: TargetKind, names: readonly string[]): { sql: string; values: SqliteValue[] } {
  const any = names.map(() => "?").join(", ")
  const mentioned = (as: (typeof ID_KINDS)[number]): string =>
    `SELECT event FROM id_rows WHERE kind = ${ID_KINDS.indexOf(as)} AND id IN (${any})`
  const opening = (column: string): string =>
    `SELECT (SELECT min(event_rows.key) FROM event_rows WHERE event_rows.key BETWEEN run_rows.key * ${PLACES} AND run_rows.key * ${PLACES} + ${PLACES - 1})
     AS event FROM run_rows WHERE ${column} IN (${any})`
  switch (kind) {
    case "run":
      return { sql: `${opening("run_id")} UNION ${mentioned("linked")}`, values: [...names, ...names] }
    case "trace":
      return { sql: opening("trace_id"), values: [...names] }
    case "conversation":
      return { sql: `${opening("conversation_id")} UNION ${mentioned("conversation")}`, values: [...names, ...names] }
    case "step":
      return {
        sql: `SELECT coalesce(opened, closed) AS event FROM step_rows WHERE step_id IN (${any}) UNION ${mentioned("linked")}`,
        values: [...names.map((name) => packHex(name, 16)), ...names],
      }
    case "event":
      return { sql: `SELECT key AS event FROM event_rows WHERE event_id IN (${any})`, values: names.map(packUuid) }
    case "body":
      return {
        sql: `SELECT DISTINCT event FROM body_refs JOIN body_rows ON body_rows.key = body_refs.body WHERE hash IN (${any})`,
        values: names.map((name) => packHash(name) ?? name),
      }
    default:
      return { sql: mentioned(kind), values: [...names] }
  }
}

export function linksTo({ database, reader }: ReadConnection, runId: string): InboundLink[] {
  const runKey = runKeyOfId(database, runId)
  if (runKey === undefined) return []
  const range = [firstKey(runKey), lastKey(runKey)] as const
  const rows = database
    .prepare(
      `SELECT DISTINCT event_rows.* FROM id_rows JOIN event_rows ON event_rows.key = id_rows.event
       WHERE id_rows.kind = ${ID_KINDS.indexOf("linked")} AND (id = ? OR id IN (SELECT lower(hex(step_id)) FROM step_rows WHERE key BETWEEN ? AND ?))
       AND NOT event_rows.key BETWEEN ? AND ? ORDER BY event_rows.at, event_rows.key LIMIT ${MOST_INBOUND}`,
    )
    .all(runId, ...range, ...range)
  if (rows.length === 0) return []
  const step = database.prepare(
    `SELECT key % ${PLACES} AS no, name FROM step_rows WHERE step_id = ? AND key BETWEEN ? AND ? ORDER BY key LIMIT 1`,
  )
  const ownSteps = new Set(
    database
      .prepare("SELECT step_id FROM step_rows WHERE key BETWEEN ? AND ?")
      .all(...range)
      .map((row) => unpackHex(row["step_id"])),
  )
  return rows.flatMap((row) => {
    const place = reader.placeOfEvent(row)
    if (place.runId === null) return []
    const from = runKeyOfId(database, place.runId)!
    const stepId = row["step_id"] as Uint8Array | string | null
    const at = stepId === null ? undefined : step.get(stepId, firstKey(from), lastKey(from))
    return linksOf(reader.decode(row, place))
      .filter(({ run_id, step_id }) => run_id === runId || (run_id === undefined && ownSteps.has(step_id ?? "")))
      .map((link) => ({
        link,
        runId: place.runId!,
        no: at === undefined ? null : Number(at["no"]),
        name: textOrNull(at?.["name"]),
        atMs: Number(row["at"]),
      }))
  })
}
