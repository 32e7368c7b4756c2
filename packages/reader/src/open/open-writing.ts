import { catchUp } from "@orangebox/collector"
import { OrangeboxError } from "@orangebox/contract"
import type { DataFolder } from "@orangebox/journal"
import { isOnReadOnlyDisk, openStore, type TraceStore } from "@orangebox/store"
import { takeKeptImports } from "../import/kept-imports.js"
import type { ReaderOptions } from "./data-folder.js"
import { locateData } from "./data-folder.js"
import { standingRetention } from "./standing-retention.js"
import { waitForLock } from "./wait-for-lock.js"

/** The store for one writer alone, caught up first with its journals and with what was imported. */
export async function writeStore<T>(
  options: ReaderOptions,
  write: (store: TraceStore, folder: DataFolder) => Promise<T>,
): Promise<T> {
  const folder = locateData(options.data)
  if (isOnReadOnlyDisk(folder.storeFolder)) {
    throw new OrangeboxError("STORE_READ_ONLY", {
      what: "nothing can be written to the disk this store is on",
      where: folder.storeFolder,
      next: "Reading works; to change it, copy the data folder to a disk that can be written",
    })
  }
  const { keep } = standingRetention(folder.path)
  const lock = await waitForLock(folder.storeFolder, (who) => collectorRunning(folder.storeFolder, who))
  try {
    const { store } = openStore(folder.storeFolder)
    try {
      await catchUp({
        dataFolder: folder.path,
        store,
        keep,
        onProgress: (done, total) => options.onProgress?.(done, total, "reading journals"),
      })
      await takeKeptImports(store, folder.path, keep, options.onWarning ?? (() => {}))
      return await write(store, folder)
    } finally {
      await store.close()
    }
  } finally {
    lock.release()
  }
}

const collectorRunning = (storeFolder: string, who: string): OrangeboxError =>
  new OrangeboxError("COLLECTOR_RUNNING", {
    what: `a collector is at work on this store: ${who}`,
    where: storeFolder,
    next: "Stop it first, or try again when it is done",
  })
