import { statSync } from "node:fs"
import type { Event, Problem } from "@orangebox/contract"
import { STREAM } from "../codes.js"
import { numberOrNull, textOrNull } from "../row-values.js"
import { MOST_COLUMNS } from "../step-columns.js"
import type {
  BodyInfo,
  BodyReading,
  Conflict,
  ContributorQuery,
  ContributorRollup,
  DurationCounts,
  EventPage,
  EventRedaction,
  Gap,
  HostRow,
  IdDigest,
  InboundLink,
  Occurrence,
  OpenRun,
  Page,
  PartialStream,
  Progress,
  RecordedProblem,
  Resolution,
  RollupQuery,
  RollupRow,
  RunQuery,
  RunRow,
  SearchPage,
  SearchQuery,
  StepColumns,
  StepDuration,
  StepRow,
  StoreStatus,
  TargetKind,
  TraceReader,
  WriterRow,
} from "../trace-store.js"
import { connectForReading, type ReadConnection } from "./connection.js"
import { damagedEndOf } from "./damaged-end.js"
import { type SqliteDatabase, sqliteDriver } from "./driver.js"
import { checkIntegrity } from "./integrity.js"
import { unpackHash } from "./keys.js"
import { bodyBytesOnDisk } from "./live-chunks.js"
import { linksTo, occurrencesOf } from "./occurrences.js"
import { bodyInfo, readBodies, readBody } from "./read-bodies.js"
import { annotationsOf, eventsOf, processEventsOf } from "./read-events.js"
import { readContributors, readDurationCounts, readDurations, readRollups } from "./read-rollups.js"
import { getRun, listRuns, openRunsOf, stepsOf } from "./read-runs.js"
import { redactionsOf } from "./redacted-events.js"
import { resolve } from "./resolve-id.js"
import { checkNotNewer, schemaVersionOf } from "./schema.js"
import { search } from "./search-query.js"
import { stepColumns } from "./step-columns.js"
import type { StoreFiles } from "./store-files.js"
import { StreamTable } from "./stream-table.js"
import { toWriterRow } from "./writer-table.js"

export class SqliteReader implements TraceReader {
  readonly isShared = false
  protected readonly files: StoreFiles
  protected connection: ReadConnection
  protected readonly digestOf: IdDigest | undefined

  constructor(files: StoreFiles, connection: ReadConnection = connectForReading(files), digestOf?: IdDigest) {
    this.files = files
    this.connection = connection
    this.digestOf = digestOf
  }

  protected get database(): SqliteDatabase {
    return this.connection.database
  }

  /**
   * One moment of the store for all that a method reads: beside a writer that commits in between, an event would otherwise be put together
   * with steps from before it. Not for what reads bodies: packs are rewritten while they are read, and only a later look at the rows
   * says where a chunk went.
   */
  #atOnce<T>(read: () => T): T {
    this.database.exec("BEGIN")
    try {
      return read()
    } finally {
      this.database.exec("COMMIT")
    }
  }

  async offsets(): Promise<ReadonlyMap<string, number>> {
    const rows = this.database.prepare("SELECT file, offset FROM offset_rows").all()
    return new Map(rows.map((row) => [String(row["file"]), Number(row["offset"])]))
  }

  async writers(): Promise<readonly WriterRow[]> {
    return this.database.prepare("SELECT * FROM writer_rows ORDER BY key").all().map(toWriterRow)
  }

  async hosts(): Promise<readonly HostRow[]> {
    return []
  }

  async openRunsOf(writerId: string): Promise<readonly OpenRun[]> {
    return this.#atOnce(() => openRunsOf(this.database, writerId))
  }

  async processEventsOf(writerId: string, page: { from?: number; limit?: number } = {}): Promise<EventPage> {
    return this.#atOnce(() => processEventsOf(this.connection, writerId, page))
  }

  async listRuns(query: RunQuery = {}): Promise<Page<RunRow>> {
    return this.#atOnce(() => listRuns(this.database, query, this.digestOf))
  }

  async redactionsOf(runId: string): Promise<readonly EventRedaction[]> {
    return redactionsOf(this.database, runId)
  }

  async getRun(runId: string): Promise<RunRow | undefined> {
    return getRun(this.database, runId)
  }

  async stepsOf(runId: string): Promise<readonly StepRow[]> {
    return this.#atOnce(() => stepsOf(this.database, runId))
  }

  async stepColumns(
    runId: string,
    { from = 1, limit = MOST_COLUMNS }: { readonly from?: number; readonly limit?: number } = {},
  ): Promise<StepColumns | undefined> {
    return this.#atOnce(() => stepColumns(this.database, runId, { from, limit: Math.min(limit, MOST_COLUMNS) }))
  }

  async changeCount(): Promise<number> {
    // Whoever wrote may have been a newer build, and then this one must not go on reading.
    checkNotNewer(this.database, this.files.database)
    return Number(this.database.prepare("PRAGMA data_version").get()?.["data_version"])
  }

  async eventsOf(runId: string, page: { from?: number; limit?: number } = {}): Promise<EventPage> {
    return this.#atOnce(() => eventsOf(this.connection, runId, page))
  }

  async annotationsOf(runId: string): Promise<readonly Event[]> {
    return this.#atOnce(() => annotationsOf(this.connection, runId))
  }

  async gapsOf(runId: string): Promise<readonly Gap[]> {
    const recorded = this.database
      .prepare(
        "SELECT json FROM gap_runs JOIN gap_rows ON gap_rows.key = gap_runs.gap WHERE run_id = ? ORDER BY gap_rows.key",
      )
      .all(runId)
      .map((row) => JSON.parse(String(row["json"])) as Gap)
    return [...recorded, ...damagedEndOf(this.database, runId)]
  }

  async conflictsOf(runId: string): Promise<readonly Conflict[]> {
    return this.database
      .prepare("SELECT * FROM conflict_rows WHERE run = ? ORDER BY key")
      .all(runId)
      .map((row) => ({
        event: JSON.parse(this.connection.reader.textOf(row)) as Event,
        writerId: textOrNull(row["writer_id"]),
        seenAtMs: Number(row["seen_at"]),
      }))
  }

  async partialStreamsOf(runId: string): Promise<readonly PartialStream[]> {
    const streams = new StreamTable(this.database)
    return this.database
      .prepare(
        `SELECT stream_rows.*, body_rows.hash AS hash FROM stream_rows LEFT JOIN body_rows ON body_rows.key = stream_rows.body
         WHERE run_id = ? ORDER BY stream_rows.key`,
      )
      .all(runId)
      .map((row) => {
        const isOpen = Number(row["state"]) === STREAM.open
        return {
          streamId: String(row["stream_id"]),
          stepId: textOrNull(row["step_id"]),
          role: String(row["role"]),
          mime: textOrNull(row["mime"]),
          byteSize: Number(row["byte_size"]),
          withheldBytes: Number(row["withheld_bytes"] ?? 0),
          chunks: Number(row["chunks"]),
          isUnbroken: isOpen ? streams.isUnbroken(Number(row["key"])) : Number(row["is_unbroken"]) === 1,
          lastAtMicros: Number(row["last_micros"]),
          state: isOpen ? "open" : "abandoned",
          hash: row["hash"] === null ? null : unpackHash(row["hash"]),
        }
      })
  }

  async resolve(text: string): Promise<Resolution> {
    return this.#atOnce(() => {
      const found = resolve(this.database, text)
      if (found.found !== "none" || this.digestOf === undefined) return found
      const digested = resolve(this.database, this.digestOf(text.trim()))
      // The id its reader knows is the one to go on with: every question asks for its digest as well.
      return digested.found === "one" ? { found: "one", target: { ...digested.target, id: text.trim() } } : found
    })
  }

  async occurrencesOf(
    kind: TargetKind,
    id: string,
    page: { from?: number; limit?: number } = {},
  ): Promise<Page<Occurrence>> {
    return this.#atOnce(() => occurrencesOf(this.database, kind, this.#namesOf(id), page))
  }

  async linksTo(runId: string): Promise<readonly InboundLink[]> {
    return this.#atOnce(() => linksTo(this.connection, runId))
  }

  /** An id as it is, and as it stands where no content is kept. */
  #namesOf(id: string): string[] {
    return this.digestOf === undefined ? [id] : [id, this.digestOf(id)]
  }

  async bodyInfo(hash: string): Promise<BodyInfo | undefined> {
    return this.#atOnce(() => bodyInfo(this.database, hash))
  }

  async readBody(hash: string): Promise<BodyReading> {
    return readBody(this.connection, hash)
  }

  async readBodies(hashes: readonly string[]): Promise<readonly BodyReading[]> {
    return readBodies(this.connection, hashes)
  }

  async readBodySlice(hash: string, from: number, to: number): Promise<BodyReading> {
    return readBody(this.connection, hash, { from, to })
  }

  async readPartialStream(streamId: string): Promise<Uint8Array | undefined> {
    const streams = new StreamTable(this.database)
    const stream = streams.find(streamId)
    if (stream === undefined) return undefined
    if (stream.state === STREAM.open) return Buffer.concat([...streams.pieces(stream.key)])
    const row = this.database
      .prepare("SELECT hash FROM stream_rows JOIN body_rows ON body_rows.key = stream_rows.body WHERE stream_id = ?")
      .get(streamId)
    const reading = row && readBody(this.connection, unpackHash(row["hash"]))
    return reading !== undefined && "bytes" in reading ? reading.bytes : undefined
  }

  async search(query: SearchQuery): Promise<SearchPage> {
    return search(this.connection, query)
  }

  async contributors(query: ContributorQuery): Promise<readonly ContributorRollup[]> {
    return this.#atOnce(() => readContributors(this.database, query))
  }

  async durationCounts(query: { readonly app: string; readonly since: number }): Promise<readonly DurationCounts[]> {
    return this.#atOnce(() => readDurationCounts(this.database, query))
  }

  async stepDurations(query: { since?: number; until?: number }): Promise<readonly StepDuration[]> {
    return this.#atOnce(() => readDurations(this.database, query))
  }

  async rollups(query: RollupQuery): Promise<readonly RollupRow[]> {
    return this.#atOnce(() => readRollups(this.database, query))
  }

  async integrity(options: { bodies?: "all" | "sample" | "none" } & Progress = {}): Promise<readonly Problem[]> {
    return checkIntegrity(this.connection, options)
  }

  async problems(query: { limit?: number } = {}): Promise<readonly RecordedProblem[]> {
    return this.database
      .prepare("SELECT json FROM problem_rows ORDER BY key DESC LIMIT ?")
      .all(query.limit ?? 100)
      .map((row) => JSON.parse(String(row["json"])) as RecordedProblem)
  }

  async status(): Promise<StoreStatus> {
    const count = (sql: string): number => Number(this.database.prepare(sql).get()?.["value"])
    const driver = sqliteDriver()
    const lastCommit = this.database.prepare("SELECT value FROM meta WHERE name = 'last_commit_at'").get()?.["value"]
    return {
      engine: `SQLite ${driver.version} (${driver.name})`,
      schemaVersion: schemaVersionOf(this.database),
      runs: count("SELECT count(*) AS value FROM run_rows"),
      events: count("SELECT coalesce(sum(events), 0) AS value FROM run_rows"),
      steps: count("SELECT coalesce(sum(steps), 0) AS value FROM run_rows"),
      bodies: count("SELECT count(*) AS value FROM body_rows WHERE state = 0"),
      conflicts: count("SELECT count(*) AS value FROM conflict_rows"),
      gaps: count("SELECT count(*) AS value FROM gap_rows"),
      bodyBytes: count("SELECT coalesce(sum(byte_size), 0) AS value FROM body_rows WHERE state = 0"),
      bodyBytesOnDisk: bodyBytesOnDisk(this.database),
      searchBytesOnDisk: count("SELECT coalesce(sum(length(block)), 0) AS value FROM search_index_data"),
      databaseBytes: sizeOf(this.files.database),
      walBytes: sizeOf(`${this.files.database}-wal`),
      lastCommitAtMs: numberOrNull(lastCommit),
    }
  }

  async close(): Promise<void> {
    this.connection.storage.close()
    this.connection.database.close()
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}
