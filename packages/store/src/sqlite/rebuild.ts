import { type RunFacts, RunFold } from "@orangebox/runs"
import { BODY, HELD, ID_KINDS } from "../codes.js"
import { eventIds } from "../event-ids.js"
import { eventTexts } from "../event-texts.js"
import { failpoint } from "../failpoint.js"
import { bodySegments, MAX_INDEXED_BYTES } from "../indexed-text.js"
import type { Progress, RebuildReport } from "../trace-store.js"
import type { BodyStorageReader } from "./body-storage.js"
import type { SqliteDatabase, SqliteRow } from "./driver.js"
import type { EventReader } from "./event-reader.js"
import { firstKey, lastKey } from "./keys.js"
import type { Transact } from "./release.js"
import { type FoldContext, foldAgain } from "./replace-run.js"
import { TextIndex } from "./text-index.js"

export interface DeriveContext extends FoldContext {
  readonly storage: BodyStorageReader
}

/**
 * Runs, steps, ids, roll-ups and the search index again from the events and bodies: after a change in how they are derived, or to be
 * sure. One run after the other; how far it got is in `meta`, so an interrupted rebuild goes on where it was.
 */
export async function rebuild(
  context: DeriveContext & { readonly transact: Transact },
  progress: Progress,
): Promise<RebuildReport> {
  const { database, transact } = context
  const marker = database.prepare("SELECT value FROM meta WHERE name = 'rebuild_next'")
  if (marker.get() === undefined) {
    await transact(() => {
      context.rollups.removeRuns()
      database.exec("DELETE FROM id_rows")
      database.exec("DELETE FROM text_runs")
      database.exec("DELETE FROM text_rows")
      database.exec("INSERT INTO search_index (search_index) VALUES ('delete-all')")
      setNext(database, 0)
    })
  }
  const report = { events: 0, runs: 0, steps: 0, texts: 0 }
  const total = Number(database.prepare("SELECT count(*) AS total FROM run_rows").get()?.["total"])
  // Key 0 stands for everything outside a run.
  for (;;) {
    const next = marker.get()
    if (next === undefined) break
    const runKey = Number(next["value"])
    await transact(() => {
      const index = new TextIndex(database)
      if (runKey === 0) report.events += deriveProcessEvents(context, index)
      else {
        const facts = deriveRun(context, index, runKey)
        report.events += facts.events + facts.annotations
        report.steps += facts.steps
        report.runs++
      }
      const following = database.prepare("SELECT min(key) AS key FROM run_rows WHERE key > ?").get(runKey)?.["key"]
      if (following == null) database.exec("DELETE FROM meta WHERE name = 'rebuild_next'")
      else setNext(database, Number(following))
      failpoint("rebuild:run")
    })
    progress.onProgress?.(report.runs, total, "runs")
  }
  await transact(() => context.rollups.addUpAll())
  report.texts = Number(database.prepare("SELECT count(*) AS total FROM text_rows").get()?.["total"])
  return report
}

function setNext(database: SqliteDatabase, runKey: number): void {
  database.prepare("INSERT OR REPLACE INTO meta (name, value) VALUES ('rebuild_next', ?)").run(runKey)
}

/** A run's row, steps, roll-ups, ids and texts again from its events and bodies. Texts it was linked to before must be unlinked first. */
export function deriveRun(context: DeriveContext, index: TextIndex, runKey: number): RunFacts {
  const { database, storage } = context
  const fold = new RunFold<number>()
  foldAgain(context, runKey, fold, (row, event) => indexEvent(database, index, row, event))
  indexBodies(database, storage, index, runKey, firstKey(runKey), lastKey(runKey))
  return fold.facts
}

/** Folds the runs that a migration could not bring forward by their rows alone. */
export function foldMarkedRuns(context: FoldContext): void {
  const { database } = context
  for (const row of database.prepare("SELECT run FROM runs_to_fold").all()) {
    const run = Number(row["run"])
    database.exec("BEGIN IMMEDIATE")
    try {
      foldAgain(context, run, new RunFold())
      database.prepare("DELETE FROM runs_to_fold WHERE run = ?").run(run)
      database.exec("COMMIT")
    } catch (error) {
      database.exec("ROLLBACK")
      throw error
    }
  }
  context.rollups.reset()
}

/** The same for what was said outside any run. */
export function deriveProcessEvents({ database, storage, reader }: DeriveContext, index: TextIndex): number {
  let events = 0
  for (const row of database.prepare("SELECT * FROM event_rows WHERE key < 0").iterate()) {
    indexEvent(database, index, row, reader.decode(row, reader.placeOfEvent(row)))
    events++
  }
  indexBodies(database, storage, index, 0, Number.MIN_SAFE_INTEGER, -1)
  return events
}

function indexEvent(
  database: SqliteDatabase,
  index: TextIndex,
  row: SqliteRow,
  event: ReturnType<EventReader["decode"]>,
): void {
  const key = Number(row["key"])
  const runKey = key < 0 ? 0 : Math.floor(key / firstKey(1))
  const addId = database.prepare("INSERT INTO id_rows (id, kind, event) VALUES (?, ?, ?) ON CONFLICT DO NOTHING")
  for (const { id, kind } of eventIds(event)) addId.run(id, ID_KINDS.indexOf(kind), key)
  for (const { text } of eventTexts(event))
    index.add(text, { run: runKey, heldAs: HELD.event, event: key, type: Number(row["type"]) })
}

/** The texts of all bodies that events in this range hold, each body once for the first event that names it. */
function indexBodies(
  database: SqliteDatabase,
  storage: BodyStorageReader,
  index: TextIndex,
  runKey: number,
  firstEvent: number,
  lastEvent: number,
): void {
  const bodies = database
    .prepare(
      `SELECT body_refs.body AS body, class, min(event) AS event, event_rows.type AS type, mime, recipe FROM body_refs
       JOIN body_rows ON body_rows.key = body_refs.body JOIN event_rows ON event_rows.key = event
       WHERE event BETWEEN ? AND ? AND class <> ${HELD.event} AND state = ${BODY.here} GROUP BY body_refs.body, class ORDER BY event`,
    )
    .all(firstEvent, lastEvent)
  for (const row of bodies) {
    const reading = storage.slice(row["recipe"] as Uint8Array, 0, MAX_INDEXED_BYTES)
    if (reading.bytes === undefined) continue
    for (const text of bodySegments(reading.bytes, row["mime"] === null ? null : String(row["mime"]))) {
      index.add(text, {
        run: runKey,
        heldAs: Number(row["class"]),
        event: Number(row["event"]),
        type: Number(row["type"]),
      })
    }
  }
}
