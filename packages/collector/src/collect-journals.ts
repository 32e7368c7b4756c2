import { setTimeout as sleep } from "node:timers/promises"
import type { DataFolder } from "@orangebox/journal"
import { isOnReadOnlyDisk, openStoreReader, type TraceReader, type TraceStore } from "@orangebox/store"
import { bytesBehind, journalSizes } from "./bytes-behind.js"
import { type CatchUpOptions, type CatchUpReport, NOTHING_TO_DO } from "./catch-up-report.js"
import { Collection, type PassReport } from "./collection.js"
import { DEFAULT_KEPT_WINDOW } from "./finished-journals.js"
import { tryToHold } from "./held-store.js"
import { isDamage, passingFailure } from "./store-failure.js"

/** Reads what the journals hold into the store: with its lock, or by the one who has it. */
export async function collectJournals(folder: DataFolder, options: CatchUpOptions): Promise<CatchUpReport> {
  if (options.store !== undefined) return collect(options.store, folder, options)

  const targets = journalSizes(folder.journalFolder)
  const deadline = performance.now() + (options.waitMs ?? DEFAULT_WAIT_MS)
  let reader: TraceReader | undefined
  let wasDamaged = false
  try {
    if (isOnReadOnlyDisk(folder.storeFolder)) {
      reader = openStoreReader(folder.storeFolder)
      return { ...NOTHING_TO_DO, behindBytes: await bytesBehind(targets, reader), isReadOnly: true }
    }
    for (;;) {
      const held = tryToHold(folder.storeFolder, options)
      if ("store" in held) {
        await reader?.close()
        reader = undefined
        try {
          const report = await collect(held.store, folder, options)
          if (isDamage(report.failure) && !wasDamaged) {
            wasDamaged = true
            continue
          }
          return held.setAside === undefined ? report : { ...report, setAside: held.setAside }
        } finally {
          await held.release()
        }
      }
      reader ??= tryToRead(folder.storeFolder)
      const behindBytes = await bytesBehind(targets, reader)
      if (behindBytes === 0) return { ...NOTHING_TO_DO, heldBy: held.heldBy }
      if (performance.now() >= deadline) return { ...NOTHING_TO_DO, behindBytes, heldBy: held.heldBy }
      await sleep(POLL_MS)
    }
  } finally {
    await reader?.close()
  }
}

const DEFAULT_WAIT_MS = 2000
const POLL_MS = 50

async function collect(store: TraceStore, folder: DataFolder, options: CatchUpOptions): Promise<CatchUpReport> {
  const collection = await Collection.open({
    store,
    journalFolder: folder.journalFolder,
    keep: options.keep ?? DEFAULT_KEPT_WINDOW,
    ...(options.onProgress === undefined ? {} : { onProgress: options.onProgress }),
  })
  const reports: PassReport[] = []
  try {
    for await (const report of collection.settle()) reports.push(report)
  } catch (error) {
    const failure = passingFailure(error)
    if (failure === undefined) throw error
    return { ...sumOf(reports), behindBytes: collection.behindBytes(), unreadable: collection.unreadable(), failure }
  }
  collection.sweep()
  return { ...sumOf(reports), behindBytes: collection.behindBytes(), unreadable: collection.unreadable() }
}

function sumOf(reports: readonly PassReport[]): CatchUpReport {
  const sum = { ...NOTHING_TO_DO, crashedRuns: reports.flatMap((report) => report.crashedRuns) }
  for (const { isSettled: _, crashedRuns: __, filesDeferred, ...report } of reports) {
    for (const [name, count] of Object.entries(report)) sum[name as keyof typeof report] += count
    sum.filesDeferred = filesDeferred
  }
  return sum
}

/** Undefined while the other collector has not made a store yet. */
function tryToRead(storeFolder: string): TraceReader | undefined {
  try {
    return openStoreReader(storeFolder)
  } catch {
    return undefined
  }
}
