import type { Event } from "@orangebox/contract"
import { storedName } from "../stored-name.js"
import type { EventRedaction } from "../trace-store.js"
import { type Prepared, prepareAll, type SqliteDatabase, type SqliteValue } from "./driver.js"
import { packUuid, unpackUuid } from "./keys.js"
import { schemaVersionOf } from "./schema.js"

/** Three bytes a character at most, so that a part stays under 64 KiB. */
const PART_LENGTH = 20_000

const SQL = {
  put: "INSERT INTO redacted_events (event_id, part, run_id, redacted_at, json) VALUES (?, ?, ?, ?, ?)",
  remove: "DELETE FROM redacted_events WHERE event_id = ?",
  find: "SELECT json FROM redacted_events WHERE event_id = ? ORDER BY part",
  any: "SELECT 1 FROM redacted_events LIMIT 1",
  ids: "SELECT event_id FROM redacted_events WHERE part = 0",
}

/**
 * What redacted events may say. An old journal still has their first words; whenever such a line is read again, these take their place,
 * in a fresh database as well.
 */
export class RedactedEvents {
  readonly #sql: Prepared<typeof SQL>
  #isEmpty: boolean | undefined

  constructor(database: SqliteDatabase) {
    this.#sql = prepareAll(database, SQL)
  }

  /** Says less in the place of every event that was redacted before, also of those whose runs are pruned by now. Returns of how many. */
  revise(revise: (event: Event) => Event, atMs: number): number {
    let revised = 0
    for (const { event_id: id } of this.#sql.ids.all()) {
      const before = this.#at(id!)!
      const after = revise(before)
      if (after === before) continue
      this.put(after, atMs)
      revised++
    }
    return revised
  }

  put(event: Event, atMs: number): void {
    const id = packUuid(storedName(event))
    const json = JSON.stringify(event)
    this.#sql.remove.run(id)
    for (let part = 0; part * PART_LENGTH < json.length; part++) {
      const text = json.slice(part * PART_LENGTH, (part + 1) * PART_LENGTH)
      this.#sql.put.run(id, part, event.run_id, atMs, text)
    }
    this.#isEmpty = false
  }

  /** The words that take the place of an event's own; undefined for nearly all events. */
  revisionOf(event: Event): Event | undefined {
    this.#isEmpty ??= this.#sql.any.get() === undefined
    if (this.#isEmpty) return undefined
    return this.#at(packUuid(storedName(event)))
  }

  #at(id: SqliteValue): Event | undefined {
    const parts = this.#sql.find.all(id)
    return parts.length === 0 ? undefined : (JSON.parse(parts.map((row) => String(row["json"])).join("")) as Event)
  }

  reset(): void {
    this.#isEmpty = undefined
  }
}

export function redactionsOf(database: SqliteDatabase, runId: string): EventRedaction[] {
  // A reader beside a collector of an older build.
  if (schemaVersionOf(database) < 2) return []
  return database
    .prepare("SELECT event_id, redacted_at FROM redacted_events WHERE run_id = ? AND part = 0 ORDER BY event_id")
    .all(runId)
    .map((row) => ({ eventId: unpackUuid(row["event_id"]), atMs: Number(row["redacted_at"]) }))
}
