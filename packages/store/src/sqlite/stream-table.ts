import { STREAM } from "../codes.js"
import type { StreamUpdate } from "../trace-store.js"
import { type Prepared, prepareAll, type SqliteDatabase, type SqliteRow } from "./driver.js"

const MAX_ROW_BYTES = 60 * 1024

export interface StreamRow {
  readonly key: number
  readonly streamId: string
  readonly runId: string | null
  readonly stepId: string | null
  readonly mime: string | null
  readonly state: number
}

const SQL = {
  find: "SELECT * FROM stream_rows WHERE stream_id = ?",
  add: "INSERT INTO stream_rows (stream_id, run_id, step_id, role, mime, state, chunks, byte_size, last_micros) VALUES (?, ?, ?, ?, ?, 0, 0, 0, 0)",
  addChunk: "INSERT INTO stream_chunks (stream, offset, bytes) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
  grow: "UPDATE stream_rows SET chunks = chunks + ?, byte_size = byte_size + ?, last_micros = max(last_micros, ?) WHERE key = ?",
  withhold: "UPDATE stream_rows SET withheld_bytes = ? WHERE key = ?",
  chunks: "SELECT offset, bytes FROM stream_chunks WHERE stream = ? ORDER BY offset",
  dropChunks: "DELETE FROM stream_chunks WHERE stream = ?",
  drop: "DELETE FROM stream_rows WHERE key = ?",
  abandon: "UPDATE stream_rows SET state = 2, is_unbroken = ?, body = ? WHERE key = ?",
}

/** Bodies that are still being written, piece by piece, so that what a dead writer had received can be read. */
export class StreamTable {
  readonly #sql: Prepared<typeof SQL>

  constructor(database: SqliteDatabase) {
    this.#sql = prepareAll(database, SQL)
  }

  find(streamId: string): StreamRow | undefined {
    const row = this.#sql.find.get(streamId)
    return row && toStreamRow(row)
  }

  take(update: StreamUpdate): StreamRow {
    let stream = this.find(update.streamId)
    if (stream === undefined) {
      this.#sql.add.run(update.streamId, update.runId, update.stepId, update.role, update.mime ?? null)
      stream = this.find(update.streamId)!
    }
    let chunks = 0
    let bytes = 0
    let lastMicros = 0
    for (const chunk of update.chunks) {
      let isNew = false
      for (let from = 0; from < chunk.bytes.length; from += MAX_ROW_BYTES) {
        const part = chunk.bytes.subarray(from, from + MAX_ROW_BYTES)
        if (Number(this.#sql.addChunk.run(stream.key, chunk.offset + from, part).changes) === 0) continue
        isNew = true
        bytes += part.length
      }
      if (isNew) chunks++
      lastMicros = Math.max(lastMicros, chunk.atMicros)
    }
    if (chunks > 0) this.#sql.grow.run(chunks, bytes, lastMicros, stream.key)
    if (update.withheldBytes !== undefined) this.#sql.withhold.run(update.withheldBytes, stream.key)
    return stream
  }

  *pieces(stream: number): Generator<Uint8Array> {
    for (const row of this.#sql.chunks.iterate(stream)) yield row["bytes"] as Uint8Array
  }

  isUnbroken(stream: number): boolean {
    let expected = 0
    for (const row of this.#sql.chunks.iterate(stream)) {
      if (Number(row["offset"]) !== expected) return false
      expected += (row["bytes"] as Uint8Array).length
    }
    return true
  }

  drop(stream: number): void {
    this.#sql.dropChunks.run(stream)
    this.#sql.drop.run(stream)
  }

  /** The bytes are a body now; the row stays and says whose. */
  abandon(stream: number, body: number): void {
    const isUnbroken = this.isUnbroken(stream) ? 1 : 0
    this.#sql.dropChunks.run(stream)
    this.#sql.abandon.run(isUnbroken, body, stream)
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
