import type { BodyReading as StoredReading } from "../bodies/body-problem.js"
import { absenceOf, UNKNOWN_BODY } from "../body-absence.js"
import { textOrNull } from "../row-values.js"
import type { Absence, BodyInfo, BodyReading } from "../trace-store.js"
import type { ReadConnection } from "./connection.js"
import type { SqliteDatabase, SqliteRow } from "./driver.js"
import { packHash } from "./keys.js"

export function bodyInfo(database: SqliteDatabase, hash: string): BodyInfo | undefined {
  const row = rowOf(database, hash)
  if (row === undefined) return undefined
  const references = database.prepare("SELECT count(*) AS total FROM body_refs WHERE body = ?").get(Number(row["key"]))
  const absent = absenceIn(row, hash)
  return {
    hash,
    byteSize: Number(row["byte_size"]),
    mime: textOrNull(row["mime"]),
    firstSeenAtMs: Number(row["seen_at"]),
    references: Number(references?.["total"]),
    ...(absent === undefined ? {} : { absent }),
  }
}

/** Bytes or an explained absence; with a range, that slice of them, which is checked block by block but not against the whole hash. */
export function readBody(
  { database, storage }: Pick<ReadConnection, "database" | "storage">,
  hash: string,
  range?: { from: number; to: number },
): BodyReading {
  return readingOf(rowOf(database, hash), hash, (recipe, byteSize) =>
    range === undefined
      ? storage.read(recipe, hash)
      : storage.slice(recipe, Math.max(0, range.from), Math.max(0, Math.min(range.to, byteSize))),
  )
}

/** Whole bodies, in one go. */
export function readBodies(
  { database, storage }: Pick<ReadConnection, "database" | "storage">,
  hashes: readonly string[],
): BodyReading[] {
  const rows = database.prepare(BODY_ROW)
  const batch = storage.forBatch()
  return hashes.map((hash) => {
    const packed = packHash(hash)
    return readingOf(packed && rows.get(packed), hash, (recipe) => batch.read(recipe, hash))
  })
}

function readingOf(
  row: SqliteRow | undefined,
  hash: string,
  read: (recipe: Uint8Array, byteSize: number) => StoredReading,
): BodyReading {
  if (row === undefined) return { absent: "unknown", hash, reason: UNKNOWN_BODY }
  const absent = absenceIn(row, hash)
  if (absent !== undefined) return absent
  const byteSize = Number(row["byte_size"])
  const reading = read(row["recipe"] as Uint8Array, byteSize)
  if (reading.bytes !== undefined) return { bytes: reading.bytes, byteSize, mime: textOrNull(row["mime"]) }
  const { code, where, reason } = reading.problem
  return { absent: "lost", hash, byteSize, reason: `${code}: ${reason} (${where})` }
}

const BODY_ROW = "SELECT key, state, state_at, seen_at, byte_size, mime, recipe FROM body_rows WHERE hash = ?"

function rowOf(database: SqliteDatabase, hash: string): SqliteRow | undefined {
  const packed = packHash(hash)
  return packed && database.prepare(BODY_ROW).get(packed)
}

function absenceIn(row: SqliteRow, hash: string): Absence | undefined {
  const [byteSize, onMs] = [Number(row["byte_size"]), Number(row["state_at"])]
  return absenceOf(Number(row["state"]), { hash, byteSize, onMs })
}
