import { BodyStorageReader } from "./body-storage.js"
import type { SqliteDatabase } from "./driver.js"
import { EventReader } from "./event-reader.js"
import { openDatabase, openDatabaseForReading } from "./open-database.js"
import { checkNotNewer, migrate } from "./schema.js"
import type { StoreFiles } from "./store-files.js"

/** How long SQLite itself waits for a lock, blocking; longer waits are ours, with the event loop free in between. */
const BUSY_MS = 250
const WAL_LIMIT_BYTES = 64 * 1024 * 1024

/**
 * `synchronous = FULL`: a commit is on disk when it returns, so the journal lines it covers may be deleted right after it. A collector
 * commits a few times a second, and one sync each is cheap; with NORMAL the journals would have to outlive a later checkpoint.
 */
export function openForWriting(path: string): SqliteDatabase {
  const database = openDatabase(path)
  try {
    database.exec(`PRAGMA busy_timeout = ${BUSY_MS}`)
    checkNotNewer(database, path)
    database.exec("PRAGMA journal_mode = WAL")
    database.exec("PRAGMA synchronous = FULL")
    database.exec(`PRAGMA journal_size_limit = ${WAL_LIMIT_BYTES}`)
    database.exec("PRAGMA cache_size = -16384")
    database.exec("PRAGMA temp_store = MEMORY")
    database.exec("PRAGMA trusted_schema = OFF")
    migrate(database, path)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

export function openForReading(path: string): SqliteDatabase {
  const database = openDatabaseForReading(path)
  try {
    database.exec(`PRAGMA busy_timeout = ${BUSY_MS * 8}`)
    database.exec("PRAGMA query_only = ON")
    database.exec("PRAGMA trusted_schema = OFF")
    checkNotNewer(database, path)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

/** A database with what reads bodies and events out of it. */
export interface ReadConnection {
  readonly database: SqliteDatabase
  readonly storage: BodyStorageReader
  readonly reader: EventReader
}

export function connectForReading(files: StoreFiles): ReadConnection {
  const database = openForReading(files.database)
  const storage = new BodyStorageReader(database, files.packs)
  return { database, storage, reader: new EventReader(database, storage) }
}
