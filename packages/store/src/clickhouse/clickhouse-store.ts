import { hostname } from "node:os"
import { BUILT_IN_PRICES, type PriceTable } from "@orangebox/dialects"
import type { PruneReport, RetentionPolicy } from "../retention.js"
import type {
  Batch,
  CommitSummary,
  Progress,
  RebuildReport,
  StoredRedaction,
  StoredRedactionReport,
  TraceStore,
} from "../trace-store.js"
import { BatchCommitter } from "./batch-committer.js"
import { ClickhouseReader } from "./clickhouse-reader.js"
import type { Connection } from "./connection.js"
import { prune } from "./prune.js"
import { redactStored } from "./redact-stored.js"
import { checkTagKey, migrateClickhouse } from "./schema.js"
import type { ClickhouseSettings } from "./settings.js"

export interface ClickhouseStoreOptions {
  readonly now?: () => number
  readonly prices?: PriceTable
}

/** One collector's way into a ClickHouse that others write to as well. What it is asked to write it does one thing after the other. */
export class ClickhouseStore extends ClickhouseReader implements TraceStore {
  readonly #now: () => number
  readonly #committer: BatchCommitter
  #queue: Promise<unknown> = Promise.resolve()
  #isKeyChecked = false

  constructor(settings: ClickhouseSettings, { now = Date.now, prices = BUILT_IN_PRICES }: ClickhouseStoreOptions = {}) {
    super(settings, undefined, "written")
    this.#now = now
    this.#committer = new BatchCommitter(this.connection, this.bodies, this.events, {
      collectorId: settings.collectorId,
      host: settings.host ?? hostname(),
      prices,
    })
  }

  commit(batch: Batch): Promise<CommitSummary> {
    return this.#inTurn(() => this.#committer.commit(batch, this.#now()))
  }

  prune(policy: RetentionPolicy, options: { readonly isDryRun?: boolean } & Progress = {}): Promise<PruneReport> {
    return this.#inTurn(async (connection) => {
      const report = await prune(this.#releaseContext(connection), policy, options)
      this.#committer.reset()
      return report
    })
  }

  rebuild({ onProgress }: Progress = {}): Promise<RebuildReport> {
    return this.#inTurn(async (connection) => {
      this.#committer.reset()
      const rows = await connection.rows("SELECT DISTINCT run_id FROM event_rows ORDER BY run_id")
      const report = { events: 0, runs: 0, steps: 0 }
      for (const [index, row] of rows.entries()) {
        onProgress?.(index, rows.length, "runs")
        const runId = String(row["run_id"])
        const { events, steps } = await this.#committer.rederive(runId, this.#now())
        report.events += events
        report.steps += steps
        if (!runId.startsWith("~")) report.runs++
      }
      return { ...report, texts: await connection.value("SELECT uniqExact(digest) FROM text_rows") }
    })
  }

  redactStored(
    redaction: StoredRedaction,
    options: { readonly isDryRun?: boolean } & Progress = {},
  ): Promise<StoredRedactionReport> {
    return this.#inTurn(async (connection) => {
      const report = await redactStored(
        {
          ...this.#releaseContext(connection),
          events: this.events,
          rederive: (runId) => this.#committer.rederive(runId, this.#now()),
        },
        redaction,
        options,
      )
      this.#committer.reset()
      return report
    })
  }

  /** Makes the tables, or brings them to this build's schema. */
  migrate(): Promise<{ from: number; to: number }> {
    return migrateClickhouse(this.connection, this.#now())
  }

  #releaseContext(connection: Connection) {
    return { connection, bodies: this.bodies, nowMs: this.#now(), closeShelf: () => this.#committer.reset() }
  }

  #inTurn<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const turn = this.#queue.then(async () => {
      const connection = await this.ready()
      if (!this.#isKeyChecked) await checkTagKey(connection, this.#now())
      this.#isKeyChecked = true
      return work(connection)
    })
    this.#queue = turn.catch(() => {})
    return turn
  }
}
