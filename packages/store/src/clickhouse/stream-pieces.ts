import { type Connection, listOf } from "./connection.js"

export interface StreamPiece {
  readonly offset: number
  readonly bytes: Uint8Array
  readonly micros: number
}

/** The pieces of a stream that reached the server. */
export async function streamPieces(connection: Connection, streamId: string): Promise<StreamPiece[]> {
  const rows = await connection.rows(
    `SELECT offset, micros, bytes FROM stream_rows FINAL WHERE stream_id IN (${listOf([streamId])}) ORDER BY offset`,
  )
  return rows.map((row) => ({
    offset: Number(row["offset"]),
    micros: Number(row["micros"]),
    bytes: Buffer.from(String(row["bytes"]), "base64"),
  }))
}

/** What is left to say of the pieces of a stream that is over. */
export function ended(pieces: readonly StreamPiece[]) {
  let expected = 0
  let isUnbroken = true
  for (const { offset, bytes } of pieces) {
    if (offset !== expected) isUnbroken = false
    expected = offset + bytes.length
  }
  return {
    isUnbroken,
    chunks: pieces.length,
    byteSize: pieces.reduce((sum, { bytes }) => sum + bytes.length, 0),
    lastMicros: pieces.reduce((last, { micros }) => Math.max(last, micros), 0),
  }
}
