import type { Event } from "@orangebox/contract"
import type { PriceTable } from "@orangebox/dialects"
import { failpoint } from "../failpoint.js"
import { storedName } from "../stored-name.js"
import type { Batch, CommitSummary } from "../trace-store.js"
import { BodyWriter } from "./body-writer.js"
import type { Connection } from "./connection.js"
import { EventIndex } from "./event-index.js"
import { EventWriter } from "./event-writer.js"
import { FactWriter } from "./fact-writer.js"
import { namedFacts, type StreamFact } from "./facts.js"
import { KnownRuns } from "./known-runs.js"
import { inOrder, LiveRun } from "./live-run.js"
import { hashesIn, namedBodies } from "./named-bodies.js"
import { bodyRow, type StoredBodies } from "./stored-bodies.js"
import type { StoredEvents } from "./stored-events.js"
import { StreamWriter } from "./stream-writer.js"
import { ORDER, Writing } from "./writing.js"

export interface CommitterOptions {
  readonly collectorId: string
  readonly host: string
  readonly prices: PriceTable
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
  readonly #runs: KnownRuns
  readonly #index: EventIndex
  readonly #bodyWriter: BodyWriter
  readonly #streamWriter: StreamWriter
  readonly #eventWriter: EventWriter
  readonly #facts: FactWriter

  constructor(connection: Connection, bodies: StoredBodies, events: StoredEvents, options: CommitterOptions) {
    this.#connection = connection
    this.#bodies = bodies
    this.#events = events
    this.#options = options
    this.#runs = new KnownRuns(connection, events, options)
    this.#index = new EventIndex(bodies, this.#runs)
    this.#bodyWriter = new BodyWriter(connection, bodies, options.collectorId)
    this.#streamWriter = new StreamWriter(connection, events, this.#bodyWriter, this.#index)
    this.#eventWriter = new EventWriter(this.#runs, this.#bodyWriter, this.#index)
    this.#facts = new FactWriter(connection, options)
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
    this.#runs.reset()
    this.#facts.reset()
    this.#index.forgetTexts()
    this.#bodyWriter.reset()
  }

  nextVersion(nowMs: number): number {
    return this.#facts.nextVersion(nowMs)
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
      this.#runs.open(writing),
      this.#runs.openOutside(batch),
      this.#findRevisions(writing),
    ])
    writing.known = known
    writing.streams = streams

    for (const body of batch.bodies ?? []) await this.#bodyWriter.take(body, writing)
    for (const stream of batch.streams ?? []) await this.#streamWriter.take(stream, writing)
    for (const recorded of batch.events ?? []) await this.#eventWriter.take(recorded, writing)
    for (const stream of batch.streams ?? []) if (stream.abandoned) await this.#streamWriter.abandon(stream, writing)
    const changed = await this.#writeRuns(writing)
    await this.#facts.note(writing, this.#bodyWriter.shelfName)

    writing.rows.block_rows.push(...this.#bodyWriter.takeBlocks())
    writing.rows.body_rows.push(...[...writing.written.values()].map(bodyRow))
    await this.#insert(writing)
    for (const run of changed) run.wereWritten()
    this.#runs.letGo()
    return { ...writing.work.summary, runIds: changed.map(({ runId }) => runId), problems: writing.work.problems }
  }

  /** What redacted events may say takes the place of what an old journal still has. */
  async #findRevisions(writing: Writing): Promise<void> {
    if ((await this.#connection.value("SELECT count() FROM fact_rows WHERE kind = 'redacted'")) === 0) return
    const names = (writing.work.batch.events ?? []).map(({ event }) => storedName(event))
    for (const [name, fact] of await namedFacts<Event>(this.#connection, "redacted", names))
      writing.revisions.set(name, fact.value)
  }

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

  async #insert(writing: Writing): Promise<void> {
    for (const tables of ORDER) {
      if (tables[0] === "fact_rows") await this.#bodyWriter.putPrunedMeanwhile(writing)
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
   * With a new shelf, texts are written again when they come again: what is unused for days may be removed
   * by whoever prunes, because no collector relies on having written it long ago.
   */
  #openShelf(nowMs: number): void {
    if (this.#bodyWriter.openShelf(nowMs)) this.#index.forgetTexts()
  }

  /**
   * Derives a run's row, steps, ids, references and texts again from its events and bodies. With a writer's name behind `~`, what is outside runs.
   * Everything is written beside what is there and takes its place.
   */
  async rederive(runId: string, nowMs: number): Promise<{ events: number; steps: number }> {
    this.#openShelf(nowMs)
    const writing = new Writing({}, nowMs)
    const stored = await this.#events.ofRuns([runId])
    const standing = (await this.#runs.standingsOf([runId])).get(runId)
    const events = stored.filter(({ isConflict }) => !isConflict)
    writing.known = await this.#bodies.rowsOf(events.flatMap(({ event }) => namedBodies(event).map(({ hash }) => hash)))
    const run = standing === undefined ? undefined : new LiveRun(runId, standing, this.#options.prices)
    this.#runs.referToNothing(runId)
    this.#index.forgetTexts()
    for (const placed of inOrder(events)) await this.#index.derive(runId, run, placed, writing)
    this.#runs.forget(runId)
    run?.foldAgain(events)
    const written = run?.rows({ owner: standing!.owner, host: standing!.host, nowMs: standing!.ingestedAtMs })
    if (written !== undefined) {
      writing.rows.run_rows.push(written.run)
      writing.rows.step_rows.push(...written.steps)
    }
    writing.rows.block_rows.push(...this.#bodyWriter.takeBlocks())
    await this.#insert(writing)
    return { events: events.length, steps: Number(written?.run["steps"] ?? 0) }
  }
}
