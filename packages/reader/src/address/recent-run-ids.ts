import { join, resolve } from "node:path"
import { findDataFolder } from "@orangebox/journal"
import { openStoreReader } from "@orangebox/store"

const MOST = 50

/** Without catching up: whoever waits for a completion waits at every key. No store, no ids, no complaint. */
export async function recentRunIds(data: string | undefined): Promise<string[]> {
  try {
    const folder = data === undefined ? findDataFolder() : resolve(data)
    const store = openStoreReader(join(folder, "store"))
    try {
      return (await store.listRuns({ limit: MOST })).rows.map(({ runId }) => runId)
    } finally {
      await store.close()
    }
  } catch {
    return []
  }
}
