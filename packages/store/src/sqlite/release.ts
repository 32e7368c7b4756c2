import { BODY, HELD, ID_KINDS } from "../codes.js"
import { eventIds } from "../event-ids.js"
import { failpoint } from "../failpoint.js"
import type { SqliteDatabase } from "./driver.js"
import { firstKey, lastKey, unpackHash } from "./keys.js"
import type { FoldContext } from "./replace-run.js"
import type { Tombstone } from "./tombstones.js"

/** Rows changed in one transaction: short enough for readers and for the WAL. */
const ROWS_AT_ONCE = 2000

export type Transact = <T>(work: () => T) => Promise<T>

export interface ReleaseContext extends FoldContext {
  readonly transact: Transact
  readonly bury: (tombstones: readonly Tombstone[]) => void
  readonly nowMs: number
}

/**
 * Lets go of what a run holds in some classes: its texts leave the index where no other run has them, its bodies are marked pruned
 * where nothing else refers to them. In short transactions; interrupted, it goes on where it was.
 */
export async function releaseRun(context: ReleaseContext, runKey: number, classes: readonly number[]): Promise<number> {
  let pruned = 0
  for (const heldAs of classes) {
    await releaseTexts(context, runKey, heldAs)
    pruned += await releaseRefs(context, firstKey(runKey), lastKey(runKey), heldAs)
  }
  return pruned
}

async function releaseTexts({ database, transact }: ReleaseContext, runKey: number, heldAs: number): Promise<void> {
  const some = database.prepare("SELECT text FROM text_runs WHERE run = ? AND class = ? LIMIT ?")
  for (;;) {
    const texts = some.all(runKey, heldAs, ROWS_AT_ONCE).map((row) => Number(row["text"]))
    if (texts.length === 0) return
    await transact(() => {
      for (const text of texts) unlinkText(database, text, runKey, heldAs)
    })
    failpoint("prune:texts")
  }
}

export function unlinkText(database: SqliteDatabase, text: number, runKey: number, heldAs: number): void {
  database.prepare("DELETE FROM text_runs WHERE run = ? AND class = ? AND text = ?").run(runKey, heldAs, text)
  if (database.prepare("SELECT 1 FROM text_runs WHERE text = ? LIMIT 1").get(text) !== undefined) return
  database.prepare("DELETE FROM search_index WHERE rowid = ?").run(text)
  database.prepare("DELETE FROM text_rows WHERE key = ?").run(text)
}

export async function releaseRefs(
  { database, transact, bury, nowMs }: ReleaseContext,
  firstEvent: number,
  lastEvent: number,
  heldAs: number,
): Promise<number> {
  const some = database.prepare("SELECT body, event FROM body_refs WHERE event BETWEEN ? AND ? AND class = ? LIMIT ?")
  let pruned = 0
  for (;;) {
    const refs = some.all(firstEvent, lastEvent, heldAs, ROWS_AT_ONCE)
    if (refs.length === 0) return pruned
    await transact(() => {
      const remove = database.prepare("DELETE FROM body_refs WHERE body = ? AND event = ? AND class = ?")
      const touched = new Set<number>()
      for (const ref of refs) {
        remove.run(Number(ref["body"]), Number(ref["event"]), heldAs)
        touched.add(Number(ref["body"]))
      }
      pruned += pruneBodies(
        database,
        [...touched].filter((body) => !isReferred(database, body)),
        nowMs,
        bury,
      )
    })
    failpoint("prune:refs")
  }
}

function isReferred(database: SqliteDatabase, body: number): boolean {
  return database.prepare("SELECT 1 FROM body_refs WHERE body = ? LIMIT 1").get(body) !== undefined
}

/** Replaces bodies by their tombstones. The chunks they were made of are collected later, as long as this mark stands. */
export function pruneBodies(
  database: SqliteDatabase,
  bodies: readonly number[],
  nowMs: number,
  bury: (tombstones: readonly Tombstone[]) => void,
): number {
  const find = database.prepare(`SELECT hash, byte_size FROM body_rows WHERE key = ? AND state = ${BODY.here}`)
  const mark = database.prepare(
    `UPDATE body_rows SET state = ${BODY.pruned}, state_at = ?, recipe = NULL WHERE key = ?`,
  )
  const tombstones: Tombstone[] = []
  for (const body of bodies) {
    const row = find.get(body)
    if (row === undefined) continue
    mark.run(nowMs, body)
    tombstones.push({
      kind: "body",
      hash: unpackHash(row["hash"]),
      byteSize: Number(row["byte_size"]),
      atMs: nowMs,
      why: "pruned",
    })
  }
  if (tombstones.length > 0) {
    bury(tombstones)
    database.prepare("INSERT OR REPLACE INTO meta (name, value) VALUES ('has_dead_chunks', 1)").run()
  }
  return tombstones.length
}

/** Removes the rows of runs that have been buried. Restartable: `leaving_runs` says what is still to do. */
export async function removeLeavingRuns(context: ReleaseContext): Promise<{ events: number; bodies: number }> {
  const { database, transact } = context
  let events = 0
  let bodies = 0
  for (const row of database.prepare("SELECT run, run_id FROM leaving_runs ORDER BY run").all()) {
    const runKey = Number(row["run"])
    const runId = String(row["run_id"])
    events += await removeEvents(context, firstKey(runKey), lastKey(runKey))
    bodies += await releaseRun(context, runKey, Object.values(HELD))
    const steps = database.prepare(
      "DELETE FROM step_rows WHERE key IN (SELECT key FROM step_rows WHERE key BETWEEN ? AND ? LIMIT ?)",
    )
    while (Number((await transact(() => steps.run(firstKey(runKey), lastKey(runKey), ROWS_AT_ONCE))).changes) > 0);
    await transact(() => {
      database
        .prepare("DELETE FROM stream_chunks WHERE stream IN (SELECT key FROM stream_rows WHERE run_id = ?)")
        .run(runId)
      database.prepare("DELETE FROM stream_rows WHERE run_id = ?").run(runId)
      database.prepare("DELETE FROM conflict_rows WHERE run = ?").run(runId)
      database.prepare("DELETE FROM gap_runs WHERE run_id = ?").run(runId)
      database.prepare("DELETE FROM leaving_runs WHERE run = ?").run(runKey)
    })
    failpoint("prune:run-removed")
  }
  return { events, bodies }
}

/** Events with the ids they mention, which no index finds from the event. */
export async function removeEvents(
  { database, reader, transact }: ReleaseContext,
  firstEvent: number,
  lastEvent: number,
  extra = "",
): Promise<number> {
  const some = database.prepare(`SELECT * FROM event_rows WHERE key BETWEEN ? AND ? ${extra} ORDER BY key LIMIT ?`)
  let removed = 0
  for (;;) {
    const rows = some.all(firstEvent, lastEvent, ROWS_AT_ONCE)
    if (rows.length === 0) return removed
    await transact(() => {
      const removeEvent = database.prepare("DELETE FROM event_rows WHERE key = ?")
      const removeId = database.prepare("DELETE FROM id_rows WHERE id = ? AND kind = ? AND event = ?")
      for (const row of rows) {
        const key = Number(row["key"])
        for (const { id, kind } of eventIds(reader.decode(row, reader.placeOfEvent(row)))) {
          removeId.run(id, ID_KINDS.indexOf(kind), key)
        }
        removeEvent.run(key)
      }
    })
    removed += rows.length
    failpoint("prune:events")
  }
}
