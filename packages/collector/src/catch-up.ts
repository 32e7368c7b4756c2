import { existsSync } from "node:fs"
import { basename } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import type { OrangeboxError } from "@orangebox/contract"
import { type DataFolder, listJournals, openDataFolder } from "@orangebox/journal"
import {
  isOnReadOnlyDisk,
  type LockHolder,
  type OpenedStore,
  type OpenStoreOptions,
  openStoreReader,
  type TraceReader,
  type TraceStore,
} from "@orangebox/store"
import { Bookmarks } from "./bookmarks.js"
import { Collection, type PassReport } from "./collection.js"
import { DEFAULT_KEPT_WINDOW, type KeptWindow } from "./finished-journals.js"
import { tryToHold } from "./held-store.js"
import { emptyTally, type Tally } from "./intake.js"
import { isDamage, passingFailure } from "./store-failure.js"

export interface CatchUpOptions {
  readonly dataFolder: string
  /** A store the caller has open for writing, and whose lock it holds. */
  readonly store?: TraceStore
  /** How long to wait for another collector to come as far as the journals were when this was called. Default 2000. */
  readonly waitMs?: number
  readonly keep?: KeptWindow
  /** What the money in roll-ups is counted by; left out, the built-in table. */
  readonly prices?: NonNullable<OpenStoreOptions["prices"]>
  readonly onProgress?: (done: number, total: number) => void
}

export interface CatchUpReport extends Readonly<Tally> {
  readonly filesRead: number
  readonly filesRemoved: number
  readonly filesDeferred: number
  readonly crashedRuns: readonly string[]
  /** Bytes of journal that are not in the store: what a reader's answer is behind by. */
  readonly behindBytes: number
  /** Another collector is at work on the store. */
  readonly heldBy?: LockHolder | undefined
  /** Why the store could not take everything. The journals are kept. */
  readonly failure?: OrangeboxError
  /** Journals that could not be read, and why: they are not in this answer. */
  readonly unreadable?: readonly OrangeboxError[]
  /** The database was damaged and put aside; what the journals still hold was read into a fresh one. */
  readonly setAside?: NonNullable<OpenedStore["setAside"]>
  /** The store is on a disk that cannot be written: it stays as it is. */
  readonly isReadOnly?: true
}

/**
 * Brings the store up to what the journals hold. Every reading command calls this first, so a collector need not be kept running.
 *
 *     const { behindBytes } = await catchUp({ dataFolder: ".orangebox" })
 */
export async function catchUp(options: CatchUpOptions): Promise<CatchUpReport> {
  if (!existsSync(options.dataFolder)) return NOTHING
  const folder = openDataFolder(options.dataFolder)
  if (options.store !== undefined) return collect(options.store, folder, options)

  const targets = listJournals(folder.journalFolder).map((file) => ({ name: basename(file.path), size: file.byteSize }))
  const deadline = performance.now() + (options.waitMs ?? DEFAULT_WAIT_MS)
  let reader: TraceReader | undefined
  let wasDamaged = false
  try {
    if (isOnReadOnlyDisk(folder.storeFolder)) {
      reader = openStoreReader(folder.storeFolder)
      return { ...NOTHING, behindBytes: await missingBytes(targets, reader), isReadOnly: true }
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
      const behindBytes = await missingBytes(targets, reader)
      if (behindBytes === 0) return { ...NOTHING, heldBy: held.heldBy }
      if (performance.now() >= deadline) return { ...NOTHING, behindBytes, heldBy: held.heldBy }
      await sleep(POLL_MS)
    }
  } finally {
    await reader?.close()
  }
}

const DEFAULT_WAIT_MS = 2000
const POLL_MS = 50

const NOTHING: CatchUpReport = Object.freeze({
  ...emptyTally(),
  filesRead: 0,
  filesRemoved: 0,
  filesDeferred: 0,
  crashedRuns: [],
  behindBytes: 0,
})

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
  const sum = { ...NOTHING, crashedRuns: reports.flatMap((report) => report.crashedRuns) }
  for (const { isSettled: _, crashedRuns: __, filesDeferred, ...report } of reports) {
    for (const [name, count] of Object.entries(report)) sum[name as keyof typeof report] += count
    sum.filesDeferred = filesDeferred
  }
  return sum
}

async function missingBytes(
  targets: readonly { name: string; size: number }[],
  reader: TraceReader | undefined,
): Promise<number> {
  const bookmarks = new Bookmarks((await reader?.offsets()) ?? new Map())
  return targets.reduce((sum, { name, size }) => sum + Math.max(0, size - bookmarks.furthestOffsetOf(name)), 0)
}

/** Undefined while the other collector has not made a store yet. */
function tryToRead(storeFolder: string): TraceReader | undefined {
  try {
    return openStoreReader(storeFolder)
  } catch {
    return undefined
  }
}
