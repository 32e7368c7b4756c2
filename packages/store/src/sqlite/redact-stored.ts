import type { Event } from "@orangebox/contract"
import { BODY, HELD, ID_KINDS, STREAM } from "../codes.js"
import { eventIds } from "../event-ids.js"
import { failpoint } from "../failpoint.js"
import { MAX_ROW_TEXT } from "../fitting-json.js"
import { spilledHash, spillMark } from "../spilled-text.js"
import { inJson, NOTHING_REDACTED, revisionOf } from "../stored-redaction.js"
import type { Progress, StoredRedaction, StoredRedactionReport } from "../trace-store.js"
import type { BodyStorage } from "./body-storage.js"
import { BodyTable } from "./body-table.js"
import type { SqliteDatabase, SqliteRow } from "./driver.js"
import type { EventReader } from "./event-reader.js"
import type { RowPlace } from "./event-row.js"
import { firstKey, lastKey, OWN_PLACES, packHash, placeOf, runKeyOf, unpackHash } from "./keys.js"
import { runKeyOfId } from "./read-runs.js"
import { deriveProcessEvents, deriveRun } from "./rebuild.js"
import { RedactedEvents } from "./redacted-events.js"
import { type ReleaseContext, unlinkText } from "./release.js"
import { StreamTable } from "./stream-table.js"
import { TextIndex } from "./text-index.js"
import type { Tombstone } from "./tombstones.js"

interface Context extends ReleaseContext {
  readonly storage: BodyStorage
}

interface RevisedEvent {
  readonly key: number
  readonly event: Event
}

interface DoomedBody {
  readonly key: number
  readonly hash: string
  readonly byteSize: number
}

interface Finds {
  readonly events: readonly RevisedEvent[]
  readonly eventsSeen: number
  readonly bodies: readonly DoomedBody[]
  readonly bodiesSeen: number
  readonly unreadableBodies: number
  /** Still being received: their writer has them too. */
  readonly openStreams: readonly string[]
}

/**
 * Takes text out of everything the store holds: bodies become tombstones, events are replaced by what they may still say, and what was
 * derived from either is derived again. All of it in one transaction, with the tombstones on disk before it. The caller then gives the
 * freed space back, so that nothing stays behind in packs, pages or the WAL.
 */
export async function redactStored(
  context: Context,
  redaction: StoredRedaction,
  options: { readonly isDryRun?: boolean } & Progress,
): Promise<StoredRedactionReport> {
  const { database, transact } = context
  const runKey = redaction.runId === undefined ? undefined : runKeyOfId(database, redaction.runId)
  if (redaction.runId !== undefined && runKey === undefined) return NOTHING_REDACTED
  const finds = find(context, redaction, runKey, options)
  const runs = touchedRuns(database, finds)
  let texts = 0
  if (options.isDryRun !== true) {
    options.onProgress?.(0, undefined, "writing")
    texts = await transact(() => apply(context, redaction, finds, runs))
  }
  return {
    events: finds.events.length,
    eventsSeen: finds.eventsSeen,
    bodies: finds.bodies.length,
    bodiesSeen: finds.bodiesSeen,
    bodyBytes: finds.bodies.reduce((sum, { byteSize }) => sum + byteSize, 0),
    otherTexts: texts,
    runIds: runs.flatMap((run) => runIdOf(database, run)),
    openStreams: finds.openStreams,
    unreadableBodies: finds.unreadableBodies,
    isSwept: false,
  }
}

// ── Finding ─────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

function find(
  { database, reader, storage }: Context,
  redaction: StoredRedaction,
  runKey: number | undefined,
  { onProgress }: Progress,
): Finds {
  const { events, eventsSeen } = findEvents(database, reader, redaction, runKey, onProgress)
  const rows = bodyKeys(database, runKey)
  const row = database.prepare("SELECT hash, mime, byte_size, recipe FROM body_rows WHERE key = ?")
  const bodies: DoomedBody[] = []
  let unreadableBodies = 0
  for (const [index, key] of rows.entries()) {
    if (index % 50 === 0) onProgress?.(index, rows.length, "bodies")
    const body = row.get(key)!
    const hash = unpackHash(body["hash"])
    const { bytes } = storage.read(body["recipe"] as Uint8Array, hash)
    if (bytes === undefined) unreadableBodies++
    else if (redaction.body(bytes, body["mime"] === null ? null : String(body["mime"]))) {
      bodies.push({ key, hash, byteSize: Number(body["byte_size"]) })
    }
  }
  return {
    events,
    eventsSeen,
    bodies,
    bodiesSeen: rows.length,
    unreadableBodies,
    openStreams: findStreams(database, redaction),
  }
}

function findEvents(
  database: SqliteDatabase,
  reader: EventReader,
  redaction: StoredRedaction,
  runKey: number | undefined,
  onProgress: Progress["onProgress"],
): { events: RevisedEvent[]; eventsSeen: number } {
  const [first, last] =
    runKey === undefined ? [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER] : [firstKey(runKey), lastKey(runKey)]
  const total = Number(
    database.prepare("SELECT count(*) AS total FROM event_rows WHERE key BETWEEN ? AND ?").get(first, last)?.["total"],
  )
  const events: RevisedEvent[] = []
  let eventsSeen = 0
  let placed: { readonly runKey: number; readonly place: RowPlace } | undefined
  for (const row of database
    .prepare("SELECT * FROM event_rows WHERE key BETWEEN ? AND ? ORDER BY key")
    .iterate(first, last)) {
    const key = Number(row["key"])
    if (key >= 0 && placed?.runKey !== runKeyOf(key)) {
      placed = { runKey: runKeyOf(key), place: reader.placeOfRun(runKeyOf(key)) }
    }
    const event = reader.decode(row, key < 0 ? reader.placeOfEvent(row) : placed!.place)
    // A run that is being removed has no name any more; its rows go by themselves.
    if (key < 0 || event.run_id !== null) {
      const revised = redaction.event(event)
      if (revised !== event) events.push({ key, event: revised })
    }
    if (++eventsSeen % 1000 === 0) onProgress?.(eventsSeen, total, "events")
  }
  return { events, eventsSeen }
}

/** All bodies that are there, but for the texts of events that are too long for their rows: those go with their events. */
function bodyKeys(database: SqliteDatabase, runKey: number | undefined): number[] {
  const rows =
    runKey === undefined
      ? database
          .prepare(
            `SELECT key FROM body_rows WHERE state = ${BODY.here} AND (NOT EXISTS (SELECT 1 FROM body_refs WHERE body = body_rows.key)
             OR EXISTS (SELECT 1 FROM body_refs WHERE body = body_rows.key AND class <> ${HELD.event})) ORDER BY key`,
          )
          .all()
      : database
          .prepare(
            `SELECT DISTINCT body_rows.key FROM body_refs JOIN body_rows ON body_rows.key = body_refs.body
             WHERE event BETWEEN ? AND ? AND class <> ${HELD.event} AND state = ${BODY.here} ORDER BY body_rows.key`,
          )
          .all(firstKey(runKey), lastKey(runKey))
  return rows.map((row) => Number(row["key"]))
}

function findStreams(database: SqliteDatabase, redaction: StoredRedaction): string[] {
  const streams = new StreamTable(database)
  return database
    .prepare(`SELECT key, stream_id, run_id, mime FROM stream_rows WHERE state = ${STREAM.open}`)
    .all()
    .filter((row) => redaction.runId === undefined || row["run_id"] === redaction.runId)
    .filter((row) => {
      const bytes = Buffer.concat([...streams.pieces(Number(row["key"]))])
      return redaction.body(bytes, row["mime"] === null ? null : String(row["mime"]))
    })
    .map((row) => String(row["stream_id"]))
}

function touchedRuns(database: SqliteDatabase, { events, bodies }: Finds): number[] {
  const runs = new Set(events.map(({ key }) => runOfEvent(key)))
  const refs = database.prepare("SELECT event FROM body_refs WHERE body = ?")
  for (const { key } of bodies) for (const ref of refs.iterate(key)) runs.add(runOfEvent(Number(ref["event"])))
  return [...runs].sort((a, b) => a - b)
}

/** 0 stands for everything outside a run. */
const runOfEvent = (key: number): number => (key < 0 ? 0 : runKeyOf(key))

function runIdOf(database: SqliteDatabase, run: number): string[] {
  const row = database.prepare("SELECT run_id FROM run_rows WHERE key = ?").get(run)
  return row === undefined ? [] : [String(row["run_id"])]
}

// ── Writing ─────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

function apply(context: Context, redaction: StoredRedaction, finds: Finds, runs: readonly number[]): number {
  const { database, bury, nowMs } = context
  bury([
    ...finds.bodies.map((body) => bodyTombstone(body, nowMs)),
    ...finds.events.map(({ event }) => eventTombstone(event, nowMs)),
  ])
  for (const { key } of finds.bodies) markRedacted(database, key, nowMs)
  const revision = new EventRevision(context)
  for (const { key, event } of finds.events) revision.apply(key, event)
  revision.dropSpilled()
  const texts = rewriteOtherTexts(context, redaction, revision)
  if (texts + finds.events.length + finds.bodies.length === 0) return 0
  const note = database.prepare("INSERT OR REPLACE INTO meta (name, value) VALUES (?, 1)")
  note.run("has_dead_chunks")
  // A redaction killed before the sweep leaves it to the next one.
  note.run("is_unswept")
  for (const run of runs) deriveAgain(context, run)
  failpoint("redact:applied")
  return texts
}

const bodyTombstone = ({ hash, byteSize }: DoomedBody, atMs: number): Tombstone => ({
  kind: "body",
  hash,
  byteSize,
  atMs,
  why: "redacted",
})

const eventTombstone = (event: Event, atMs: number): Tombstone => ({ kind: "event", event, atMs })

function markRedacted(database: SqliteDatabase, key: number, nowMs: number): void {
  database
    .prepare(`UPDATE body_rows SET state = ${BODY.redacted}, state_at = ?, recipe = NULL WHERE key = ?`)
    .run(nowMs, key)
}

/** Puts other words into rows of events. Their keys, ids and times stay. */
class EventRevision {
  readonly #context: Context
  readonly #bodies: BodyTable
  readonly #redacted: RedactedEvents
  readonly #oldSpills = new Set<string>()

  constructor(context: Context) {
    this.#context = context
    this.#bodies = new BodyTable(context.database)
    this.#redacted = new RedactedEvents(context.database)
  }

  apply(key: number, event: Event): void {
    const { database, reader, nowMs } = this.#context
    const row = reader.rowByKey(key)!
    const place = reader.placeOfEvent(row)
    const removeId = database.prepare("DELETE FROM id_rows WHERE id = ? AND kind = ? AND event = ?")
    for (const { id, kind } of eventIds(reader.decode(row, place))) removeId.run(id, ID_KINDS.indexOf(kind), key)
    const encoded = reader.codec.encode(event, Number(row["at"]), this.#writerOf(row), {
      sequenceInKey: key >= 0 && placeOf(key) < OWN_PLACES,
      traceId: place.traceId,
      // Said in the row itself, so that it does not depend on which event opened the step.
      parentId: undefined,
    })
    this.noteSpilled(String(row["json"]), key)
    database
      .prepare("UPDATE event_rows SET profile = ?, json = ? WHERE key = ?")
      .run(encoded.profile, this.fitting(encoded.json, key), key)
    this.#redacted.put(event, nowMs)
  }

  /** A text as it fits into a row: itself, or the name of a body that holds it. */
  fitting(json: string, event: number): string {
    const { storage, nowMs } = this.#context
    if (Buffer.byteLength(json) <= MAX_ROW_TEXT) return json
    const written = this.#bodies.put(storage, "", Buffer.from(json), "application/json", nowMs)
    this.#bodies.refer(written.row.key, event, HELD.event)
    return spillMark(written.hash)
  }

  /** Remembers that a row let go of the body its text was in. */
  noteSpilled(json: string, event: number): void {
    const hash = spilledHash(json)
    if (hash === undefined) return
    this.#context.database
      .prepare(
        `DELETE FROM body_refs WHERE body = (SELECT key FROM body_rows WHERE hash = ?) AND event = ? AND class = ${HELD.event}`,
      )
      .run(packHash(hash)!, event)
    this.#oldSpills.add(hash)
  }

  dropSpilled(): void {
    const { database, bury, nowMs } = this.#context
    const find = database.prepare(
      "SELECT key, byte_size FROM body_rows WHERE hash = ? AND NOT EXISTS (SELECT 1 FROM body_refs WHERE body = body_rows.key)",
    )
    for (const hash of this.#oldSpills) {
      const row = find.get(packHash(hash)!)
      if (row === undefined) continue
      bury([bodyTombstone({ key: Number(row["key"]), hash, byteSize: Number(row["byte_size"]) }, nowMs)])
      markRedacted(database, Number(row["key"]), nowMs)
    }
    this.#oldSpills.clear()
  }

  #writerOf(row: SqliteRow): number | null {
    const writer = this.#context.database
      .prepare("SELECT writer FROM profiles WHERE key = ?")
      .get(Number(row["profile"]))?.["writer"]
    return writer == null ? null : Number(writer)
  }
}

/** What the store keeps beside events and bodies. Digests stay: by them a line that is read again is known. */
function rewriteOtherTexts(context: Context, redaction: StoredRedaction, revision: EventRevision): number {
  const { database, reader } = context
  const { text, runId } = redaction
  let changed = context.rollups.rename(text)
  changed += new RedactedEvents(database).revise(revisionOf(redaction), context.nowMs)
  const conflicts = database
    .prepare(`SELECT key, json FROM conflict_rows ${runId === undefined ? "" : "WHERE run = ?"}`)
    .all(...(runId === undefined ? [] : [runId]))
  for (const row of conflicts) {
    const before = reader.textOf(row)
    const after = inJson(before, text)
    if (after === before) continue
    revision.noteSpilled(String(row["json"]), 0)
    database
      .prepare("UPDATE conflict_rows SET json = ? WHERE key = ?")
      .run(revision.fitting(after, 0), Number(row["key"]))
    changed++
  }
  revision.dropSpilled()
  if (runId === undefined) {
    for (const [table, column] of [
      ["gap_rows", "json"],
      ["problem_rows", "json"],
      ["writer_rows", "identity"],
      ["writer_rows", "exit"],
    ] as const) {
      for (const row of database
        .prepare(`SELECT key, ${column} AS json FROM ${table} WHERE ${column} IS NOT NULL`)
        .all()) {
        const after = inJson(String(row["json"]), text)
        if (after === row["json"]) continue
        database.prepare(`UPDATE ${table} SET ${column} = ? WHERE key = ?`).run(after, Number(row["key"]))
        changed++
      }
    }
  }
  dropUnusedProfiles(database, text)
  reader.codec.reset()
  return changed
}

/** Envelopes that no event has any more. */
function dropUnusedProfiles(database: SqliteDatabase, text: (text: string) => string): void {
  const drop = database.prepare(
    "DELETE FROM profiles WHERE key = ? AND NOT EXISTS (SELECT 1 FROM event_rows WHERE profile = ?)",
  )
  for (const row of database.prepare("SELECT key, json FROM profiles").all()) {
    const key = Number(row["key"])
    if (inJson(String(row["json"]), text) !== row["json"]) drop.run(key, key)
  }
}

function deriveAgain(context: Context, run: number): void {
  const { database } = context
  for (const row of database.prepare("SELECT class, text FROM text_runs WHERE run = ?").all(run)) {
    unlinkText(database, Number(row["text"]), run, Number(row["class"]))
  }
  const index = new TextIndex(database)
  if (run === 0) deriveProcessEvents(context, index)
  else deriveRun(context, index, run)
}
