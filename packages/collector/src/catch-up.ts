import { existsSync } from "node:fs"
import { type DataFolder, openDataFolder } from "@orangebox/journal"
import { isOnReadOnlyDisk, openReadyStore } from "@orangebox/store"
import { type CatchUpOptions, type CatchUpReport, NOTHING_TO_DO } from "./catch-up-report.js"
import { DEFAULT_KEPT_WINDOW, type KeptWindow } from "./finished-journals.js"
import { areJournalsSettled } from "./settled-journals.js"

/**
 * Brings the store up to what the journals hold. Every reading command calls this first, so a collector need not be kept running.
 *
 *     const { behindBytes } = await catchUp({ dataFolder: ".orangebox" })
 */
export async function catchUp(options: CatchUpOptions): Promise<CatchUpReport> {
  if (!existsSync(options.dataFolder)) return NOTHING_TO_DO
  const folder = openDataFolder(options.dataFolder)
  if (options.store === undefined && (await isUpToDate(folder, options.keep ?? DEFAULT_KEPT_WINDOW)))
    return NOTHING_TO_DO
  // Loaded only where there is work: most commands ask about runs that were read long ago, and taking in lines needs half of our code.
  const { collectJournals } = await import("./collect-journals.js")
  return collectJournals(folder, options)
}

/** Whether the store can be read as it is, without its lock and without a write. */
async function isUpToDate({ journalFolder, storeFolder }: DataFolder, keep: KeptWindow): Promise<boolean> {
  if (isOnReadOnlyDisk(storeFolder)) return false
  const reader = openReadyStore(storeFolder)
  try {
    return reader !== undefined && areJournalsSettled(journalFolder, await reader.offsets(), keep, Date.now())
  } catch {
    return false
  } finally {
    await reader?.close()
  }
}
