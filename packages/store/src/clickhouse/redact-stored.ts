import type { Event } from "@orangebox/contract"
import { BODY, HELD } from "../codes.js"
import { failpoint } from "../failpoint.js"
import { MAX_ROW_TEXT } from "../fitting-json.js"
import { spilledHash } from "../spilled-text.js"
import { inJson, NOTHING_REDACTED, revisionOf } from "../stored-redaction.js"
import { isAbsent, type Progress, type StoredRedaction, type StoredRedactionReport } from "../trace-store.js"
import { type Connection, listOf, quote, type ServerRow } from "./connection.js"
import { factRow, factsOf, type StreamFact } from "./facts.js"
import { collectDead, type PruneContext } from "./prune.js"
import { type BodyState, bodyRow } from "./stored-bodies.js"
import type { StoredEvent, StoredEvents } from "./stored-events.js"
import { streamPieces } from "./stream-pieces.js"

export interface RedactContext extends PruneContext {
  readonly events: StoredEvents
  readonly rederive: (runId: string) => Promise<unknown>
}

/** Above every version that recording gives to a row. */
const REDACTED_VERSION = 2 ** 40

/**
 * Takes text out of everything the store holds. First stands what may not come back: collectors read that before each batch. Then rows take the place
 * of rows, what was derived is derived again, and the tables are written anew. The server keeps replaced files for some minutes.
 */
export async function redactStored(
  context: RedactContext,
  redaction: StoredRedaction,
  { isDryRun = false, onProgress }: { readonly isDryRun?: boolean } & Progress,
): Promise<StoredRedactionReport> {
  const { connection, nowMs } = context
  if (redaction.runId !== undefined) {
    const isHere = await connection.value(
      `SELECT count() FROM run_rows FINAL WHERE state = 'here' AND run_id = ${quote(redaction.runId)}`,
    )
    if (isHere === 0) return NOTHING_REDACTED
  }
  const events = await findEvents(context, redaction, onProgress)
  const bodies = await findBodies(context, redaction, onProgress)
  const runs = await touchedRuns(connection, events.revised, bodies.doomed)
  const report = {
    events: events.revised.length,
    eventsSeen: events.seen,
    bodies: bodies.doomed.length,
    bodiesSeen: bodies.seen,
    bodyBytes: bodies.doomed.reduce((sum, { byteSize }) => sum + byteSize, 0),
    otherTexts: 0,
    runIds: runs.filter((runId) => !runId.startsWith("~")),
    openStreams: await findStreams(connection, redaction),
    unreadableBodies: bodies.unreadable,
    isSwept: false,
  }
  if (isDryRun) return report
  onProgress?.(0, undefined, "writing")
  const names = events.revised.map(({ stored, event }) => factRow("redacted", stored.name, nowMs * 1000, nowMs, event))
  await connection.insert("fact_rows", names)
  await connection.insert(
    "body_rows",
    bodies.doomed.map((body) => bodyRow(redacted(body, nowMs))),
  )
  failpoint("clickhouse:redact:buried")
  await reviseEvents(context, events.revised)
  const otherTexts = await rewriteOtherTexts(context, redaction)
  if (report.events + report.bodies + otherTexts > 0) {
    const before = await linkedTexts(connection, runs)
    for (const table of ["id_rows", "text_runs"])
      if (runs.length > 0) await connection.command(`DELETE FROM ${table} WHERE run_id IN (${listOf(runs)})`)
    for (const runId of runs) await context.rederive(runId)
    await dropTexts(connection, before)
    await collectDead(context, true)
  }
  const notSweptBecause = await sweep(connection)
  return {
    ...report,
    otherTexts,
    isSwept: notSweptBecause === undefined,
    ...(notSweptBecause === undefined ? {} : { notSweptBecause }),
  }
}

const redacted = (body: BodyState, nowMs: number): BodyState => ({
  ...body,
  version: body.version + REDACTED_VERSION,
  state: BODY.redacted,
  stateAtMs: nowMs,
  shelf: "",
  recipe: new Uint8Array(),
})

interface Revision {
  readonly stored: StoredEvent
  readonly event: Event
}

async function findEvents(
  { events }: RedactContext,
  redaction: StoredRedaction,
  onProgress: Progress["onProgress"],
): Promise<{ revised: Revision[]; seen: number }> {
  const revised: Revision[] = []
  let seen = 0
  for await (const some of events.all(redaction.runId)) {
    for (const stored of some) {
      if (stored.isConflict) continue
      seen++
      const event = redaction.event(stored.event)
      if (event !== stored.event) revised.push({ stored, event })
    }
    onProgress?.(seen, undefined, "events")
  }
  return { revised, seen }
}

/** All bodies that are there, but for the texts of events that are too long for their rows: those go with their events. */
async function findBodies(
  { connection, bodies }: RedactContext,
  redaction: StoredRedaction,
  onProgress: Progress["onProgress"],
): Promise<{ doomed: BodyState[]; seen: number; unreadable: number }> {
  const held = `SELECT hash FROM ref_rows WHERE class != ${HELD.event}`
  const condition =
    redaction.runId === undefined
      ? `(hash IN (${held}) OR hash NOT IN (SELECT hash FROM ref_rows))`
      : `hash IN (${held} AND run_id = ${quote(redaction.runId)})`
  const rows = await connection.rows(
    `SELECT hash FROM body_rows FINAL WHERE state = ${BODY.here} AND ${condition} ORDER BY hash`,
  )
  const doomed: BodyState[] = []
  let unreadable = 0
  for (let from = 0; from < rows.length; from += BODIES_AT_ONCE) {
    onProgress?.(from, rows.length, "bodies")
    const hashes = rows.slice(from, from + BODIES_AT_ONCE).map((row) => String(row["hash"]))
    const states = await bodies.rowsOf(hashes)
    const readings = await bodies.read(hashes)
    readings.forEach((reading, at) => {
      if (isAbsent(reading)) unreadable++
      else if (redaction.body(reading.bytes, reading.mime)) doomed.push(states.get(hashes[at]!)!)
    })
  }
  return { doomed, seen: rows.length, unreadable }
}

const BODIES_AT_ONCE = 50

async function findStreams(connection: Connection, redaction: StoredRedaction): Promise<string[]> {
  const found: string[] = []
  for (const { key, value } of await factsOf<StreamFact>(
    connection,
    "stream",
    "JSONExtractString(json, 'state') = 'open'",
  )) {
    if (redaction.runId !== undefined && value.runId !== redaction.runId) continue
    const bytes = Buffer.concat((await streamPieces(connection, key)).map((piece) => piece.bytes))
    if (redaction.body(bytes, value.mime)) found.push(key)
  }
  return found
}

async function touchedRuns(
  connection: Connection,
  revised: readonly Revision[],
  doomed: readonly BodyState[],
): Promise<string[]> {
  const runs = new Set(revised.map(({ stored }) => stored.runId))
  if (doomed.length > 0) {
    const rows = await connection.rows(
      `SELECT DISTINCT run_id FROM ref_rows WHERE hash IN (${listOf(doomed.map(({ hash }) => hash))})`,
    )
    for (const row of rows) runs.add(String(row["run_id"]))
  }
  return [...runs].sort()
}

/** Other words in the place of an event's own. Its name, its place and the digest of what was recorded stay: by it a line that is read again is known. */
async function reviseEvents({ connection, nowMs }: RedactContext, revised: readonly Revision[]): Promise<void> {
  for (let from = 0; from < revised.length; from += EVENTS_AT_ONCE) {
    const some = revised.slice(from, from + EVENTS_AT_ONCE)
    const rows = await connection.rows(
      `SELECT * FROM event_rows FINAL WHERE run_id IN (${listOf(new Set(some.map(({ stored }) => stored.runId)))}) AND event_id IN (${listOf(some.map(({ stored }) => stored.name))}) AND is_conflict = 0`,
    )
    const byName = new Map(rows.map((row) => [`${row["run_id"]}\n${row["event_id"]}`, row]))
    const spilled: string[] = []
    const after = some.map(({ stored, event }) => {
      const row = byName.get(`${stored.runId}\n${stored.name}`)!
      const hash = spilledHash(String(row["json"]))
      if (hash !== undefined) spilled.push(hash)
      return { ...row, rev: stored.rev + 1, json: shortened(event) }
    })
    await connection.insert("event_rows", after)
    await dropSpilled(connection, spilled, nowMs)
  }
}

const EVENTS_AT_ONCE = 1000

/** What is redacted to more than a row holds keeps its envelope. */
function shortened(event: Event): string {
  const json = JSON.stringify(event)
  if (Buffer.byteLength(json) <= MAX_REVISED_TEXT) return json
  const { payload: _, attributes: __, links: ___, ...envelope } = event as Event & Record<string, unknown>
  return JSON.stringify(envelope)
}

const MAX_REVISED_TEXT = MAX_ROW_TEXT * 256

async function dropSpilled(connection: Connection, hashes: readonly string[], nowMs: number): Promise<void> {
  if (hashes.length === 0) return
  await connection.command(`DELETE FROM ref_rows WHERE class = ${HELD.event} AND hash IN (${listOf(hashes)})`)
  await connection.command(
    `INSERT INTO body_rows SELECT * REPLACE(version + ${REDACTED_VERSION} AS version, ${BODY.redacted} AS state, ${nowMs} AS state_at, '' AS shelf, '' AS recipe)
     FROM (SELECT * FROM body_rows FINAL WHERE state = ${BODY.here} AND hash IN (${listOf(hashes)}))`,
  )
}

/** What the store keeps beside events and bodies. */
async function rewriteOtherTexts({ connection, nowMs }: RedactContext, redaction: StoredRedaction): Promise<number> {
  const { text, runId } = redaction
  const inRun = runId === undefined ? "1" : `run_id = ${quote(runId)}`
  let changed = 0
  const conflicts = await connection.rows(`SELECT * FROM event_rows FINAL WHERE is_conflict = 1 AND ${inRun}`)
  const revised = conflicts.flatMap((row) => {
    const json = inJson(String(row["json"]), text)
    return json === row["json"] ? [] : [{ ...row, rev: Number(row["rev"]) + 1, json }]
  })
  await connection.insert("event_rows", revised)
  changed += revised.length
  const revise = revisionOf(redaction)
  const facts: ServerRow[] = []
  for (const { key, value } of await factsOf<Event>(connection, "redacted")) {
    const event = revise(value)
    if (event !== value) facts.push(factRow("redacted", key, (nowMs + 1) * 1000, nowMs, event))
  }
  if (runId === undefined) {
    const rows = await connection.rows("SELECT * FROM fact_rows FINAL WHERE kind IN ('gap', 'problem', 'writer')")
    for (const row of rows) {
      const json = inJson(String(row["json"]), text)
      if (json !== row["json"]) facts.push({ ...row, version: Number(row["version"]) + 1, json })
    }
  }
  await connection.insert("fact_rows", facts)
  changed += facts.length
  return changed + (await renameSums(connection, redaction))
}

/** Names in the sums of runs that are gone; those of runs that are here follow from their events. */
async function renameSums(connection: Connection, { text, runId }: StoredRedaction): Promise<number> {
  if (runId !== undefined) return 0
  const rows = await connection.rows("SELECT * FROM run_rows FINAL WHERE state = 'pruned'")
  const after = rows.flatMap((row) => {
    const before = JSON.stringify([row["sums"], row["contributors"]])
    const json = inJson(before, text)
    if (json === before) return []
    const [sums, contributors] = JSON.parse(json) as unknown[]
    return [{ ...row, version: Number(row["version"]) + 1, sums, contributors }]
  })
  await connection.insert("run_rows", after)
  return after.length
}

async function linkedTexts(connection: Connection, runs: readonly string[]): Promise<string[]> {
  if (runs.length === 0) return []
  const rows = await connection.rows(`SELECT DISTINCT digest FROM text_runs WHERE run_id IN (${listOf(runs)})`)
  return rows.map((row) => String(row["digest"]))
}

async function dropTexts(connection: Connection, digests: readonly string[]): Promise<void> {
  for (let from = 0; from < digests.length; from += TEXTS_AT_ONCE) {
    const some = listOf(digests.slice(from, from + TEXTS_AT_ONCE))
    await connection.command(
      `DELETE FROM text_rows WHERE digest IN (${some}) AND digest NOT IN (SELECT digest FROM text_runs WHERE digest IN (${some}))`,
    )
  }
}

const TEXTS_AT_ONCE = 5000

/** Merges the tables, so that nothing replaced or deleted is left in their present files. Says what still has the old ones. */
async function sweep(connection: Connection): Promise<string | undefined> {
  const tables = [
    "event_rows",
    "body_rows",
    "block_rows",
    "text_rows",
    "text_runs",
    "id_rows",
    "ref_rows",
    "run_rows",
    "step_rows",
    "fact_rows",
  ]
  for (const table of tables) {
    await connection.command(`ALTER TABLE ${table} APPLY DELETED MASK`)
    await connection.command(`OPTIMIZE TABLE ${table} FINAL`)
  }
  const left = await connection.value(
    `SELECT count() FROM system.parts WHERE NOT active AND database = ${quote(connection.database)} AND table IN (${listOf(tables)})`,
  )
  return left === 0
    ? undefined
    : "the server keeps replaced files for some minutes (old_parts_lifetime); nothing can read them, and they go by themselves"
}
