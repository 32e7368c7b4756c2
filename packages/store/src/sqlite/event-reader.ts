import type { Event } from "@orangebox/contract"
import { spilledHash } from "../spilled-text.js"
import type { BodyStorageReader } from "./body-storage.js"
import { type Prepared, prepareAll, type SqliteDatabase, type SqliteRow } from "./driver.js"
import { EventCodec, type RowPlace } from "./event-row.js"
import { firstKey, lastKey, packHash, packUuid, runKeyOf, unpackHex } from "./keys.js"

/** Of a step row: it says which parent the step was opened with. Events of the step that name the same one were written without it. */
export const NAMES_PARENT = "(opened IS NOT NULL OR parent_id IS NOT NULL)"

const SQL = {
  byKey: "SELECT * FROM event_rows WHERE key = ?",
  byId: "SELECT * FROM event_rows WHERE event_id = ?",
  run: "SELECT run_id, trace_id FROM run_rows WHERE key = ?",
  parents: `SELECT step_id, parent_id FROM step_rows WHERE key BETWEEN ? AND ? AND ${NAMES_PARENT} ORDER BY key`,
  parent: `SELECT parent_id FROM step_rows WHERE step_id = ? AND key BETWEEN ? AND ? AND ${NAMES_PARENT} ORDER BY key LIMIT 1`,
  recipe: "SELECT recipe FROM body_rows WHERE hash = ?",
}

/** Puts events together again from their rows. */
export class EventReader {
  readonly codec: EventCodec
  readonly #storage: BodyStorageReader
  readonly #sql: Prepared<typeof SQL>

  constructor(database: SqliteDatabase, storage: BodyStorageReader) {
    this.codec = new EventCodec(database)
    this.#storage = storage
    this.#sql = prepareAll(database, SQL)
  }

  /** What is the same for all events of a run. For many events of one run, ask once. */
  placeOfRun(runKey: number): RowPlace {
    const row = this.#sql.run.get(runKey)
    const parents = new Map<string, string | null>()
    for (const step of this.#sql.parents.iterate(firstKey(runKey), lastKey(runKey))) {
      const stepId = unpackHex(step["step_id"])
      if (!parents.has(stepId)) parents.set(stepId, step["parent_id"] === null ? null : unpackHex(step["parent_id"]))
    }
    return {
      runId: row ? String(row["run_id"]) : null,
      traceId: row?.["trace_id"] == null ? null : String(row["trace_id"]),
      parentOf: (stepId) => parents.get(stepId),
    }
  }

  /** The same for a single event, without reading all steps of its run. */
  placeOfEvent(row: SqliteRow): RowPlace {
    const key = Number(row["key"])
    if (key < 0) return OUTSIDE
    const runKey = runKeyOf(key)
    const run = this.#sql.run.get(runKey)
    const parent =
      row["step_id"] === null
        ? undefined
        : this.#sql.parent.get(row["step_id"] as Uint8Array | string, firstKey(runKey), lastKey(runKey))
    return {
      runId: run ? String(run["run_id"]) : null,
      traceId: run?.["trace_id"] == null ? null : String(run["trace_id"]),
      parentOf: () => (parent?.["parent_id"] == null ? null : unpackHex(parent["parent_id"])),
    }
  }

  decode(row: SqliteRow, place: RowPlace): Event {
    return this.codec.decode(row, this.textOf(row), place)
  }

  rowByKey(key: number): SqliteRow | undefined {
    return this.#sql.byKey.get(key)
  }

  rowById(eventId: string): SqliteRow | undefined {
    return this.#sql.byId.get(packUuid(eventId))
  }

  textOf(row: SqliteRow): string {
    const text = String(row["json"])
    const hash = spilledHash(text)
    if (hash === undefined) return text
    const recipe = this.#sql.recipe.get(packHash(hash)!)?.["recipe"]
    const reading = recipe instanceof Uint8Array ? this.#storage.read(recipe, hash) : undefined
    // The event is shown without its payload rather than not at all; `integrity` names the loss.
    return reading?.bytes === undefined ? "{}" : reading.bytes.toString("utf8")
  }
}

const OUTSIDE: RowPlace = { runId: null, traceId: null, parentOf: () => null }
