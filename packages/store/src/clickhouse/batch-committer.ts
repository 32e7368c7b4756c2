import { createHash, hash as digestOf } from "node:crypto"
import { canonicalJson, type Event, isEventType, type Problem, payloadRefs } from "@orangebox/contract"
import type { PriceTable } from "@orangebox/dialects"
import { isSequence } from "@orangebox/runs"
import { BatchWork, type MutableSummary } from "../batch-work.js"
import { BODY, HELD } from "../codes.js"
import { eventIds } from "../event-ids.js"
import { eventTexts } from "../event-texts.js"
import { timeOf } from "../event-time.js"
import { failpoint } from "../failpoint.js"
import { fitting, MAX_ROW_TEXT } from "../fitting-json.js"
import { heldAs } from "../held-as.js"
import { bodySegments, headOf, MAX_INDEXED_BYTES, textDigest } from "../indexed-text.js"
import { fold } from "../search-terms.js"
import { spillMark } from "../spilled-text.js"
import { storedName } from "../stored-name.js"
import type { Batch, CommitSummary, RecordedBody, RecordedEvent, StreamUpdate, WriterRow } from "../trace-store.js"
import { usableRef } from "../usable-ref.js"
import { BodyShelf } from "./body-shelf.js"
import { type Connection, listOf, type ServerRow } from "./connection.js"
import { type CollectorFact, factRow, firstStays, namedFacts, type StreamFact } from "./facts.js"
import { inOrder, LiveRun, type PlacedEvent, type RunStanding } from "./live-run.js"
import { monthOf } from "./month-of.js"
import { type BodyState, bodyRow, isHash, type StoredBodies } from "./stored-bodies.js"
import { outsideOf, type StoredEvent, type StoredEvents } from "./stored-events.js"

export interface CommitterOptions {
  readonly collectorId: string
  readonly host: string
  readonly prices: PriceTable
}

/** The order in which tables are written: whatever a row names is there before it, and the offsets come last. What stands together may come in any order. */
const ORDER = [
  ["block_rows"],
  ["body_rows"],
  ["text_rows", "text_runs", "id_rows", "ref_rows", "stream_rows"],
  ["event_rows"],
  ["step_rows", "run_rows"],
  ["fact_rows"],
] as const

type Table = (typeof ORDER)[number][number]

const MOST_LIVE_RUNS = 512
const MOST_LIVE_EVENTS = 300_000
const MOST_KNOWN_TEXTS = 65_536

interface StoredStanding extends RunStanding {
  readonly owner: string
  readonly host: string
  readonly ingestedAtMs: number
  readonly isPruned: boolean
}

/** Of the events outside runs, by writer. */
interface OutsideEvents {
  readonly digests: Map<string, string>
  next: number
}

/**
 * Takes batches into the server's tables. There is no transaction: rows are keyed by what they are, so that writing them again changes nothing, and the
 * offsets come last. Killed anywhere in between, the lines are read again and the same rows collapse with those that are there.
 * What is kept in memory between batches is only ever a copy of rows; when a write fails it is forgotten.
 */
export class BatchCommitter {
  readonly #connection: Connection
  readonly #options: CommitterOptions
  readonly #bodies: StoredBodies
  readonly #events: StoredEvents
  readonly #live = new Map<string, LiveRun>()
  readonly #referred = new Map<string, Set<string>>()
  readonly #outside = new Map<string, OutsideEvents>()
  readonly #writers = new Map<string, WriterRow>()
  readonly #knownTexts = new Set<string>()
  #shelf: BodyShelf | undefined
  /** What this collector last said of itself. */
  #said: NonNullable<Batch["collector"]> | undefined
  #version = 0

  constructor(connection: Connection, bodies: StoredBodies, events: StoredEvents, options: CommitterOptions) {
    this.#connection = connection
    this.#bodies = bodies
    this.#events = events
    this.#options = options
  }

  async commit(batch: Batch, nowMs: number): Promise<CommitSummary> {
    try {
      return await this.#commit(batch, nowMs)
    } catch (error) {
      this.reset()
      throw error
    }
  }

  /** Forgets everything that is only in memory, the shelf among it: its blocks may not have arrived. */
  reset(): void {
    this.#live.clear()
    this.#referred.clear()
    this.#outside.clear()
    this.#writers.clear()
    this.#knownTexts.clear()
    this.#shelf = undefined
  }

  /** Versions of facts grow, also where the clock does not. */
  nextVersion(nowMs: number): number {
    this.#version = Math.max(this.#version + 1, nowMs * 1000)
    return this.#version
  }

  async #commit(batch: Batch, nowMs: number): Promise<CommitSummary> {
    this.#openShelf(nowMs)
    const writing = new Writing(batch, nowMs)
    const [known, streams] = await Promise.all([
      this.#bodies.rowsOf(hashesIn(batch)),
      namedFacts<StreamFact>(
        this.#connection,
        "stream",
        (batch.streams ?? []).map(({ streamId }) => streamId),
      ),
      this.#openRuns(writing),
      this.#openOutside(batch),
      this.#findRevisions(writing),
    ])
    writing.known = known
    writing.streams = streams

    for (const body of batch.bodies ?? []) await this.#takeBody(body, writing)
    for (const stream of batch.streams ?? []) await this.#takeStream(stream, writing)
    for (const recorded of batch.events ?? []) await this.#takeEvent(recorded, writing)
    for (const stream of batch.streams ?? []) if (stream.abandoned) await this.#abandonStream(stream, writing)
    const changed = await this.#writeRuns(writing)
    await this.#noteFacts(writing)

    writing.rows.block_rows.push(...this.#shelf!.takeBlocks())
    writing.rows.body_rows.push(...[...writing.written.values()].map(bodyRow))
    await this.#insert(writing)
    for (const run of changed) run.wereWritten()
    this.#letGo()
    return { ...writing.work.summary, runIds: changed.map(({ runId }) => runId), problems: writing.work.problems }
  }

  async #insert(writing: Writing): Promise<void> {
    for (const tables of ORDER) {
      if (tables[0] === "fact_rows") await this.#putPrunedMeanwhile(writing)
      await Promise.all(
        tables.map(async (table) => {
          failpoint(`clickhouse:before:${table}`)
          await this.#connection.insert(table, writing.rows[table])
          failpoint(`clickhouse:after:${table}`)
        }),
      )
    }
  }

  /**
   * A new shelf where there is none, or with a new day. Texts are then written again when they come again: what is unused for days may be removed
   * by whoever prunes, because no collector relies on having written it long ago.
   */
  #openShelf(nowMs: number): BodyShelf {
    if (this.#shelf?.isFull(nowMs) !== false) {
      this.#shelf = new BodyShelf(this.#options.collectorId, nowMs)
      this.#knownTexts.clear()
    }
    return this.#shelf
  }

  /**
   * Derives a run's row, steps, ids, references and texts again from its events and bodies. With a writer's name behind `~`, what is outside runs.
   * Everything is written beside what is there and takes its place.
   */
  async rederive(runId: string, nowMs: number): Promise<{ events: number; steps: number }> {
    const shelf = this.#openShelf(nowMs)
    const writing = new Writing({}, nowMs)
    const stored = await this.#events.ofRuns([runId])
    const standing = (await this.#standingsOf([runId])).get(runId)
    const events = stored.filter(({ isConflict }) => !isConflict)
    writing.known = await this.#bodies.rowsOf(events.flatMap(({ event }) => namedBodies(event).map(({ hash }) => hash)))
    const run = standing === undefined ? undefined : new LiveRun(runId, standing, this.#options.prices)
    this.#referred.set(runId, new Set())
    this.#knownTexts.clear()
    for (const placed of inOrder(events)) await this.#derive(runId, run, placed, writing)
    this.#forget(runId)
    run?.foldAgain(events)
    const written = run?.rows({ owner: standing!.owner, host: standing!.host, nowMs: standing!.ingestedAtMs })
    if (written !== undefined) {
      writing.rows.run_rows.push(written.run)
      writing.rows.step_rows.push(...written.steps)
    }
    writing.rows.block_rows.push(...shelf.takeBlocks())
    await this.#insert(writing)
    return { events: events.length, steps: Number(written?.run["steps"] ?? 0) }
  }

  // ── What is there ─────────────────────────────────────────────────────────────────────────────────────────────────────────

  async #openRuns({ work }: Writing): Promise<void> {
    const { batch } = work
    const ids = new Set<string>()
    for (const { event } of batch.events ?? []) if (event.run_id !== null) ids.add(String(event.run_id))
    for (const { runId, abandoned } of batch.streams ?? []) if (abandoned && runId !== null) ids.add(runId)
    const missing = [...ids].filter((id) => !this.#live.has(id))
    const [standings, found] = await Promise.all([this.#standingsOf(missing), this.#events.ofRuns(missing)])
    const stored = new Map<string, StoredEvent[]>(missing.map((id) => [id, []]))
    for (const one of found) stored.get(one.runId)!.push(one)
    for (const id of missing) {
      const standing = standings.get(id)
      if (standing?.isPruned) continue
      this.#live.set(id, this.#load(id, standing, stored.get(id) ?? [], batch))
    }
    for (const id of ids) work.runs.set(id, this.#live.get(id))
  }

  async #standingsOf(ids: readonly string[]): Promise<Map<string, StoredStanding>> {
    if (ids.length === 0) return new Map()
    const rows = await this.#connection.rows(
      `SELECT run_id, version, released, writer_id, owner, host, ingested_at, state FROM run_rows FINAL WHERE run_id IN (${listOf(ids)})`,
    )
    return new Map(
      rows.map((row) => [
        String(row["run_id"]),
        {
          version: Number(row["version"]),
          released: Number(row["released"]),
          writerId: row["writer_id"] == null ? null : String(row["writer_id"]),
          owner: String(row["owner"]),
          host: String(row["host"]),
          ingestedAtMs: Number(row["ingested_at"]),
          isPruned: row["state"] === "pruned",
        },
      ]),
    )
  }

  #load(
    id: string,
    standing: (RunStanding & { owner: string }) | undefined,
    stored: readonly StoredEvent[],
    batch: Batch,
  ): LiveRun {
    const first = stored[0] ?? batch.events?.find(({ event }) => event.run_id === id)
    const run = new LiveRun(
      id,
      standing ?? { version: 0, released: 0, writerId: first?.writerId ?? null },
      this.#options.prices,
    )
    run.isOwn = standing?.owner === this.#options.collectorId
    run.foldAgain(stored.filter(({ isConflict }) => !isConflict))
    for (const { name, digest, isConflict } of stored) if (isConflict) run.noteConflict(name, digest)
    const referred = new Set<string>()
    for (const { event } of stored) {
      if (event.step_id !== null) run.isFirstOf(event.step_id)
      for (const { hash } of namedBodies(event)) referred.add(hash)
    }
    this.#referred.set(id, referred)
    // Events whose run was not written after them are found by loading it; writing it once more than needed is what that costs.
    run.isChanged = stored.length > 0
    return run
  }

  async #openOutside(batch: Batch): Promise<void> {
    const names = new Set<string>()
    for (const { event, writerId } of batch.events ?? []) if (event.run_id === null) names.add(outsideOf(writerId))
    const missing = [...names].filter((name) => !this.#outside.has(name))
    const stored = await this.#events.ofRuns(missing)
    for (const name of missing) this.#outside.set(name, { digests: new Map(), next: 0 })
    for (const { runId, name, digest, place, isConflict } of stored) {
      const outside = this.#outside.get(runId)!
      if (!isConflict) outside.digests.set(name, digest)
      outside.next = Math.max(outside.next, place + 1)
    }
  }

  /** What redacted events may say takes the place of what an old journal still has. */
  async #findRevisions(writing: Writing): Promise<void> {
    if ((await this.#connection.value("SELECT count() FROM fact_rows WHERE kind = 'redacted'")) === 0) return
    const names = (writing.work.batch.events ?? []).map(({ event }) => storedName(event))
    for (const [name, fact] of await namedFacts<Event>(this.#connection, "redacted", names))
      writing.revisions.set(name, fact.value)
  }

  // ── Bodies ────────────────────────────────────────────────────────────────────────────────────────────────────────────────

  async #takeBody(body: RecordedBody, writing: Writing): Promise<void> {
    const { work } = writing
    const mime = body.mime ?? work.refTo(body.hash)?.mime_type ?? null
    const known = writing.known.get(body.hash)
    if (known?.state === BODY.here) {
      work.bodies.set(body.hash, { row: known, mime, head: headOf(body.bytes) })
      return
    }
    if ((known !== undefined && staysBuried(known, work)) || work.isOnlyOfBuriedRuns(body.hash)) {
      work.summary.buried++
      return
    }
    const { state, isNew } = await this.#put(body.hash, body.bytes, mime, writing)
    if (isNew) {
      work.summary.newBodies++
      work.summary.newBodyBytes += state.byteSize
    }
    if (state.hash !== body.hash)
      work.problem("hash_mismatch", body.hash, `the bytes have the hash ${state.hash}, under which they are kept`)
    work.bodies.set(state.hash, { row: state, mime, head: headOf(body.bytes) })
  }

  async #put(
    announced: string,
    bytes: Uint8Array | Iterable<Uint8Array>,
    mime: string | null,
    writing: Writing,
  ): Promise<{ state: BodyState; isNew: boolean }> {
    const stored = this.#shelf!.write(bytes)
    if (!writing.known.has(stored.hash)) {
      const found = (await this.#bodies.rowsOf([stored.hash])).get(stored.hash)
      if (found !== undefined) writing.known.set(stored.hash, found)
    }
    const known = writing.known.get(stored.hash)
    if (known?.state === BODY.here) return { state: known, isNew: false }
    const state: BodyState = {
      hash: stored.hash,
      version: (known?.version ?? 0) + 1,
      byteSize: stored.bytes,
      mime: mime ?? known?.mime ?? null,
      state: BODY.here,
      stateAtMs: null,
      seenAtMs: known?.seenAtMs ?? writing.work.nowMs,
      shelf: this.#shelf!.name,
      recipe: stored.recipe,
    }
    writing.put(state)
    return { state, isNew: known === undefined || stored.hash === announced }
  }

  /** Whoever prunes on another machine may have let go of a body that this batch found there, before the batch's references arrived. */
  async #putPrunedMeanwhile(writing: Writing): Promise<void> {
    const relied = (writing.work.batch.bodies ?? []).filter(({ hash }) => writing.isReliedOn(hash))
    if (relied.length === 0) return
    const now = await this.#bodies.rowsOf(relied.map(({ hash }) => hash))
    const gone = relied.filter(({ hash }) => now.get(hash)?.state === BODY.pruned)
    if (gone.length === 0) return
    for (const { hash, bytes, mime } of gone) {
      writing.known.set(hash, now.get(hash)!)
      await this.#put(hash, bytes, mime ?? null, writing)
    }
    await this.#connection.insert("block_rows", this.#shelf!.takeBlocks())
    await this.#connection.insert(
      "body_rows",
      gone.map(({ hash }) => bodyRow(writing.written.get(hash)!)),
    )
  }

  // ── Streams ───────────────────────────────────────────────────────────────────────────────────────────────────────────────

  async #takeStream(update: StreamUpdate, writing: Writing): Promise<void> {
    const { work } = writing
    const known = writing.streams.get(update.streamId)?.value
    const stream: StreamFact = {
      runId: known?.runId ?? update.runId,
      stepId: known?.stepId ?? update.stepId,
      role: known?.role ?? update.role,
      mime: known?.mime ?? update.mime ?? null,
      state: known?.state ?? "open",
      withheldBytes: update.withheldBytes ?? known?.withheldBytes ?? 0,
      hash: known?.hash ?? null,
      isUnbroken: known?.isUnbroken ?? null,
      ...(known === undefined ? {} : pickCounts(known)),
    }
    writing.openStreams.set(update.streamId, stream)
    if (stream.state !== "open") return
    if (update.end === undefined) {
      if (!update.abandoned) this.#keepPieces(update, writing)
      return
    }
    const { hash } = update.end
    const body = writing.known.get(hash)
    if (body !== undefined && body.state !== BODY.here && staysBuried(body, work)) {
      writing.openStreams.set(update.streamId, { ...stream, state: "complete" })
      work.summary.buried++
      return
    }
    const mime = stream.mime ?? work.refTo(hash)?.mime_type ?? null
    const pieces = await this.#piecesOf(update)
    const bytes = pieces.map((piece) => piece.bytes)
    const { state, isNew } = await this.#put(hash, bytes, mime, writing)
    if (isNew) {
      work.summary.newBodies++
      work.summary.newBodyBytes += state.byteSize
    }
    work.bodies.set(state.hash, { row: state, mime, head: headOf(bytes) })
    if (state.hash === hash) {
      writing.openStreams.set(update.streamId, { ...stream, state: "complete", hash })
      return
    }
    work.problem("stream_broken", hash, `the pieces of stream ${update.streamId} have the hash ${state.hash}`)
    writing.openStreams.set(update.streamId, { ...stream, ...ended(pieces), state: "abandoned", hash: state.hash })
  }

  #keepPieces({ streamId, chunks }: StreamUpdate, writing: Writing): void {
    for (const { offset, bytes, atMicros } of chunks)
      writing.rows.stream_rows.push({
        stream_id: streamId,
        offset,
        micros: atMicros,
        bytes: Buffer.from(bytes).toString("base64"),
      })
  }

  async #piecesOf({ streamId, chunks }: StreamUpdate): Promise<StreamPiece[]> {
    const pieces = new Map<number, StreamPiece>()
    for (const { offset, bytes, atMicros } of chunks) pieces.set(offset, { offset, bytes, micros: atMicros })
    for (const piece of await streamPieces(this.#connection, streamId)) pieces.set(piece.offset, piece)
    return [...pieces.values()].sort((one, other) => one.offset - other.offset)
  }

  async #abandonStream(update: StreamUpdate, writing: Writing): Promise<void> {
    const stream = writing.openStreams.get(update.streamId)
    if (stream === undefined || stream.state !== "open") return
    const pieces = await this.#piecesOf(update)
    const bytes = pieces.map((piece) => piece.bytes)
    const { state } = await this.#put("", bytes, stream.mime, writing)
    writing.openStreams.set(update.streamId, { ...stream, ...ended(pieces), state: "abandoned", hash: state.hash })
    const run = stream.runId === null ? undefined : writing.work.runs.get(stream.runId)
    const name = run?.openerOf(stream.stepId)
    if (run === undefined || name == null) return
    const opener = await this.#openerOf(run.runId, name, writing)
    if (opener === undefined) return
    const place = placeOf(run.runId, opener)
    this.#refer(state.hash, HELD.stream, place, writing)
    for (const text of bodySegments(headOf(bytes), stream.mime))
      this.#addText(text, run, HELD.stream, place, state.hash, writing)
  }

  async #openerOf(runId: string, name: string, writing: Writing): Promise<PlacedEvent | undefined> {
    return (
      writing.accepted.get(runId)?.find((placed) => placed.name === name) ??
      (await this.#events.named([{ runId, name }])).get(`${runId}\n${name}`)
    )
  }

  // ── Events ────────────────────────────────────────────────────────────────────────────────────────────────────────────────

  async #takeEvent({ event: recorded, writerId }: RecordedEvent, writing: Writing): Promise<void> {
    const { work } = writing
    const run = recorded.run_id === null ? undefined : work.runs.get(String(recorded.run_id))
    if (recorded.run_id !== null && run === undefined) {
      work.summary.buried++
      return
    }
    const name = storedName(recorded)
    const digest = recordDigest(recorded)
    const outside = run === undefined ? this.#outside.get(outsideOf(writerId))! : undefined
    const known = outside === undefined ? run!.compare(name, digest) : compareOutside(outside, name, digest)
    // Whoever reads a run's own events from a journal writes its row; also where a collector killed before that left only the events.
    if (run !== undefined && isSequence(recorded.sequence_no)) run.isOwn = true
    if (known === "same") {
      work.summary.duplicates++
      return
    }
    const runId = run?.runId ?? outsideOf(writerId)
    if (known === "other" || known === "known conflict") {
      work.summary.conflicts++
      if (known === "known conflict") return
      run?.noteConflict(name, digest)
      const place = run === undefined ? outside!.next++ : run.nextLoosePlace++
      const placed = { event: recorded, name, digest, place, atMs: timeOf(recorded) }
      await this.#store(runId, placed, writerId, true, 0, writing)
      return
    }
    const revised = writing.revisions.get(name)
    const event = revised ?? recorded
    const place = run === undefined ? outside!.next++ : run.placeFor(event)
    const placed: PlacedEvent = { event, name, digest, place, atMs: timeOf(event) }
    work.summary.events++
    if (run === undefined) outside!.digests.set(name, digest)
    else {
      run.take(placed)
      writing.accept(run.runId, placed)
    }
    await this.#store(runId, placed, writerId, false, revised === undefined ? 0 : 1, writing)
    await this.#derive(runId, run, placed, writing)
  }

  async #store(
    runId: string,
    { event, name, digest, place, atMs }: PlacedEvent,
    writerId: string | null,
    isConflict: boolean,
    rev: number,
    writing: Writing,
  ): Promise<void> {
    let json = JSON.stringify(event)
    if (json.length > MAX_ROW_TEXT / 3 && Buffer.byteLength(json) > MAX_ROW_TEXT) {
      const { state } = await this.#put("", Buffer.from(json), "application/json", writing)
      json = spillMark(state.hash)
      this.#refer(state.hash, HELD.event, placeOf(runId, { event, name, place, atMs }), writing)
    }
    writing.rows.event_rows.push({
      month: monthOf(runId),
      run_id: runId,
      place,
      event_id: name,
      digest,
      rev,
      is_conflict: isConflict ? 1 : 0,
      event_type: String(event.event_type),
      step_id: typeof event.step_id === "string" ? event.step_id : null,
      writer_id: writerId,
      at: atMs,
      seen_at: writing.work.nowMs,
      mono: Number.isFinite(event.mono_us) ? event.mono_us : 0,
      json,
    })
  }

  /** Ids that lead to the event, the bodies it holds, and its text. */
  async #derive(runId: string, run: LiveRun | undefined, placed: PlacedEvent, writing: Writing): Promise<void> {
    const { event, name } = placed
    const place = placeOf(runId, placed)
    writing.rows.id_rows.push(idRow(name, "event", place))
    if (run !== undefined && event.step_id !== null && run.isFirstOf(event.step_id))
      writing.rows.id_rows.push(idRow(String(event.step_id), "step", place))
    for (const { id, kind } of eventIds(event)) writing.rows.id_rows.push(idRow(id, kind, place))
    for (const { hash, byteSize, mime, heldAs: held } of namedBodies(event)) {
      const body = writing.expect(hash, byteSize, mime)
      const referred = run === undefined ? undefined : this.#referred.get(runId)
      const isIndexed = body.state !== BODY.here || referred?.has(hash) === true
      referred?.add(hash)
      this.#refer(hash, held, place, writing)
      if (isIndexed) continue
      for (const text of await this.#segmentsOf(body, writing)) this.#addText(text, run, held, place, hash, writing)
    }
    for (const { text } of eventTexts(event)) this.#addText(text, run, HELD.event, place, null, writing)
  }

  #refer(hash: string, held: number, place: EventPlace, writing: Writing): void {
    const { run_id, event_id, step_id, event_type, place: at_place, at } = place
    writing.rows.ref_rows.push({ hash, run_id, event_id, class: held, event_type, step_id, place: at_place, at })
  }

  async #segmentsOf(body: BodyState, writing: Writing): Promise<string[]> {
    const inBatch = writing.work.bodies.get(body.hash)
    if (inBatch !== undefined) return bodySegments(inBatch.head, inBatch.mime)
    const { bytes } = await this.#bodies.shelves.slice(body, 0, MAX_INDEXED_BYTES)
    return bytes === undefined ? [] : bodySegments(bytes, body.mime)
  }

  /** Makes a text findable in a run: at the first event of each type that has it, for each reason it is held. */
  #addText(
    text: string,
    run: LiveRun | undefined,
    held: number,
    place: EventPlace,
    hash: string | null,
    writing: Writing,
  ): void {
    const digest = textDigest(text).toString("hex")
    const link = `${digest} ${held} ${place.event_type}`
    if (run?.linkedTexts.has(link)) return
    run?.linkedTexts.add(link)
    if (!this.#knownTexts.has(digest)) {
      if (this.#knownTexts.size >= MOST_KNOWN_TEXTS) this.#knownTexts.clear()
      this.#knownTexts.add(digest)
      writing.rows.text_rows.push({ digest, at: writing.work.nowMs, text, folded: fold(text) })
    }
    writing.rows.text_runs.push({
      digest,
      run_id: place.run_id,
      class: held,
      event_type: place.event_type,
      rank: firstStays(place.place),
      place: place.place,
      event_id: place.event_id,
      hash,
    })
  }

  // ── Runs and facts ────────────────────────────────────────────────────────────────────────────────────────────────────────

  async #writeRuns({ work, rows, accepted }: Writing): Promise<LiveRun[]> {
    const changed: LiveRun[] = []
    const { collectorId: owner, host } = this.#options
    for (const run of work.runs.values()) {
      // What others say about a run of another collector is in its events; only the one that holds its journal writes its row.
      if (run === undefined || !run.isChanged || !run.isOwn) continue
      if (run.isOutOfOrder) {
        const stored = (await this.#events.ofRuns([run.runId])).filter(({ isConflict }) => !isConflict)
        run.foldAgain([...stored, ...(accepted.get(run.runId) ?? [])])
      }
      const written = run.rows({ owner, host, nowMs: work.nowMs })
      rows.run_rows.push(written.run)
      rows.step_rows.push(...written.steps)
      changed.push(run)
    }
    return changed
  }

  async #noteFacts(writing: Writing): Promise<void> {
    const { work, rows } = writing
    const { batch, nowMs } = work
    const { collectorId, host } = this.#options
    const version = this.nextVersion(nowMs)
    const add = (...row: Parameters<typeof factRow>): void => void rows.fact_rows.push(factRow(...row))
    const named = await this.#noteWriters(batch, nowMs)
    for (const writerId of named)
      add("writer", writerId, version, nowMs, { ...this.#writers.get(writerId)!, collectorId, host })
    for (const [streamId, stream] of writing.openStreams) add("stream", streamId, version, nowMs, stream)
    for (const gap of batch.gaps ?? []) {
      const json = fitting(gap)
      add("gap", sha256(json), firstStays(nowMs), nowMs, json)
    }
    for (const problem of [...(batch.problems ?? []), ...work.problems]) {
      const json = fitting(problem)
      add("problem", sha256(json), firstStays(nowMs), nowMs, json)
    }
    this.#said = batch.collector ?? this.#said
    const collector: CollectorFact = { host, shelf: this.#shelf!.name, lastCommitAtMs: nowMs, ...this.#said }
    add("collector", collectorId, version, nowMs, collector)
    for (const { file, offset } of batch.offsets ?? [])
      add("offset", `${collectorId}/${file}`, version, nowMs, { file, offset })
  }

  /** What was known of each process, with what the batch says. */
  async #noteWriters(batch: Batch, nowMs: number): Promise<ReadonlySet<string>> {
    const told = new Set([...(batch.writers ?? []), ...(batch.exits ?? [])].map(({ writerId }) => writerId))
    const named = new Set([...told, ...(batch.events ?? []).flatMap(({ writerId }) => writerId ?? [])])
    const missing = [...named].filter((id) => !this.#writers.has(id))
    const stored = await namedFacts<WriterRow>(this.#connection, "writer", missing)
    for (const id of missing) {
      this.#writers.set(id, stored.get(id)?.value ?? newWriter(id))
      // A process that is heard of by its events alone is taken for running until something says otherwise.
      if (!stored.has(id)) told.add(id)
    }
    for (const { writerId, identity, state, file, records = 0, lastSeenAtMs = nowMs } of batch.writers ?? []) {
      const known = this.#writers.get(writerId)!
      this.#writers.set(writerId, {
        ...known,
        identity: identity === undefined ? known.identity : JSON.parse(fitting(identity)),
        state: state ?? known.state,
        file: file ?? known.file,
        records: known.records + records,
        lastSeenAtMs: Math.max(known.lastSeenAtMs ?? 0, lastSeenAtMs),
      })
    }
    for (const { writerId, atMs, exit } of batch.exits ?? []) {
      const known = this.#writers.get(writerId)!
      const lastSeenAtMs = Math.max(known.lastSeenAtMs ?? 0, atMs)
      this.#writers.set(writerId, { ...known, state: "exited", exit: JSON.parse(fitting(exit)), lastSeenAtMs })
    }
    return told
  }

  /** Runs that ended, and the oldest where there are too many, are loaded again should anything more come of them. */
  #letGo(): void {
    for (const [id, run] of this.#live) if (run.isEnded || !run.isOwn) this.#forget(id)
    let events = [...this.#live.values()].reduce((sum, run) => sum + run.eventCount, 0)
    for (const [id, run] of this.#live) {
      if (this.#live.size <= MOST_LIVE_RUNS && events <= MOST_LIVE_EVENTS) break
      events -= run.eventCount
      this.#forget(id)
    }
    if (this.#outside.size > MOST_LIVE_RUNS) this.#outside.clear()
  }

  #forget(id: string): void {
    this.#live.delete(id)
    this.#referred.delete(id)
  }
}

/** One batch on its way: what it knows, and the rows it becomes. */
class Writing {
  readonly work: BatchWork<LiveRun, BodyState>
  readonly rows = Object.fromEntries(ORDER.flat().map((table) => [table, []])) as unknown as Record<Table, ServerRow[]>
  readonly accepted = new Map<string, PlacedEvent[]>()
  readonly revisions = new Map<string, Event>()
  readonly written = new Map<string, BodyState>()
  readonly openStreams = new Map<string, StreamFact>()
  known = new Map<string, BodyState>()
  streams: ReadonlyMap<string, { readonly value: StreamFact }> = new Map()

  constructor(batch: Batch, nowMs: number) {
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
    this.work = new BatchWork(batch, nowMs, summary, problems)
  }

  accept(runId: string, placed: PlacedEvent): void {
    const known = this.accepted.get(runId)
    if (known === undefined) this.accepted.set(runId, [placed])
    else known.push(placed)
  }

  /** Whether the bytes are there by the work of another batch. */
  isReliedOn(hash: string): boolean {
    return this.known.get(hash)?.state === BODY.here && !this.written.has(hash)
  }

  put(state: BodyState): void {
    this.known.set(state.hash, state)
    this.written.set(state.hash, state)
  }

  /** The row of a body that an event names, awaited if its bytes have not come. */
  expect(hash: string, byteSize: number, mime: string | null): BodyState {
    const known = this.known.get(hash)
    if (known !== undefined) return known
    const { nowMs } = this.work
    const empty = new Uint8Array()
    const state = {
      hash,
      version: 1,
      byteSize,
      mime,
      state: BODY.awaited,
      stateAtMs: nowMs,
      seenAtMs: nowMs,
      shelf: "",
      recipe: empty,
    }
    this.put(state)
    return state
  }
}

interface StreamPiece {
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

function pickCounts({ chunks, byteSize, lastMicros }: StreamFact): Partial<StreamFact> {
  return {
    ...(chunks === undefined ? {} : { chunks }),
    ...(byteSize === undefined ? {} : { byteSize }),
    ...(lastMicros === undefined ? {} : { lastMicros }),
  }
}

const newWriter = (writerId: string): WriterRow => ({
  writerId,
  identity: {},
  state: "running",
  file: null,
  records: 0,
  lastSeenAtMs: null,
  exit: null,
})

/** A redacted body never comes back. A pruned one does when it is recorded anew, but not when an old journal is read again. */
function staysBuried(known: BodyState, work: BatchWork<LiveRun, BodyState>): boolean {
  if (known.state === BODY.redacted) return true
  return known.state === BODY.pruned && work.newestReference(known.hash) <= (known.stateAtMs ?? 0)
}

interface NamedBody {
  readonly hash: string
  readonly byteSize: number
  readonly mime: string | null
  readonly heldAs: number
}

/** The bodies an event holds. */
export function namedBodies(event: Event): NamedBody[] {
  if (!Array.isArray(event.artifact_refs) || event.artifact_refs.length === 0) {
    if (event.payload === undefined || !isEventType(event.event_type)) return []
    return payloadRefs(event.event_type, event.payload)
      .filter(({ hash }) => isHash(hash))
      .map(({ hash }) => ({ hash, byteSize: 0, mime: null, heldAs: HELD.body }))
  }
  return event.artifact_refs.flatMap((given) => {
    const ref = usableRef(given)
    if (ref === undefined || ref.absent !== undefined || !isHash(ref.artifact_hash)) return []
    const { artifact_hash: hash, byte_size: byteSize, mime_type: mime, artifact_type } = ref
    return [{ hash, byteSize, mime, heldAs: heldAs(event, artifact_type) }]
  })
}

function hashesIn(batch: Batch): Set<string> {
  const hashes = new Set<string>()
  for (const { hash } of batch.bodies ?? []) hashes.add(hash)
  for (const { end } of batch.streams ?? []) if (end !== undefined) hashes.add(end.hash)
  for (const { event } of batch.events ?? []) for (const { hash } of namedBodies(event)) hashes.add(hash)
  return hashes
}

/** Where an event stands, as rows that lead to it say it. */
export interface EventPlace {
  readonly run_id: string
  readonly event_id: string
  readonly step_id: string | null
  readonly event_type: string
  readonly place: number
  readonly at: number
}

export function placeOf(runId: string, { event, name, place, atMs }: Omit<PlacedEvent, "digest">): EventPlace {
  return {
    run_id: runId,
    event_id: name,
    step_id: typeof event.step_id === "string" ? event.step_id : null,
    event_type: String(event.event_type),
    place,
    at: atMs,
  }
}

export const idRow = (id: string, kind: string, place: EventPlace): ServerRow => ({ id, kind, ...place })

function compareOutside({ digests }: OutsideEvents, name: string, digest: string): "new" | "same" | "other" {
  const known = digests.get(name)
  return known === undefined ? "new" : known === digest ? "same" : "other"
}

/** Two records with one name are the same where this is. */
export const recordDigest = (event: Event): string => digestOf("sha256", canonicalJson(event), "hex").slice(0, 32)

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex")
