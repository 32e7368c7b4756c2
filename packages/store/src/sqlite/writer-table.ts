import type { WriterExit, WriterRow, WriterState, WriterUpdate } from "../trace-store.js"
import type { SqliteDatabase, SqliteRow, SqliteStatement } from "./driver.js"
import { fitting } from "./fitting-json.js"
import { numberOrNull, textOrNull } from "./run-table.js"

/** The processes that wrote journals. */
export class WriterTable {
  readonly #keys = new Map<string, number>()
  readonly #find: SqliteStatement
  readonly #add: SqliteStatement
  readonly #update: SqliteStatement
  readonly #exit: SqliteStatement

  constructor(database: SqliteDatabase) {
    this.#find = database.prepare("SELECT key FROM writer_rows WHERE writer_id = ?")
    this.#add = database.prepare(
      "INSERT INTO writer_rows (writer_id, identity, state, records) VALUES (?, '{}', 'running', 0)",
    )
    this.#update = database.prepare(
      `UPDATE writer_rows SET identity = coalesce(?, identity), state = coalesce(?, state), file = coalesce(?, file),
       records = records + ?, last_seen_at = max(coalesce(last_seen_at, 0), ?) WHERE key = ?`,
    )
    this.#exit = database.prepare(
      "UPDATE writer_rows SET state = 'exited', exit = ?, last_seen_at = max(coalesce(last_seen_at, 0), ?) WHERE key = ?",
    )
  }

  keyOf(writerId: string): number {
    const known = this.#keys.get(writerId)
    if (known !== undefined) return known
    const found = this.#find.get(writerId)
    const key = Number(found ? found["key"] : this.#add.run(writerId).lastInsertRowid)
    this.#keys.set(writerId, key)
    return key
  }

  update(update: WriterUpdate, nowMs: number): void {
    const identity = update.identity === undefined ? null : fitting(update.identity)
    this.#update.run(
      identity,
      update.state ?? null,
      update.file ?? null,
      update.records ?? 0,
      update.lastSeenAtMs ?? nowMs,
      this.keyOf(update.writerId),
    )
  }

  exit({ writerId, atMs, exit }: WriterExit): void {
    this.#exit.run(fitting(exit), atMs, this.keyOf(writerId))
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
