import type { Event } from "@orangebox/contract"
import { isSequence } from "@orangebox/runs"
import type { EventPage } from "../trace-store.js"
import type { ReadConnection } from "./connection.js"
import { eventKey, firstKey, firstLooseKey, lastKey, OWN_PLACES } from "./keys.js"
import { runKeyOfId } from "./read-runs.js"

const DEFAULT_LIMIT = 100_000

/** The run's own events by `sequence_no`. Those that had to be placed elsewhere (a number used twice) are read in between. */
export function eventsOf(
  connection: ReadConnection,
  runId: string,
  { from = 0, limit = DEFAULT_LIMIT }: { from?: number; limit?: number },
): EventPage {
  const { database, reader } = connection
  const runKey = runKeyOfId(database, runId)
  if (runKey === undefined) return { events: [], total: 0 }
  const place = reader.placeOfRun(runKey)
  const displaced = looseEvents(connection, runKey).filter((event) => isSequence(event.sequence_no))
  const placedCount = Number(
    database
      .prepare("SELECT count(*) AS total FROM event_rows WHERE key BETWEEN ? AND ?")
      .get(firstKey(runKey), firstLooseKey(runKey) - 1)?.["total"],
  )
  const start = eventKey(runKey, Math.max(0, Math.min(Math.floor(from), OWN_PLACES - 1)))
  const rows = database
    .prepare("SELECT * FROM event_rows WHERE key BETWEEN ? AND ? ORDER BY key LIMIT ?")
    .all(start, firstLooseKey(runKey) - 1, limit + 1)
  let events = rows.map((row) => reader.decode(row, place))
  const extra = displaced.filter((event) => event.sequence_no! >= from)
  if (extra.length > 0) {
    events = [...events, ...extra].sort((one, other) => one.sequence_no! - other.sequence_no!)
  }
  const total = placedCount + displaced.length
  if (events.length <= limit) return { events, total }
  // A page never ends inside a number that is used twice, or the next page would begin with it again.
  let end = limit
  while (end < events.length && events[end]!.sequence_no === events[end - 1]!.sequence_no) end++
  const next = events[end]
  return next === undefined ? { events, total } : { events: events.slice(0, end), total, nextFrom: next.sequence_no! }
}

export function annotationsOf(connection: ReadConnection, runId: string): Event[] {
  const runKey = runKeyOfId(connection.database, runId)
  const loose = runKey === undefined ? [] : looseEvents(connection, runKey)
  return loose.filter((event) => !isSequence(event.sequence_no))
}

export function processEventsOf(
  { database, reader }: ReadConnection,
  writerId: string,
  { from = 0, limit = DEFAULT_LIMIT }: { from?: number; limit?: number },
): EventPage {
  const source = `FROM event_rows JOIN profiles ON profiles.key = event_rows.profile
    JOIN writer_rows ON writer_rows.key = profiles.writer WHERE event_rows.key < 0 AND writer_rows.writer_id = ?`
  const total = Number(database.prepare(`SELECT count(*) AS total ${source}`).get(writerId)?.["total"])
  const rows = database
    .prepare(`SELECT event_rows.* ${source} ORDER BY event_rows.key DESC LIMIT ? OFFSET ?`)
    .all(writerId, limit, from)
  const events = rows.map((row) => reader.decode(row, reader.placeOfEvent(row)))
  return from + events.length < total ? { events, total, nextFrom: from + events.length } : { events, total }
}

function looseEvents({ database, reader }: ReadConnection, runKey: number): Event[] {
  const rows = database
    .prepare("SELECT * FROM event_rows WHERE key BETWEEN ? AND ? ORDER BY key")
    .all(firstLooseKey(runKey), lastKey(runKey))
  if (rows.length === 0) return []
  const place = reader.placeOfRun(runKey)
  return rows.map((row) => reader.decode(row, place))
}
