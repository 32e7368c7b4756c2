import type { PriceTable } from "@orangebox/dialects"
import { boundCluster } from "./clickhouse/bound-folder.js"
import { ClickhouseReader } from "./clickhouse/clickhouse-reader.js"
import { ClickhouseStore } from "./clickhouse/clickhouse-store.js"
import type { ClickhouseSettings } from "./clickhouse/settings.js"
import { openReadySqliteStore, openSqliteReader } from "./sqlite/open-sqlite-reader.js"
import { openSqliteStore } from "./sqlite/open-sqlite-store.js"
import type { IdDigest, TraceReader, TraceStore } from "./trace-store.js"

/** Where recordings are: in an embedded store in this folder, or in a cluster that the folder only keeps a lock and a name for. */
export interface StorePlace {
  readonly folder: string
  readonly clickhouse?: ClickhouseSettings
}

export interface OpenStoreOptions {
  readonly now?: () => number
  /** How long a commit is tried again while another process holds the database. */
  readonly busyMs?: number
  /** What the money in roll-ups is counted by; left out, the built-in table. */
  readonly prices?: PriceTable
}

export interface OpenedStore {
  readonly store: TraceStore
  /** True when there was no database in the folder before: journals are read from their beginning. */
  readonly isFresh: boolean
  /** Where a damaged database was put, with what was wrong; the caller tells the user and reads the journals again. */
  readonly setAside?: { readonly path: string; readonly reason: string }
}

/**
 * Opens a store for writing, creating what is not there. Take the lock of its folder first (`acquireStoreLock`). A path alone says itself where its recordings are.
 * A cluster is first spoken to by what is asked of it.
 *
 *     const { store, setAside } = openStore(".orangebox/store")
 */
export function openStore(place: string | StorePlace, options: OpenStoreOptions = {}): OpenedStore {
  const { folder, clickhouse } = placeOf(place)
  if (clickhouse === undefined) return openSqliteStore(folder, options)
  return { store: new ClickhouseStore(clickhouse, options), isFresh: false }
}

/**
 * Opens a store for reading only, beside the collectors that write to it. With `digestOf`, an id that recorders kept no more of than its
 * digest is found by the id itself.
 */
export function openStoreReader(place: string | StorePlace, digestOf?: IdDigest): TraceReader {
  const { folder, clickhouse } = placeOf(place)
  return clickhouse === undefined ? openSqliteReader(folder, digestOf) : new ClickhouseReader(clickhouse, digestOf)
}

/** The same where nothing has to be done to the store before it is read. Else undefined. */
export function openReadyStore(place: string | StorePlace): TraceReader | undefined {
  const { folder, clickhouse } = placeOf(place)
  return clickhouse === undefined ? openReadySqliteStore(folder) : new ClickhouseReader(clickhouse)
}

/** A folder alone says itself where its recordings are. */
function placeOf(place: string | StorePlace): StorePlace {
  if (typeof place !== "string") return place
  const clickhouse = boundCluster(place)
  return clickhouse === undefined ? { folder: place } : { folder: place, clickhouse }
}
