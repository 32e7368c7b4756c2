import { fitting } from "../fitting-json.js"
import { numberOrNull, textOrNull } from "../row-values.js"
import type { WriterExit, WriterRow, WriterState, WriterUpdate } from "../trace-store.js"
import { type Prepared, prepareAll, type SqliteDatabase, type SqliteRow } from "./driver.js"

const SQL = {
  find: "SELECT key FROM writer_rows WHERE writer_id = ?",
  add: "INSERT INTO writer_rows (writer_id, identity, state, records) VALUES (?, '{}', 'running', 0)",
  update: `UPDATE writer_rows SET identity = coalesce(?, identity), state = coalesce(?, state), file = coalesce(?, file),
       records = records + ?, last_seen_at = max(coalesce(last_seen_at, 0), ?) WHERE key = ?`,
  exit: "UPDATE writer_rows SET state = 'exited', exit = ?, last_seen_at = max(coalesce(last_seen_at, 0), ?) WHERE key = ?",
}

/** The processes that wrote journals. */
export class WriterTable {
  readonly #keys = new Map<string, number>()
  readonly #sql: Prepared<typeof SQL>

  constructor(database: SqliteDatabase) {
    this.#sql = prepareAll(database, SQL)
  }

  keyOf(writerId: string): number {
    const known = this.#keys.get(writerId)
    if (known !== undefined) return known
    const found = this.#sql.find.get(writerId)
    const key = Number(found ? found["key"] : this.#sql.add.run(writerId).lastInsertRowid)
    this.#keys.set(writerId, key)
    return key
  }

  update(update: WriterUpdate, nowMs: number): void {
    const identity = update.identity === undefined ? null : fitting(update.identity)
    this.#sql.update.run(
      identity,
      update.state ?? null,
      update.file ?? null,
      update.records ?? 0,
      update.lastSeenAtMs ?? nowMs,
      this.keyOf(update.writerId),
    )
  }

  exit({ writerId, atMs, exit }: WriterExit): void {
    this.#sql.exit.run(fitting(exit), atMs, this.keyOf(writerId))
  }

  reset(): void {
    this.#keys.clear()
  }
}

export function toWriterRow(row: SqliteRow): WriterRow {
  return {
    writerId: String(row["writer_id"]),
    identity: JSON.parse(String(row["identity"])) as Record<string, unknown>,
    state: String(row["state"]) as WriterState,
    file: textOrNull(row["file"]),
    records: Number(row["records"]),
    lastSeenAtMs: numberOrNull(row["last_seen_at"]),
    exit: row["exit"] === null ? null : (JSON.parse(String(row["exit"])) as Record<string, unknown>),
  }
}
