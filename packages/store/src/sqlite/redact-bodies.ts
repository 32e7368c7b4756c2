import type { BodyStorageReader } from "./body-storage.js"
import { BODY, HELD } from "./codes.js"
import type { SqliteDatabase, SqliteRow } from "./driver.js"
import { firstKey, lastKey, packHash, runKeyOf } from "./keys.js"
import { indexBodies } from "./rebuild.js"
import { type ReleaseContext, unlinkText } from "./release.js"
import { TextIndex } from "./text-index.js"

/**
 * Takes the content of bodies away for good. Their runs are indexed again without them, because a text may also stand in a body that
 * stays. The bytes leave the disk when the packs are rewritten, which the caller does next.
 */
export async function redactBodies(
  context: ReleaseContext & { readonly storage: BodyStorageReader },
  hashes: readonly string[],
): Promise<number> {
  const { database, storage, transact, bury, nowMs } = context
  const rows = hashes.flatMap((hash) => {
    const packed = packHash(hash)
    const row = packed && database.prepare("SELECT key, byte_size, state FROM body_rows WHERE hash = ?").get(packed)
    return row === undefined || Number(row["state"]) === BODY.redacted ? [] : [{ hash, row }]
  })
  if (rows.length === 0) return 0
  const runs = new Set(rows.flatMap(({ row }) => runsOf(database, row)))
  await transact(() => {
    bury(
      rows.map(({ hash, row }) => ({
        kind: "body",
        hash,
        byteSize: Number(row["byte_size"]),
        atMs: nowMs,
        why: "redacted",
      })),
    )
    const mark = database.prepare(
      `UPDATE body_rows SET state = ${BODY.redacted}, state_at = ?, recipe = NULL WHERE key = ?`,
    )
    for (const { row } of rows) mark.run(nowMs, Number(row["key"]))
    database.prepare("INSERT OR REPLACE INTO meta (name, value) VALUES ('has_dead_chunks', 1)").run()
    for (const run of runs) indexAgain(database, storage, run)
  })
  return rows.length
}

function runsOf(database: SqliteDatabase, row: SqliteRow): number[] {
  return database
    .prepare("SELECT event FROM body_refs WHERE body = ?")
    .all(Number(row["key"]))
    .map((ref) => (Number(ref["event"]) < 0 ? 0 : runKeyOf(Number(ref["event"]))))
}

function indexAgain(database: SqliteDatabase, storage: BodyStorageReader, run: number): void {
  const texts = database.prepare(`SELECT class, text FROM text_runs WHERE run = ? AND class <> ${HELD.event}`).all(run)
  for (const row of texts) unlinkText(database, Number(row["text"]), run, Number(row["class"]))
  const [first, last] = run === 0 ? [Number.MIN_SAFE_INTEGER, -1] : [firstKey(run), lastKey(run)]
  indexBodies(database, storage, new TextIndex(database), run, first, last)
}
