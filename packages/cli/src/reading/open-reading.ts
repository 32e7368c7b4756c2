import type { DataFolder } from "@orangebox/journal"
import { openStoreReader, type TraceReader } from "@orangebox/store"
import type { GlobalOptions, Session } from "../session.js"
import { locateData } from "./locate-data.js"

export interface Reading {
  readonly folder: DataFolder
  readonly store: TraceReader
  readonly freshness: { readonly behind_bytes: number }
}

export async function withReading<T>(
  _session: Session,
  options: GlobalOptions,
  read: (reading: Reading) => Promise<T>,
): Promise<T> {
  const folder = locateData(options.data)
  const store = openStoreReader(folder.storeFolder)
  try {
    return await read({ folder, store, freshness: { behind_bytes: 0 } })
  } finally {
    await store.close()
  }
}
