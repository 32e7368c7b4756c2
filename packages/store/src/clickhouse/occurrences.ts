import { linksOf } from "@orangebox/runs"
import type { InboundLink, Occurrence, Page, TargetKind } from "../trace-store.js"
import { type Connection, listOf, quote } from "./connection.js"
import { text } from "./read-runs.js"
import type { StoredEvents } from "./stored-events.js"

const MOST_INBOUND = 100
const PLACE = "run_id, event_id, step_id, event_type, place, at"

/** `names` are all the forms in which one id may have been recorded. */
export async function occurrencesOf(
  connection: Connection,
  kind: TargetKind,
  names: readonly string[],
  { from = 0, limit = 100 }: { from?: number; limit?: number },
): Promise<Page<Occurrence>> {
  const places = `SELECT run_id, step_id, min(place) AS first_place, argMin(event_id, place) AS first_event, argMin(event_type, place) AS first_type,
    min(at) AS first_at, uniqExact(event_id) AS events FROM (${eventsWith(kind, listOf(names))}) GROUP BY run_id, step_id`
  const total = await connection.value(`SELECT count() FROM (${places})`)
  const rows = await connection.rows(
    `SELECT * FROM (${places}) ORDER BY first_at, run_id, first_place LIMIT ${Math.floor(limit)} OFFSET ${Math.floor(from)}`,
  )
  const numbers = await stepNumbers(
    connection,
    rows.map((row) => String(row["run_id"])),
    rows.map((row) => text(row["step_id"])),
  )
  return {
    rows: rows.map((row) => ({
      runId: String(row["run_id"]).startsWith("~") ? null : String(row["run_id"]),
      stepId: text(row["step_id"]),
      no: numbers.get(`${row["run_id"]} ${row["step_id"]}`)?.no ?? null,
      eventId: String(row["first_event"]),
      eventType: String(row["first_type"]),
      events: Number(row["events"]),
      atMs: Number(row["first_at"]),
    })),
    total,
    ...(from + rows.length < total ? { cursor: String(from + rows.length) } : {}),
  }
}

/** All events that have an id of this kind, whichever way that kind is stored. */
function eventsWith(kind: TargetKind, names: string): string {
  const mentioned = (as: string): string =>
    `SELECT ${PLACE} FROM id_rows FINAL WHERE kind = ${quote(as)} AND id IN (${names})`
  const opening = (column: string): string =>
    `SELECT ${PLACE} FROM event_rows FINAL WHERE is_conflict = 0 AND (run_id, place) IN (SELECT run_id, min(place) FROM event_rows
     WHERE run_id IN (SELECT run_id FROM run_rows FINAL WHERE state = 'here' AND ${column} IN (${names})) GROUP BY run_id)`
  switch (kind) {
    case "run":
      return `${opening("run_id")} UNION ALL ${mentioned("linked")}`
    case "trace":
      return opening("trace_id")
    case "conversation":
      return `${opening("conversation_id")} UNION ALL ${mentioned("conversation")}`
    case "step":
      return `${mentioned("step")} UNION ALL ${mentioned("linked")}`
    case "body":
      return `SELECT ${PLACE} FROM ref_rows FINAL WHERE hash IN (${names})`
    default:
      return mentioned(kind)
  }
}

async function stepNumbers(
  connection: Connection,
  runIds: readonly string[],
  stepIds: readonly (string | null)[],
): Promise<Map<string, { no: number; name: string | null }>> {
  const wanted = stepIds.flatMap((id) => id ?? [])
  if (wanted.length === 0) return new Map()
  const rows = await connection.rows(
    `SELECT run_id, step_id, min(no) AS first, argMin(name, no) AS called FROM step_rows FINAL WHERE run_id IN (${listOf(new Set(runIds))}) AND step_id IN (${listOf(new Set(wanted))}) GROUP BY run_id, step_id`,
  )
  return new Map(
    rows.map((row) => [`${row["run_id"]} ${row["step_id"]}`, { no: Number(row["first"]), name: text(row["called"]) }]),
  )
}

export async function linksTo(connection: Connection, events: StoredEvents, runId: string): Promise<InboundLink[]> {
  const own = await connection.rows(`SELECT step_id FROM step_rows FINAL WHERE run_id = ${quote(runId)}`)
  const ownSteps = new Set(own.map((row) => String(row["step_id"])))
  const rows = await connection.rows(
    `SELECT run_id, event_id, any(step_id) AS step, min(at) AS first_at, min(place) AS first_place FROM id_rows WHERE kind = 'linked' AND id IN (${listOf([runId, ...ownSteps])})
     AND run_id != ${quote(runId)} GROUP BY run_id, event_id ORDER BY first_at, run_id, first_place LIMIT ${MOST_INBOUND}`,
  )
  const stored = await events.named(
    rows.map((row) => ({ runId: String(row["run_id"]), name: String(row["event_id"]) })),
  )
  const numbers = await stepNumbers(
    connection,
    rows.map((row) => String(row["run_id"])),
    rows.map((row) => text(row["step"])),
  )
  return rows.flatMap((row) => {
    const from = String(row["run_id"])
    const found = stored.get(`${from}\n${row["event_id"]}`)
    if (found === undefined || from.startsWith("~")) return []
    const step = numbers.get(`${from} ${row["step"]}`)
    return linksOf(found.event)
      .filter(({ run_id, step_id }) => run_id === runId || (run_id === undefined && ownSteps.has(step_id ?? "")))
      .map((link) => ({ link, runId: from, no: step?.no ?? null, name: step?.name ?? null, atMs: found.atMs }))
  })
}
