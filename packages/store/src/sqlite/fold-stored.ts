import type { Event } from "@orangebox/contract"
import { type FoldedStep, isSequence, type RunFold } from "@orangebox/runs"
import type { SqliteDatabase, SqliteRow } from "./driver.js"
import type { EventReader } from "./event-reader.js"
import { firstKey, firstLooseKey, lastKey, placeOf } from "./keys.js"

/** Folds the events of a run that are stored, in their order: all its steps, by number. */
export function foldStored(
  database: SqliteDatabase,
  reader: EventReader,
  runKey: number,
  fold: RunFold<number>,
  onEvent: (row: SqliteRow, event: Event) => void = () => {},
): Iterable<FoldedStep<number>> {
  const steps = new Map<number, FoldedStep<number>>([[1, fold.steps.root]])
  for (const { row, event } of eventsInOrder(database, reader, runKey)) {
    let step = fold.take(event, Number(row["key"]), Number(row["at"])) ?? null
    for (; step !== null && !steps.has(step.no); step = step.parent) steps.set(step.no, step)
    onEvent(row, event)
  }
  return steps.values()
}

interface StoredEvent {
  readonly row: SqliteRow
  readonly event: Event
}

/** A run's own events by `sequence_no`, with those that had to be placed elsewhere in between, and then the annotations. */
export function* eventsInOrder(database: SqliteDatabase, reader: EventReader, runKey: number): Generator<StoredEvent> {
  const place = reader.placeOfRun(runKey)
  const read = (row: SqliteRow): StoredEvent => ({ row, event: reader.decode(row, place) })
  const rows = database.prepare("SELECT * FROM event_rows WHERE key BETWEEN ? AND ? ORDER BY key")
  const loose = rows.all(firstLooseKey(runKey), lastKey(runKey)).map(read)
  const displaced = loose.filter(({ event }) => isSequence(event.sequence_no))
  displaced.sort((one, other) => one.event.sequence_no! - other.event.sequence_no!)
  let next = 0
  for (const row of rows.iterate(firstKey(runKey), firstLooseKey(runKey) - 1)) {
    for (; next < displaced.length && displaced[next]!.event.sequence_no! < placeOf(Number(row["key"])); next++) {
      yield displaced[next]!
    }
    yield read(row)
  }
  yield* displaced.slice(next)
  for (const one of loose) if (!isSequence(one.event.sequence_no)) yield one
}

/** The highest sequence number of a run's stored events; -1 where there is none. */
export function lastSequence(database: SqliteDatabase, runKey: number): number {
  const placed = database
    .prepare("SELECT max(key) AS key FROM event_rows WHERE key BETWEEN ? AND ?")
    .get(firstKey(runKey), firstLooseKey(runKey) - 1)?.["key"]
  const displaced = database
    .prepare(
      "SELECT max(json ->> '$.sequence_no') AS place FROM event_rows WHERE key BETWEEN ? AND ? AND json ->> '$.sequence_no' >= 0",
    )
    .get(firstLooseKey(runKey), lastKey(runKey))?.["place"]
  return Math.max(placed == null ? -1 : placeOf(Number(placed)), isSequence(displaced) ? displaced : -1)
}
