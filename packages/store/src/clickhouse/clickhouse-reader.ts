import type { Event, Problem } from "@orangebox/contract"
import { isSequence } from "@orangebox/runs"
import { DAMAGED_LINE_CODES, endInDoubt } from "../damaged-end.js"
import { MOST_COLUMNS } from "../step-columns.js"
import {
  type BodyInfo,
  type BodyReading,
  type Conflict,
  type ContributorQuery,
  type ContributorRollup,
  type DurationCounts,
  type EventPage,
  type EventRedaction,
  type Gap,
  type HostRow,
  type IdDigest,
  type InboundLink,
  isAbsent,
  type Occurrence,
  type OpenRun,
  type Page,
  type PartialStream,
  type Progress,
  type RecordedProblem,
  type Resolution,
  type RollupQuery,
  type RollupRow,
  type RunQuery,
  type RunRow,
  type SearchPage,
  type SearchQuery,
  type StepColumns,
  type StepDuration,
  type StepRow,
  type StoreStatus,
  type TargetKind,
  type TraceReader,
  type WriterRow,
} from "../trace-store.js"
import { Connection, quote } from "./connection.js"
import { type CollectorFact, factsOf, namedFacts, type StreamFact } from "./facts.js"
import { checkIntegrity } from "./integrity.js"
import { inOrder, OWN_PLACES } from "./live-run.js"
import { monthOf } from "./month-of.js"
import { linksTo, occurrencesOf } from "./occurrences.js"
import { getRun, listRuns, openRunsOf, stepColumns, stepsOf } from "./read-runs.js"
import { readContributors, readDurationCounts, readDurations, readRollups } from "./read-sums.js"
import { resolve } from "./resolve.js"
import { checkSchema } from "./schema.js"
import { search } from "./search.js"
import type { ClickhouseSettings } from "./settings.js"
import { StoredBodies } from "./stored-bodies.js"
import { outsideOf, StoredEvents } from "./stored-events.js"
import { ended, streamPieces } from "./stream-pieces.js"

const DEFAULT_LIMIT = 100_000

/** A store whose rows are in a ClickHouse that many collectors write to. */
export class ClickhouseReader implements TraceReader {
  readonly isShared = true
  protected readonly connection: Connection
  protected readonly bodies: StoredBodies
  protected readonly events: StoredEvents
  readonly #digestOf: IdDigest | undefined
  readonly #wants: "read" | "written"
  #schema: Promise<number> | undefined

  constructor(settings: ClickhouseSettings, digestOf?: IdDigest, wants: "read" | "written" = "read") {
    this.connection = new Connection(settings)
    this.bodies = new StoredBodies(this.connection)
    this.events = new StoredEvents(this.connection, this.bodies)
    this.#digestOf = digestOf
    this.#wants = wants
  }

  /** The server is asked once whether it and this build understand each other, before anything else. */
  protected async ready(): Promise<Connection> {
    this.#schema ??= checkSchema(this.connection, this.#wants)
    try {
      await this.#schema
    } catch (error) {
      this.#schema = undefined
      throw error
    }
    return this.connection
  }

  async offsets(): Promise<ReadonlyMap<string, number>> {
    const own = `startsWith(key, ${quote(`${this.connection.settings.collectorId}/`)})`
    const facts = await factsOf<{ file: string; offset: number }>(await this.ready(), "offset", own)
    return new Map(facts.map(({ value }) => [value.file, value.offset]))
  }

  async writers(): Promise<readonly WriterRow[]> {
    const facts = await factsOf<WriterRow & { collectorId: string; host: string }>(await this.ready(), "writer")
    return facts
      .filter(({ value }) => value.collectorId === this.connection.settings.collectorId)
      .map(({ value: { collectorId: _, host: __, ...writer } }) => writer)
  }

  async hosts(): Promise<readonly HostRow[]> {
    const connection = await this.ready()
    const facts = await factsOf<CollectorFact>(connection, "collector")
    const counts = await connection.rows(
      "SELECT owner, count() AS runs, max(last_at) AS last_at FROM run_rows FINAL WHERE state = 'here' GROUP BY owner",
    )
    return facts.map(({ key, atMs, value }) => {
      const row = counts.find(({ owner }) => owner === key)
      return {
        collectorId: key,
        isSelf: key === this.connection.settings.collectorId,
        host: value.host,
        lastSeenAtMs: atMs,
        behindBytes: value.behindBytes ?? null,
        version: value.version ?? null,
        runs: Number(row?.["runs"] ?? 0),
        lastRecordAtMs: row === undefined ? null : Number(row["last_at"]),
      }
    })
  }

  async openRunsOf(writerId: string): Promise<readonly OpenRun[]> {
    return openRunsOf(await this.ready(), writerId)
  }

  async processEventsOf(writerId: string, page: { from?: number; limit?: number } = {}): Promise<EventPage> {
    await this.ready()
    const { from = 0, limit = DEFAULT_LIMIT } = page
    const all = await this.events.ofRuns([outsideOf(writerId)], "is_conflict = 0")
    const events = all.slice(from, from + limit).map(({ event }) => event)
    const total = all.length
    return from + events.length < total ? { events, total, nextFrom: from + events.length } : { events, total }
  }

  async listRuns(query: RunQuery = {}): Promise<Page<RunRow>> {
    return listRuns(await this.ready(), query, this.#digestOf)
  }

  async getRun(runId: string): Promise<RunRow | undefined> {
    return getRun(await this.ready(), runId)
  }

  async stepsOf(runId: string): Promise<readonly StepRow[]> {
    return stepsOf(await this.ready(), runId)
  }

  async stepColumns(
    runId: string,
    { from = 1, limit = MOST_COLUMNS }: { readonly from?: number; readonly limit?: number } = {},
  ): Promise<StepColumns | undefined> {
    return stepColumns(await this.ready(), runId, { from, limit: Math.min(limit, MOST_COLUMNS) })
  }

  async eventsOf(
    runId: string,
    { from = 0, limit = DEFAULT_LIMIT }: { from?: number; limit?: number } = {},
  ): Promise<EventPage> {
    const connection = await this.ready()
    const start = Math.max(0, Math.min(Math.floor(from), OWN_PLACES - 1))
    const [placed, loose, count] = await Promise.all([
      this.#placed(runId, start, limit + 1),
      this.#loose(runId),
      connection.value(
        `SELECT count() FROM event_rows FINAL WHERE month = ${quote(monthOf(runId))} AND run_id = ${quote(runId)} AND place < ${OWN_PLACES} AND is_conflict = 0`,
      ),
    ])
    const displaced = loose.filter(({ event }) => isSequence(event.sequence_no))
    const total = count + displaced.length
    const events = inOrder([...placed, ...displaced.filter(({ event }) => event.sequence_no! >= from)]).map(
      ({ event }) => event,
    )
    if (events.length <= limit) return { events, total }
    // A page never ends inside a number that is used twice, or the next page would begin with it again.
    let end = limit
    while (end < events.length && events[end]!.sequence_no === events[end - 1]!.sequence_no) end++
    const next = events[end]
    return next === undefined ? { events, total } : { events: events.slice(0, end), total, nextFrom: next.sequence_no! }
  }

  #placed(runId: string, from: number, limit: number) {
    return this.events.firstOf(runId, `place >= ${from} AND place < ${OWN_PLACES} AND is_conflict = 0`, limit)
  }

  #loose(runId: string) {
    return this.events.ofRuns([runId], `place >= ${OWN_PLACES} AND is_conflict = 0`)
  }

  async annotationsOf(runId: string): Promise<readonly Event[]> {
    await this.ready()
    const loose = await this.#loose(runId)
    return loose.filter(({ event }) => !isSequence(event.sequence_no)).map(({ event }) => event)
  }

  async gapsOf(runId: string): Promise<readonly Gap[]> {
    const connection = await this.ready()
    const recorded = await factsOf<Gap>(
      connection,
      "gap",
      `has(JSONExtract(json, 'runIds', 'Array(String)'), ${quote(runId)})`,
    )
    return [...recorded.map(({ value }) => value), ...(await this.#damagedEnd(runId))]
  }

  /** A run without an end whose journal has damaged lines that no gap inside the runs of its process accounts for. */
  async #damagedEnd(runId: string): Promise<Gap[]> {
    const run = await getRun(this.connection, runId)
    if (run === undefined || run.writerId === null || run.status === "completed" || run.status === "failed") return []
    const gaps = await factsOf<Gap>(
      this.connection,
      "gap",
      `JSONExtractString(json, 'writerId') = ${quote(run.writerId)}`,
    )
    const damaged = gaps.filter(
      ({ value }) => DAMAGED_LINE_CODES.includes(value.code) && (value.runIds ?? []).length === 0,
    )
    if (damaged.length === 0) return []
    const missing = await this.connection.value(
      `SELECT sum(last + 1 - own) FROM (SELECT run_id, maxIf(toInt64(place), place < ${OWN_PLACES}) AS last, uniqExactIf(event_id, JSONExtract(json, 'sequence_no', 'Nullable(Int64)') IS NOT NULL) AS own
       FROM event_rows FINAL WHERE is_conflict = 0 AND run_id IN (SELECT run_id FROM run_rows FINAL WHERE writer_id = ${quote(run.writerId)}) GROUP BY run_id)`,
    )
    return endInDoubt(runId, damaged.length, missing)
  }

  async conflictsOf(runId: string): Promise<readonly Conflict[]> {
    await this.ready()
    const stored = await this.events.ofRuns([runId], "is_conflict = 1")
    return stored.map(({ event, writerId, seenAtMs }) => ({ event, writerId, seenAtMs }))
  }

  async partialStreamsOf(runId: string): Promise<readonly PartialStream[]> {
    const connection = await this.ready()
    const facts = await factsOf<StreamFact>(
      connection,
      "stream",
      `JSONExtractString(json, 'runId') = ${quote(runId)} AND JSONExtractString(json, 'state') != 'complete'`,
    )
    return Promise.all(
      facts.map(async ({ key, value }) => {
        const counts =
          value.state === "open"
            ? ended(await streamPieces(connection, key))
            : {
                chunks: value.chunks ?? 0,
                byteSize: value.byteSize ?? 0,
                lastMicros: value.lastMicros ?? 0,
                isUnbroken: value.isUnbroken === true,
              }
        return {
          streamId: key,
          stepId: value.stepId,
          role: value.role,
          mime: value.mime,
          byteSize: counts.byteSize,
          withheldBytes: value.withheldBytes,
          chunks: counts.chunks,
          isUnbroken: counts.isUnbroken,
          lastAtMicros: counts.lastMicros,
          state: value.state === "open" ? ("open" as const) : ("abandoned" as const),
          hash: value.state === "open" ? null : value.hash,
        }
      }),
    )
  }

  async readPartialStream(streamId: string): Promise<Uint8Array | undefined> {
    const connection = await this.ready()
    const stream = (await namedFacts<StreamFact>(connection, "stream", [streamId])).get(streamId)?.value
    if (stream === undefined || stream.state === "complete") return undefined
    if (stream.state === "open")
      return Buffer.concat((await streamPieces(connection, streamId)).map(({ bytes }) => bytes))
    const reading = stream.hash === null ? undefined : await this.readBody(stream.hash)
    return reading === undefined || isAbsent(reading) ? undefined : reading.bytes
  }

  async redactionsOf(runId: string): Promise<readonly EventRedaction[]> {
    const facts = await factsOf<Event>(
      await this.ready(),
      "redacted",
      `JSONExtractString(json, 'run_id') = ${quote(runId)}`,
    )
    return facts.map(({ key, atMs }) => ({ eventId: key, atMs })).sort((a, b) => (a.eventId < b.eventId ? -1 : 1))
  }

  async resolve(text: string): Promise<Resolution> {
    const connection = await this.ready()
    const found = await resolve(connection, text)
    if (found.found !== "none" || this.#digestOf === undefined) return found
    const digested = await resolve(connection, this.#digestOf(text.trim()))
    return digested.found === "one" ? { found: "one", target: { ...digested.target, id: text.trim() } } : found
  }

  async occurrencesOf(
    kind: TargetKind,
    id: string,
    page: { from?: number; limit?: number } = {},
  ): Promise<Page<Occurrence>> {
    const names = this.#digestOf === undefined ? [id] : [id, this.#digestOf(id)]
    return occurrencesOf(await this.ready(), kind, names, page)
  }

  async linksTo(runId: string): Promise<readonly InboundLink[]> {
    return linksTo(await this.ready(), this.events, runId)
  }

  async bodyInfo(hash: string): Promise<BodyInfo | undefined> {
    await this.ready()
    return this.bodies.info(hash)
  }

  async readBody(hash: string): Promise<BodyReading> {
    return (await this.readBodies([hash]))[0]!
  }

  async readBodies(hashes: readonly string[]): Promise<readonly BodyReading[]> {
    await this.ready()
    return this.bodies.read(hashes)
  }

  async readBodySlice(hash: string, from: number, to: number): Promise<BodyReading> {
    await this.ready()
    return this.bodies.slice(hash, from, to)
  }

  async search(query: SearchQuery): Promise<SearchPage> {
    return search(await this.ready(), this.events, query)
  }

  async rollups(query: RollupQuery): Promise<readonly RollupRow[]> {
    return readRollups(await this.ready(), query)
  }

  async contributors(query: ContributorQuery): Promise<readonly ContributorRollup[]> {
    return readContributors(await this.ready(), query)
  }

  async durationCounts(query: { readonly app: string; readonly since: number }): Promise<readonly DurationCounts[]> {
    return readDurationCounts(await this.ready(), query)
  }

  async stepDurations(query: { readonly since?: number; readonly until?: number }): Promise<readonly StepDuration[]> {
    return readDurations(await this.ready(), query)
  }

  async integrity(options: { bodies?: "all" | "sample" | "none" } & Progress = {}): Promise<readonly Problem[]> {
    return checkIntegrity(await this.ready(), this.bodies, options)
  }

  async problems({ limit = 100 }: { limit?: number } = {}): Promise<readonly RecordedProblem[]> {
    const facts = await factsOf<RecordedProblem>(await this.ready(), "problem")
    return facts
      .slice(-limit)
      .reverse()
      .map(({ value }) => value)
  }

  async status(): Promise<StoreStatus> {
    const connection = await this.ready()
    const [runs] = await connection.rows(
      "SELECT count() AS runs, sum(events) AS events, sum(steps) AS steps FROM run_rows FINAL WHERE state = 'here'",
    )
    const [bodies] = await connection.rows(
      "SELECT count() AS bodies, sum(byte_size) AS bytes FROM body_rows FINAL WHERE state = 0",
    )
    const database = quote(connection.database)
    const onDisk = (table: string): Promise<number> =>
      connection.value(
        `SELECT sum(bytes_on_disk) FROM system.parts WHERE active AND database = ${database} AND ${table}`,
      )
    const [version] = await connection.rows("SELECT version() AS version")
    return {
      engine: `ClickHouse ${String(version?.["version"])}`,
      schemaVersion: await this.#schema!,
      runs: Number(runs?.["runs"] ?? 0),
      events: Number(runs?.["events"] ?? 0),
      steps: Number(runs?.["steps"] ?? 0),
      bodies: Number(bodies?.["bodies"] ?? 0),
      conflicts: await connection.value("SELECT count() FROM event_rows FINAL WHERE is_conflict = 1"),
      gaps: await connection.value("SELECT count() FROM fact_rows FINAL WHERE kind = 'gap'"),
      bodyBytes: Number(bodies?.["bytes"] ?? 0),
      bodyBytesOnDisk: await connection.value("SELECT sum(size) FROM block_rows FINAL"),
      searchBytesOnDisk: await onDisk("table IN ('text_rows', 'text_runs')"),
      databaseBytes: await onDisk("1"),
      walBytes: 0,
      lastCommitAtMs: (await connection.value("SELECT max(at) FROM fact_rows WHERE kind = 'collector'")) || null,
    }
  }

  async changeCount(): Promise<number> {
    const connection = await this.ready()
    return connection.value(
      "SELECT cityHash64(groupArray((key, version))) % 4503599627370496 FROM (SELECT key, version FROM fact_rows FINAL WHERE kind = 'collector' ORDER BY key)",
    )
  }

  async close(): Promise<void> {
    await this.connection.close()
  }
}
