import { createHash } from "node:crypto"
import { renameSync } from "node:fs"
import { hostname } from "node:os"
import { join } from "node:path"
import { catchUp } from "@orangebox/collector"
import { InputError, OrangeboxError } from "@orangebox/contract"
import { openDataFolder } from "@orangebox/journal"
import {
  acquireStoreLock,
  bindToCluster,
  boundCluster,
  ClickhouseStore,
  hasEmbeddedStore,
  openStore,
  reachCluster,
} from "@orangebox/store"
import { dataPath, type ReaderOptions, storeSettings } from "../open/data-folder.js"
import { type CopyReport, copyStore } from "./copy-store.js"

/** Makes the tables in the configured cluster, or brings them to this build's schema. */
export async function migrateCluster({
  data,
}: ReaderOptions): Promise<{ from: number; to: number; url: string; database: string }> {
  const { store, settings } = clusterStore(dataPath(data))
  try {
    return { ...(await store.migrate()), url: settings.url, database: settings.database }
  } finally {
    await store.close()
  }
}

/** Copies the data folder's own store into the configured cluster; only when all of it is there, the folder is switched over. */
export async function copyToCluster({
  data,
  onProgress,
}: ReaderOptions): Promise<CopyReport & { readonly setAside: string | null }> {
  const folder = openDataFolder(dataPath(data))
  if (!hasEmbeddedStore(folder.storeFolder) || boundCluster(folder.storeFolder) !== undefined) {
    throw new InputError("NOTHING_TO_COPY", {
      what: "this data folder has no store of its own that could be copied",
      where: folder.storeFolder,
      next: "Commands read the cluster by themselves where the setting store holds",
    })
  }
  const { store: to, settings, collectorId } = clusterStore(folder.path)
  const lock = acquireStoreLock(folder.storeFolder)
  try {
    if (!lock.isHeld) {
      throw new OrangeboxError("COLLECTOR_RUNNING", {
        what: "a collector is at work on this store",
        where: folder.storeFolder,
        next: "Stop it first: what it takes in meanwhile would not be copied",
      })
    }
    const from = openStore(folder.storeFolder).store
    let report: CopyReport
    try {
      await catchUp({ dataFolder: folder.path, store: from })
      report = await copyStore(from, to, onProgress)
      if (report.different.length > 0) return { ...report, setAside: null }
      // Its journals are in the cluster now, up to where they were read.
      await to.commit({ offsets: [...(await from.offsets())].map(([file, offset]) => ({ file, offset })) })
    } finally {
      await from.close()
    }
    return { ...report, setAside: switchOver(folder.storeFolder, settings, collectorId) }
  } finally {
    if (lock.isHeld) lock.release()
    await to.close()
  }
}

function switchOver(storeFolder: string, settings: StoreSettings, collectorId: string): string {
  bindToCluster(storeFolder, settings, collectorId)
  const aside = join(storeFolder, "trace.db.copied")
  for (const suffix of ["", "-wal", "-shm"]) {
    try {
      renameSync(join(storeFolder, `trace.db${suffix}`), `${aside}${suffix}`)
    } catch (error) {
      if (suffix === "" || (error as NodeJS.ErrnoException).code !== "ENOENT") throw error
    }
  }
  return aside
}

type StoreSettings = Parameters<typeof bindToCluster>[1]

function clusterStore(dataFolder: string): { store: ClickhouseStore; settings: StoreSettings; collectorId: string } {
  const settings = storeSettings(dataFolder)
  if (settings === undefined) {
    throw new InputError("NO_CLUSTER", {
      what: "no cluster is configured for this data folder",
      where: dataFolder,
      next: 'Say which in your configuration: "store": { "engine": "clickhouse", "url": "https://host:8443", "database": "orangebox" }',
    })
  }
  const bound = boundCluster(openDataFolder(dataFolder).storeFolder)
  const reached =
    bound ??
    reachCluster(settings, `${hostname()}-${createHash("sha256").update(dataFolder).digest("hex").slice(0, 8)}`)
  return { store: new ClickhouseStore(reached), settings, collectorId: reached.collectorId }
}
