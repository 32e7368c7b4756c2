import { hash as digestOf } from "node:crypto"
import { canonicalJson, type Event, isEventType, type Problem, payloadRefs } from "@orangebox/contract"
import { BatchWork, type MutableSummary } from "../batch-work.js"
import { BODY, HELD, ID_KINDS, STREAM } from "../codes.js"
import { eventIds } from "../event-ids.js"
import { eventTexts } from "../event-texts.js"
import { timeOf } from "../event-time.js"
import { failpoint } from "../failpoint.js"
import { fitting, MAX_ROW_TEXT } from "../fitting-json.js"
import { heldAs } from "../held-as.js"
import { bodySegments, headOf, MAX_INDEXED_BYTES } from "../indexed-text.js"
import { spillMark } from "../spilled-text.js"
import { storedName } from "../stored-name.js"
import type { Batch, CommitSummary, RecordedBody, RecordedEvent, StreamUpdate } from "../trace-store.js"
import { usableRef } from "../usable-ref.js"
import type { BodyStorage } from "./body-storage.js"
import { type BodyRow, BodyTable } from "./body-table.js"
import { type Prepared, prepareAll } from "./driver.js"
import type { EventReader } from "./event-reader.js"
import { eventKey, firstKey, lastKey, OWN_PLACES, packHex } from "./keys.js"
import { RedactedEvents } from "./redacted-events.js"
import type { FoldContext } from "./replace-run.js"
import { type LiveRun, RunTable } from "./run-table.js"
import { StreamTable } from "./stream-table.js"
import { TextIndex } from "./text-index.js"
import { WriterTable } from "./writer-table.js"

type Work = BatchWork<LiveRun, BodyRow>

const CLASSES = Object.keys(HELD).length
const MAX_LINKED_TEXTS = 16_384
/** More types of events than any schema will have. */
const MAX_TYPES = 1024

const SQL = {
  addEvent:
    "INSERT INTO event_rows (key, event_id, type, profile, step_id, at, mono, json) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
  addConflict:
    "INSERT INTO conflict_rows (run, writer_id, seen_at, digest, json) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
  addId: "INSERT INTO id_rows (id, kind, event) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
  addGap: "INSERT INTO gap_rows (digest, json, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING RETURNING key",
  addGapRun: "INSERT INTO gap_runs (run_id, gap) VALUES (?, ?) ON CONFLICT DO NOTHING",
  addProblem: "INSERT INTO problem_rows (digest, json, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
  setOffset: "INSERT OR REPLACE INTO offset_rows (file, offset) VALUES (?, ?)",
  setMeta: "INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)",
  firstOutside: "SELECT min(key) AS key FROM event_rows",
  stepOpened: "SELECT opened FROM step_rows WHERE step_id = ? AND key BETWEEN ? AND ? ORDER BY key LIMIT 1",
  readBody: "SELECT hash, mime, recipe, byte_size FROM body_rows WHERE key = ?",
}

/**
 * Turns a batch into rows, inside a transaction that the caller opens and ends. What it keeps in memory between batches is only ever
 * a copy of committed rows: after a rollback it is forgotten.
 */
export class BatchWriter {
  readonly #storage: BodyStorage
  readonly #events: EventReader
  readonly #runs: RunTable
  readonly #bodies: BodyTable
  readonly #texts: TextIndex
  readonly #rollups: FoldContext["rollups"]
  readonly #streams: StreamTable
  readonly #writers: WriterTable
  readonly #redacted: RedactedEvents
  readonly #sql: Prepared<typeof SQL>
  #nextOutsideKey = 0

  constructor(context: FoldContext & { readonly storage: BodyStorage }) {
    const { database, storage, reader: events, rollups } = context
    this.#storage = storage
    this.#events = events
    this.#runs = new RunTable(context)
    this.#bodies = new BodyTable(database)
    this.#texts = new TextIndex(database)
    this.#rollups = rollups
    this.#streams = new StreamTable(database)
    this.#writers = new WriterTable(database)
    this.#redacted = new RedactedEvents(database)
    this.#sql = prepareAll(database, SQL)
  }

  write(batch: Batch, nowMs: number): CommitSummary {
    const summary: MutableSummary = {
      events: 0,
      duplicates: 0,
      conflicts: 0,
      buried: 0,
      bodies: batch.bodies?.length ?? 0,
      newBodies: 0,
      newBodyBytes: 0,
    }
    const problems: Problem[] = []
    const work = new BatchWork<LiveRun, BodyRow>(batch, nowMs, summary, problems)

    for (const writer of batch.writers ?? []) this.#writers.update(writer, nowMs)
    for (const exit of batch.exits ?? []) this.#writers.exit(exit)
    this.#findBuried(work)
    for (const body of batch.bodies ?? []) this.#takeBody(body, work)
    for (const stream of batch.streams ?? []) this.#takeStream(stream, work)
    failpoint("commit:bodies")
    for (const recorded of batch.events ?? []) this.#takeEvent(recorded, work)
    failpoint("commit:events")
    const changed = this.#runs.write(nowMs)
    this.#rollups.addUp()
    for (const stream of batch.streams ?? []) if (stream.abandoned) this.#abandonStream(stream, work)
    this.#takeGaps(batch, nowMs)
    for (const problem of [...(batch.problems ?? []), ...problems]) {
      const json = fitting(problem)
      this.#sql.addProblem.run(digestOf("sha256", json, "buffer"), json, nowMs)
    }
    failpoint("commit:offsets")
    for (const { file, offset } of batch.offsets ?? []) this.#sql.setOffset.run(file, offset)
    this.#sql.setMeta.run("last_commit_at", nowMs)
    return { ...summary, runIds: changed.map((run) => run.runId), problems }
  }

  afterCommit(): void {
    this.#runs.afterCommit()
  }

  /** Forgets everything that is only in memory. */
  reset(): void {
    this.#runs.reset()
    this.#bodies.reset()
    this.#texts.reset()
    this.#rollups.reset()
    this.#writers.reset()
    this.#redacted.reset()
    this.#events.codec.reset()
    this.#nextOutsideKey = 0
  }

  // ── Bodies ────────────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Which bodies come only with events of runs that were pruned: they must not come back either. */
  #findBuried(work: Work): void {
    for (const { event, writerId } of work.batch.events ?? []) {
      if (event.run_id === null || work.runs.has(event.run_id)) continue
      const writer = writerId === null ? null : this.#writers.keyOf(writerId)
      work.runs.set(event.run_id, this.#runs.open(event.run_id, event, timeOf(event), writer))
    }
  }

  #takeBody(body: RecordedBody, work: Work): void {
    const { nowMs, summary } = work
    const mime = body.mime ?? work.refTo(body.hash)?.mime_type ?? null
    const known = this.#bodies.find(body.hash)
    if (known?.state === BODY.here) {
      work.bodies.set(body.hash, { row: known, mime, head: headOf(body.bytes) })
      return
    }
    if (known !== undefined && this.#staysBuried(known, body.hash, work)) {
      summary.buried++
      return
    }
    if (work.isOnlyOfBuriedRuns(body.hash)) {
      summary.buried++
      return
    }
    const written = this.#bodies.put(this.#storage, body.hash, body.bytes, mime, nowMs)
    if (written.isNew) {
      summary.newBodies++
      summary.newBodyBytes += written.byteSize
    }
    if (written.hash !== body.hash) {
      work.problem("hash_mismatch", body.hash, `the bytes have the hash ${written.hash}, under which they are kept`)
    }
    work.bodies.set(written.hash, { row: written.row, mime, head: headOf(body.bytes) })
  }

  /** A redacted body never comes back. A pruned one does when it is recorded anew, but not when an old journal is read again. */
  #staysBuried(known: BodyRow, hash: string, work: Work): boolean {
    if (known.state === BODY.redacted) return true
    return known.state === BODY.pruned && work.newestReference(hash) <= known.stateAtMs
  }

  #takeStream(update: StreamUpdate, work: Work): void {
    const stream = this.#streams.take(update)
    if (update.end === undefined || stream.state !== STREAM.open) return
    const { hash } = update.end
    const known = this.#bodies.find(hash)
    if (known !== undefined && known.state !== BODY.here && this.#staysBuried(known, hash, work)) {
      this.#streams.drop(stream.key)
      work.summary.buried++
      return
    }
    const mime = stream.mime ?? work.refTo(hash)?.mime_type ?? null
    const pieces = [...this.#streams.pieces(stream.key)]
    const written = this.#bodies.put(this.#storage, hash, pieces, mime, work.nowMs)
    if (written.isNew) {
      work.summary.newBodies++
      work.summary.newBodyBytes += written.byteSize
    }
    work.bodies.set(written.hash, { row: written.row, mime, head: headOf(pieces) })
    if (written.hash === hash) {
      this.#streams.drop(stream.key)
      return
    }
    work.problem("stream_broken", hash, `the pieces of stream ${stream.streamId} have the hash ${written.hash}`)
    this.#streams.abandon(stream.key, written.row.key)
  }

  #abandonStream(update: StreamUpdate, work: Work): void {
    const stream = this.#streams.find(update.streamId)
    if (stream === undefined || stream.state !== STREAM.open) return
    const pieces = [...this.#streams.pieces(stream.key)]
    const { row } = this.#bodies.put(this.#storage, "", pieces, stream.mime, work.nowMs)
    this.#streams.abandon(stream.key, row.key)
    const run = stream.runId === null ? undefined : (work.runs.get(stream.runId) ?? this.#runs.find(stream.runId))
    if (run === undefined) return
    const opened =
      stream.stepId === null
        ? undefined
        : this.#sql.stepOpened.get(packHex(stream.stepId, 16), firstKey(run.key), lastKey(run.key))?.["opened"]
    const event = opened == null ? firstKey(run.key) : Number(opened)
    this.#bodies.refer(row.key, event, HELD.stream)
    for (const text of bodySegments(headOf(pieces), stream.mime))
      this.#addText(text, run, HELD.stream, event, Number(this.#events.rowByKey(event)?.["type"] ?? 0))
  }

  // ── Events ────────────────────────────────────────────────────────────────────────────────────────────────────────────────

  #takeEvent({ event: recorded, writerId }: RecordedEvent, work: Work): void {
    const event = this.#redacted.revisionOf(recorded) ?? recorded
    const run = event.run_id === null ? undefined : work.runs.get(event.run_id)
    if (event.run_id !== null && run === undefined) {
      work.summary.buried++
      return
    }
    const atMs = timeOf(event)
    const writer = writerId === null ? null : this.#writers.keyOf(writerId)
    const key = this.#insert(event, atMs, run, writer, work)
    if (key === undefined) {
      if (this.#isStored(event, run)) work.summary.duplicates++
      else this.#keepConflict(event, writerId, work)
      return
    }
    work.summary.events++
    if (run !== undefined) this.#runs.take(run, event, key, atMs)
    const type = this.#events.codec.typeKey(String(event.event_type))
    this.#refer(event, key, type, run, work)
    for (const { id, kind } of eventIds(event)) this.#sql.addId.run(id, ID_KINDS.indexOf(kind), key)
    for (const { text } of eventTexts(event)) this.#addText(text, run, HELD.event, key, type)
  }

  /** The key of the new row; undefined when a record with its id was there already. */
  #insert(event: Event, atMs: number, run: LiveRun | undefined, writer: number | null, work: Work): number | undefined {
    const place = event.sequence_no
    if (run !== undefined && Number.isInteger(place) && place! >= 0 && place! < OWN_PLACES) {
      const key = eventKey(run.key, place!)
      if (this.#insertAt(key, event, atMs, run, writer, true, work)) return key
      // Either this very record is there, or another has its number. In that case both stay, and the second is read where its
      // `sequence_no` says.
    }
    const key = this.#nextLooseKey(run)
    if (!this.#insertAt(key, event, atMs, run, writer, false, work)) return undefined
    if (run !== undefined) run.nextLoosePlace++
    else this.#nextOutsideKey--
    return key
  }

  #isStored(event: Event, run: LiveRun | undefined): boolean {
    const stored = this.#events.rowById(storedName(event))
    return stored !== undefined && canonicalJson(this.#storedEvent(stored, run)) === canonicalJson(event)
  }

  #storedEvent(stored: Parameters<EventReader["decode"]>[0], run: LiveRun | undefined): Event {
    const place = this.#events.placeOfEvent(stored)
    if (run === undefined || (place.runId !== null && place.runId !== run.runId))
      return this.#events.decode(stored, place)
    // The run's row and steps may be written only at the end of this batch.
    return this.#events.decode(stored, {
      runId: run.runId,
      traceId: run.fold.facts.traceId,
      parentOf: (stepId) => this.#runs.parentOf(run, stepId),
    })
  }

  #insertAt(
    key: number,
    event: Event,
    atMs: number,
    run: LiveRun | undefined,
    writer: number | null,
    sequenceInKey: boolean,
    work: Work,
  ): boolean {
    const isInKnownStep = run !== undefined && event.step_id !== null && run.fold.steps.isAtHand(event.step_id)
    const row = this.#events.codec.encode(event, atMs, writer, {
      sequenceInKey,
      traceId: run?.fold.facts.traceId ?? null,
      parentId: isInKnownStep ? this.#runs.parentOf(run, event.step_id!) : undefined,
    })
    let json = row.json
    let spilled: BodyRow | undefined
    if (json.length > MAX_ROW_TEXT / 3 && Buffer.byteLength(json) > MAX_ROW_TEXT) {
      const written = this.#bodies.put(this.#storage, "", Buffer.from(json), "application/json", work.nowMs)
      json = spillMark(written.hash)
      spilled = written.row
    }
    const { changes } = this.#sql.addEvent.run(
      key,
      row.eventId,
      row.type,
      row.profile,
      row.stepId,
      atMs,
      row.mono,
      json,
    )
    if (Number(changes) === 0) return false
    if (spilled !== undefined) this.#bodies.refer(spilled.key, key, HELD.event)
    return true
  }

  #nextLooseKey(run: LiveRun | undefined): number {
    if (run !== undefined) return eventKey(run.key, run.nextLoosePlace)
    if (this.#nextOutsideKey === 0) {
      this.#nextOutsideKey = Math.min(0, Number(this.#sql.firstOutside.get()?.["key"] ?? 0)) - 1
    }
    return this.#nextOutsideKey
  }

  #keepConflict(event: Event, writerId: string | null, work: Work): void {
    work.summary.conflicts++
    const text = canonicalJson(event)
    const digest = digestOf("sha256", text, "buffer")
    const json = Buffer.byteLength(text) > MAX_ROW_TEXT ? this.#spill(text, work) : text
    this.#sql.addConflict.run(event.run_id, writerId, work.nowMs, digest, json)
  }

  #spill(text: string, work: Work): string {
    const { hash, row } = this.#bodies.put(this.#storage, "", Buffer.from(text), "application/json", work.nowMs)
    this.#bodies.refer(row.key, 0, HELD.event)
    return spillMark(hash)
  }

  /** Holds the bodies an event names, and makes their text findable in its run. */
  #refer(event: Event, key: number, type: number, run: LiveRun | undefined, work: Work): void {
    if (!Array.isArray(event.artifact_refs) || event.artifact_refs.length === 0) {
      if (event.payload === undefined || !isEventType(event.event_type)) return
      for (const { hash } of payloadRefs(event.event_type, event.payload))
        this.#hold(hash, 0, null, HELD.body, key, type, run, work)
      return
    }
    for (const given of event.artifact_refs) {
      const ref = usableRef(given)
      if (ref === undefined || ref.absent !== undefined) continue
      this.#hold(
        ref.artifact_hash,
        ref.byte_size,
        ref.mime_type,
        heldAs(event, ref.artifact_type),
        key,
        type,
        run,
        work,
      )
    }
  }

  #hold(
    hash: string,
    byteSize: number,
    mime: string | null,
    heldAsClass: number,
    key: number,
    type: number,
    run: LiveRun | undefined,
    work: Work,
  ): void {
    const row = this.#bodies.expect(hash, byteSize, mime, work.nowMs)
    if (row === undefined) return
    const isIndexed =
      row.state !== BODY.here ||
      (run !== undefined && this.#bodies.isReferredWithin(row.key, firstKey(run.key), lastKey(run.key)))
    this.#bodies.refer(row.key, key, heldAsClass)
    if (isIndexed) return
    for (const text of this.#segmentsOf(hash, row, work)) this.#addText(text, run, heldAsClass, key, type)
  }

  /** Makes a text findable in a run; one that was linked a moment ago is recognised without asking the database. */
  #addText(text: string, run: LiveRun | undefined, heldAs: number, event: number, type: number): void {
    const textKey = this.#texts.keyOf(text)
    if (run === undefined) {
      this.#texts.link(textKey, { run: 0, heldAs, type, event })
      return
    }
    const linked = (textKey * CLASSES + heldAs) * MAX_TYPES + type
    if (run.linkedTexts.has(linked)) return
    if (run.linkedTexts.size >= MAX_LINKED_TEXTS) run.linkedTexts.clear()
    run.linkedTexts.add(linked)
    this.#texts.link(textKey, { run: run.key, heldAs, type, event })
  }

  #segmentsOf(hash: string, row: BodyRow, work: Work): string[] {
    const inBatch = work.bodies.get(hash)
    if (inBatch !== undefined) return bodySegments(inBatch.head, inBatch.mime)
    const stored = this.#sql.readBody.get(row.key)
    if (!(stored?.["recipe"] instanceof Uint8Array)) return []
    const reading = this.#storage.slice(stored["recipe"], 0, MAX_INDEXED_BYTES)
    return reading.bytes === undefined ? [] : bodySegments(reading.bytes, stored["mime"] as string | null)
  }

  #takeGaps(batch: Batch, nowMs: number): void {
    for (const gap of batch.gaps ?? []) {
      const json = fitting(gap)
      const added = this.#sql.addGap.get(digestOf("sha256", json, "buffer"), json, nowMs)
      if (added === undefined) continue
      for (const runId of gap.runIds ?? []) this.#sql.addGapRun.run(runId, Number(added["key"]))
    }
  }
}
