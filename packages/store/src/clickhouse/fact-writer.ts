import { createHash } from "node:crypto"
import { fitting } from "../fitting-json.js"
import type { Batch, WriterRow } from "../trace-store.js"
import type { Connection } from "./connection.js"
import { type CollectorFact, factRow, firstStays, namedFacts } from "./facts.js"
import type { Writing } from "./writing.js"

/** What a batch says besides its events: of processes, streams, gaps, problems, of the collector itself, and how far it read. */
export class FactWriter {
  readonly #connection: Connection
  readonly #collector: { readonly collectorId: string; readonly host: string }
  readonly #writers = new Map<string, WriterRow>()
  /** What this collector last said of itself. */
  #said: NonNullable<Batch["collector"]> | undefined
  #version = 0

  constructor(connection: Connection, collector: { readonly collectorId: string; readonly host: string }) {
    this.#connection = connection
    this.#collector = collector
  }

  reset(): void {
    this.#writers.clear()
  }

  /** Versions of facts grow, also where the clock does not. */
  nextVersion(nowMs: number): number {
    this.#version = Math.max(this.#version + 1, nowMs * 1000)
    return this.#version
  }

  async note(writing: Writing, shelf: string): Promise<void> {
    const { work, rows } = writing
    const { batch, nowMs } = work
    const { collectorId, host } = this.#collector
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
    const collector: CollectorFact = { host, shelf, lastCommitAtMs: nowMs, ...this.#said }
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

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex")
