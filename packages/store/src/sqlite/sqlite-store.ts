import { statSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import { OrangeboxError } from "@orangebox/contract"
import type { PriceTable } from "@orangebox/dialects"
import { failpoint } from "../failpoint.js"
import type { PruneReport, RetentionPolicy } from "../retention.js"
import { revisionOf } from "../stored-redaction.js"
import type {
  Batch,
  CommitSummary,
  Progress,
  RebuildReport,
  StoredRedaction,
  StoredRedactionReport,
  TraceStore,
} from "../trace-store.js"
import { BatchWriter } from "./batch-writer.js"
import { BodyStorage } from "./body-storage.js"
import { openForWriting, type ReadConnection } from "./connection.js"
import { EventReader } from "./event-reader.js"
import { markDamage } from "./note-damage.js"
import { planPrune } from "./plan-prune.js"
import { collectDead, prune } from "./prune.js"
import { foldMarkedRuns, rebuild } from "./rebuild.js"
import { redactStored } from "./redact-stored.js"
import type { ReleaseContext } from "./release.js"
import { Rollups } from "./rollups.js"
import { isBusy, isCorrupt, SQLITE, sqliteCode } from "./sqlite-error.js"
import { SqliteReader } from "./sqlite-reader.js"
import type { StoreFiles } from "./store-files.js"
import { TombstoneFile } from "./tombstones.js"

/** From here on the WAL is folded into the database after a commit; a reader that holds it open only delays that. */
const WAL_BYTES = 16 * 1024 * 1024
const FIRST_WAIT_MS = 20
const LONGEST_WAIT_MS = 1000

export interface SqliteStoreOptions {
  readonly now: () => number
  /** How long a transaction is tried again while another process holds the database. */
  readonly busyMs: number
  /** What the money in roll-ups is counted by. */
  readonly prices: PriceTable
}

interface WriteConnection extends ReadConnection {
  readonly storage: BodyStorage
  readonly rollups: Rollups
  readonly writer: BatchWriter
}

export function connectForWriting(files: StoreFiles, prices: PriceTable): WriteConnection {
  const database = openForWriting(files.database)
  try {
    const storage = new BodyStorage(database, files.packs)
    const reader = new EventReader(database, storage)
    const context = { database, storage, reader, rollups: new Rollups(database, prices) }
    foldMarkedRuns(context)
    return { ...context, writer: new BatchWriter(context) }
  } catch (error) {
    database.close()
    throw error
  }
}

/** The embedded store. One process writes, through one of these; what it is asked to write it does one thing after the other. */
export class SqliteStore extends SqliteReader implements TraceStore {
  declare protected connection: WriteConnection
  readonly #options: SqliteStoreOptions
  readonly #tombstones: TombstoneFile
  #queue: Promise<unknown> = Promise.resolve()
  #isClosed = false

  constructor(files: StoreFiles, options: SqliteStoreOptions) {
    super(files, connectForWriting(files, options.prices))
    this.#options = options
    this.#tombstones = new TombstoneFile(files.tombstones)
  }

  commit(batch: Batch): Promise<CommitSummary> {
    return this.#inTurn(async () => {
      const nowMs = this.#options.now()
      const summary = await this.#transact(() => this.connection.writer.write(batch, nowMs))
      this.connection.writer.afterCommit()
      failpoint("commit:after")
      await this.connection.storage.settle((work) => this.#transact(work))
      this.#foldWal()
      return summary
    })
  }

  prune(policy: RetentionPolicy, options: { readonly isDryRun?: boolean } & Progress = {}): Promise<PruneReport> {
    return this.#inTurn(async () => {
      if (options.isDryRun === true) return planPrune(this.#releaseContext(), policy)
      const report = await prune(this.#releaseContext(), policy, options)
      this.connection.writer.reset()
      this.#tombstones.compact(this.#options.now())
      this.#foldWal()
      return report
    })
  }

  redactStored(
    redaction: StoredRedaction,
    options: { readonly isDryRun?: boolean } & Progress = {},
  ): Promise<StoredRedactionReport> {
    return this.#inTurn(async () => {
      const context = this.#releaseContext()
      const report = await redactStored(context, redaction, options)
      if (options.isDryRun === true) return report
      this.connection.writer.reset()
      this.#tombstones.rewrite(revisionOf(redaction))
      if (this.database.prepare("SELECT 1 FROM meta WHERE name = 'is_unswept'").get() === undefined) {
        return { ...report, isSwept: true }
      }
      options.onProgress?.(0, undefined, "sweeping")
      await collectDead(context, true)
      const notSweptBecause = this.#sweep()
      if (notSweptBecause === undefined) {
        await this.#transact(() => this.database.prepare("DELETE FROM meta WHERE name = 'is_unswept'").run())
      }
      return notSweptBecause === undefined ? { ...report, isSwept: true } : { ...report, notSweptBecause }
    })
  }

  rebuild(progress: Progress = {}): Promise<RebuildReport> {
    return this.#inTurn(async () => {
      const report = await rebuild({ ...this.connection, transact: (work) => this.#transact(work) }, progress)
      this.connection.writer.reset()
      this.#foldWal()
      return report
    })
  }

  override close(): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#isClosed) return
      this.#isClosed = true
      this.#foldWalWhole()
      await super.close()
    })
  }

  #releaseContext(): ReleaseContext & { storage: BodyStorage } {
    const { database, storage, reader, rollups } = this.connection
    return {
      database,
      storage,
      reader,
      rollups,
      transact: (work) => this.#transact(work),
      bury: (tombstones) => this.#tombstones.append(tombstones),
      nowMs: this.#options.now(),
    }
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#queue.then(work)
    this.#queue = turn.catch(() => {})
    return turn
  }

  /** Runs the work in a transaction that is on disk when this returns; again from the start while the database is held by another. */
  async #transact<T>(work: () => T): Promise<T> {
    const deadline = performance.now() + this.#options.busyMs
    for (let wait = FIRST_WAIT_MS; ; wait = Math.min(wait * 2, LONGEST_WAIT_MS)) {
      try {
        return this.#tryTransaction(work)
      } catch (error) {
        if (!isBusy(error)) throw this.#explain(error)
        if (performance.now() + wait > deadline) {
          throw new OrangeboxError("STORE_BUSY", {
            what: "another process holds the database locked",
            where: this.files.database,
            next: "Nothing is lost: the journals are kept, and the batch is taken when the lock is gone",
            cause: error,
          })
        }
      }
      await sleep(wait)
    }
  }

  #tryTransaction<T>(work: () => T): T {
    const { database, storage, writer } = this.connection
    database.exec("BEGIN IMMEDIATE")
    try {
      failpoint("commit:begin")
      const result = work()
      storage.beforeCommit()
      failpoint("commit:before")
      database.exec("COMMIT")
      storage.afterCommit()
      return result
    } catch (error) {
      if (database.isTransaction) {
        try {
          database.exec("ROLLBACK")
        } catch {
          // The error that brought us here is the one to report.
        }
      }
      storage.afterRollback()
      writer.reset()
      throw error
    }
  }

  #explain(error: unknown): unknown {
    const code = sqliteCode(error)
    const isFull = code === SQLITE.full || (error instanceof Error && "code" in error && error.code === "ENOSPC")
    if (isFull) {
      return new OrangeboxError("STORE_FULL", {
        what: "the disk is full, so the batch was not taken",
        where: this.files.folder,
        next: "Free some space or prune; the journals are kept and read again",
        cause: error,
      })
    }
    if (code === SQLITE.ioError) {
      // After a failed sync the kernel may call the next one a success without having written: this connection is not to be trusted.
      this.#reconnect()
      return new OrangeboxError("STORE_IO", {
        what: "the disk failed under the database, so the batch was not taken",
        where: this.files.database,
        next: "The journals are kept; look at the disk",
        cause: error,
      })
    }
    if (isCorrupt(error)) return markDamage(this.files, error)
    return error
  }

  #reconnect(): void {
    const old = this.connection
    try {
      old.storage.close()
      old.database.close()
    } catch {
      // It is being thrown away.
    }
    this.connection = connectForWriting(this.files, this.#options.prices)
  }

  /** So that the database file alone is the store, for a user who copies it. Where that fails, the WAL stays beside it, as good. */
  #foldWalWhole(): void {
    try {
      this.connection.database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get()
    } catch {}
  }

  /**
   * Writes the database anew: what was deleted or replaced stays readable in unused parts of its pages until then, the search index keeps
   * terms of deleted texts until its segments are merged, and the WAL keeps everything until it is cut. Says what stood in the way.
   */
  #sweep(): string | undefined {
    const { database } = this.connection
    try {
      database.exec("INSERT INTO search_index (search_index) VALUES ('optimize')")
      // A copy of the whole database may not fit into memory.
      database.exec("PRAGMA temp_store = FILE")
      database.exec("VACUUM")
      const folded = database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get()
      return Number(folded?.["busy"]) === 0 ? undefined : "another process is reading, so the WAL could not be cut"
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    } finally {
      database.exec("PRAGMA temp_store = MEMORY")
    }
  }

  #foldWal(): void {
    const size = statSync(`${this.files.database}-wal`, { throwIfNoEntry: false })?.size ?? 0
    if (size < WAL_BYTES) return
    // Busy is an answer here, not an error: a reader still needs the WAL, and the next commit tries again.
    this.connection.database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get()
  }
}
