import type { StreamUpdate } from "../trace-store.js"
import { STREAM } from "./codes.js"
import type { SqliteDatabase, SqliteRow, SqliteStatement } from "./driver.js"

const MAX_ROW_BYTES = 60 * 1024

export interface StreamRow {
  readonly key: number
  readonly streamId: string
  readonly runId: string | null
  readonly stepId: string | null
  readonly mime: string | null
  readonly state: number
}

/** Bodies that are still being written, piece by piece, so that what a dead writer had received can be read. */
export class StreamTable {
  readonly #find: SqliteStatement
  readonly #add: SqliteStatement
  readonly #addChunk: SqliteStatement
  readonly #grow: SqliteStatement
  readonly #chunks: SqliteStatement
  readonly #dropChunks: SqliteStatement
  readonly #drop: SqliteStatement
  readonly #abandon: SqliteStatement

  constructor(database: SqliteDatabase) {
    this.#find = database.prepare("SELECT * FROM stream_rows WHERE stream_id = ?")
    this.#add = database.prepare(
      "INSERT INTO stream_rows (stream_id, run_id, step_id, role, mime, state, chunks, byte_size, last_micros) VALUES (?, ?, ?, ?, ?, 0, 0, 0, 0)",
    )
    this.#addChunk = database.prepare(
      "INSERT INTO stream_chunks (stream, offset, bytes) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
    )
    this.#grow = database.prepare(
      "UPDATE stream_rows SET chunks = chunks + ?, byte_size = byte_size + ?, last_micros = max(last_micros, ?) WHERE key = ?",
    )
    this.#chunks = database.prepare("SELECT offset, bytes FROM stream_chunks WHERE stream = ? ORDER BY offset")
    this.#dropChunks = database.prepare("DELETE FROM stream_chunks WHERE stream = ?")
    this.#drop = database.prepare("DELETE FROM stream_rows WHERE key = ?")
    this.#abandon = database.prepare("UPDATE stream_rows SET state = 2, is_unbroken = ?, body = ? WHERE key = ?")
  }

  find(streamId: string): StreamRow | undefined {
    const row = this.#find.get(streamId)
    return row && toStreamRow(row)
  }

  take(update: StreamUpdate): StreamRow {
    let stream = this.find(update.streamId)
    if (stream === undefined) {
      this.#add.run(update.streamId, update.runId, update.stepId, update.role, update.mime ?? null)
      stream = this.find(update.streamId)!
    }
    let chunks = 0
    let bytes = 0
    let lastMicros = 0
    for (const chunk of update.chunks) {
      let isNew = false
      for (let from = 0; from < chunk.bytes.length; from += MAX_ROW_BYTES) {
        const part = chunk.bytes.subarray(from, from + MAX_ROW_BYTES)
        if (Number(this.#addChunk.run(stream.key, chunk.offset + from, part).changes) === 0) continue
        isNew = true
        bytes += part.length
      }
      if (isNew) chunks++
      lastMicros = Math.max(lastMicros, chunk.atMicros)
    }
    if (chunks > 0) this.#grow.run(chunks, bytes, lastMicros, stream.key)
    return stream
  }

  *pieces(stream: number): Generator<Uint8Array> {
    for (const row of this.#chunks.iterate(stream)) yield row["bytes"] as Uint8Array
  }

  isUnbroken(stream: number): boolean {
    let expected = 0
    for (const row of this.#chunks.iterate(stream)) {
      if (Number(row["offset"]) !== expected) return false
      expected += (row["bytes"] as Uint8Array).length
    }
    return true
  }

  drop(stream: number): void {
    this.#dropChunks.run(stream)
    this.#drop.run(stream)
  }

  /** The bytes are a body now; the row stays and says whose. */
  abandon(stream: number, body: number): void {
    const isUnbroken = this.isUnbroken(stream) ? 1 : 0
    this.#dropChunks.run(stream)
    this.#abandon.run(isUnbroken, body, stream)
  }
}

export function toStreamRow(row: SqliteRow): StreamRow {
  const text = (name: string): string | null => (row[name] == null ? null : String(row[name]))
  return {
    key: Number(row["key"]),
    streamId: String(row["stream_id"]),
    runId: text("run_id"),
    stepId: text("step_id"),
    mime: text("mime"),
    state: Number(row["state"] ?? STREAM.open),
  }
}
