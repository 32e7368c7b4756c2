import type { Event } from "@orangebox/contract"
import { spilledHash } from "../spilled-text.js"
import { isAbsent } from "../trace-store.js"
import { type Connection, listOf, quote, type ServerRow } from "./connection.js"
import type { PlacedEvent } from "./live-run.js"
import { monthOf } from "./month-of.js"
import type { StoredBodies } from "./stored-bodies.js"

export interface StoredEvent extends PlacedEvent {
  readonly runId: string
  readonly isConflict: boolean
  readonly writerId: string | null
  readonly seenAtMs: number
  readonly rev: number
}

const COLUMNS = "run_id, place, event_id, digest, rev, is_conflict, writer_id, at, seen_at, json"

/** What processes say outside any run lies under the name of its writer. */
export const outsideOf = (writerId: string | null): string => `~${writerId ?? ""}`

/** Events as they are stored: whole, as JSON. */
export class StoredEvents {
  readonly #connection: Connection
  readonly #bodies: StoredBodies

  constructor(connection: Connection, bodies: StoredBodies) {
    this.#connection = connection
    this.#bodies = bodies
  }

  /** Those of some runs, in the order of their places. */
  async ofRuns(runIds: Iterable<string>, condition = "1"): Promise<StoredEvent[]> {
    const ids = [...runIds]
    if (ids.length === 0) return []
    const months = new Set(ids.map(monthOf))
    return this.#decode(
      await this.#connection.rows(
        `SELECT ${COLUMNS} FROM event_rows FINAL WHERE month IN (${listOf(months)}) AND run_id IN (${listOf(ids)}) AND (${condition}) ORDER BY run_id, place, event_id`,
      ),
    )
  }

  /** The first of a run's events, as many as asked for, in the order of their places. */
  async firstOf(runId: string, condition: string, limit: number): Promise<StoredEvent[]> {
    return this.#decode(
      await this.#connection.rows(
        `SELECT ${COLUMNS} FROM event_rows FINAL WHERE month = ${quote(monthOf(runId))} AND run_id = ${quote(runId)} AND (${condition}) ORDER BY place, event_id LIMIT ${limit}`,
      ),
    )
  }

  /** Single ones, by the run they are in and their name. */
  async named(names: Iterable<{ readonly runId: string; readonly name: string }>): Promise<Map<string, StoredEvent>> {
    const byRun = new Map<string, Set<string>>()
    for (const { runId, name } of names) byRun.set(runId, (byRun.get(runId) ?? new Set()).add(name))
    if (byRun.size === 0) return new Map()
    const all = [...byRun.values()].flatMap((one) => [...one])
    const found = await this.ofRuns(byRun.keys(), `is_conflict = 0 AND event_id IN (${listOf(all)})`)
    return new Map(found.map((stored) => [`${stored.runId}\n${stored.name}`, stored]))
  }

  /** All events of the store, a run after the other. */
  async *all(runId?: string): AsyncGenerator<StoredEvent[]> {
    const where = runId === undefined ? "1" : `run_id = ${quote(runId)}`
    let some: ServerRow[] = []
    for await (const row of this.#connection.stream(
      `SELECT ${COLUMNS} FROM event_rows FINAL WHERE ${where} ORDER BY month, run_id, place, event_id`,
    )) {
      if (some.push(row) < 2000) continue
      yield await this.#decode(some)
      some = []
    }
    yield await this.#decode(some)
  }

  async #decode(rows: readonly ServerRow[]): Promise<StoredEvent[]> {
    const spilled = rows.flatMap((row) => spilledHash(String(row["json"])) ?? [])
    const texts = new Map<string, string>()
    if (spilled.length > 0) {
      const readings = await this.#bodies.read(spilled)
      // The event is shown without its payload rather than not at all; `integrity` names the loss.
      spilled.forEach((hash, at) => {
        const reading = readings[at]!
        texts.set(hash, isAbsent(reading) ? "{}" : Buffer.from(reading.bytes).toString("utf8"))
      })
    }
    return rows.map((row) => {
      const json = String(row["json"])
      const hash = spilledHash(json)
      return {
        runId: String(row["run_id"]),
        event: JSON.parse(hash === undefined ? json : texts.get(hash)!) as Event,
        name: String(row["event_id"]),
        digest: String(row["digest"]),
        rev: Number(row["rev"]),
        place: Number(row["place"]),
        atMs: Number(row["at"]),
        isConflict: Number(row["is_conflict"]) === 1,
        writerId: row["writer_id"] == null ? null : String(row["writer_id"]),
        seenAtMs: Number(row["seen_at"]),
      }
    })
  }
}
