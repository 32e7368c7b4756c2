import { closeSync, existsSync, readSync } from "node:fs"
import { basename, join } from "node:path"
import { OrangeboxError } from "@orangebox/contract"
import { type JournalFile, listJournals, openPrivateFile } from "@orangebox/journal"
import {
  acquireStoreLock,
  type LockHolder,
  openStoreReader,
  type RecordedProblem,
  type StoreStatus,
  type TraceReader,
  type WriterRow,
} from "@orangebox/store"
import { Bookmarks } from "./bookmarks.js"
import type { KeptWindow } from "./finished-journals.js"
import { type JournalHoldings, journalHoldings } from "./journal-holdings.js"

export interface CollectorStatus {
  readonly lagBytes: number
  /** Whole lines that are not in the store yet. */
  readonly lagRecords: number
  /** False when there was too much to count and the rest was estimated from what was counted. */
  readonly isLagExact: boolean
  readonly files: number
  /** Journals and the bodies beside them. */
  readonly fileBytes: number
  /** Files that are wholly in the store and kept for a while. */
  readonly committedFiles: number
  /** What all of it still holds, and until when. */
  readonly journals: JournalHoldings
  readonly writers: readonly WriterRow[]
  /** The latest ones that readers of journals met. */
  readonly problems: readonly RecordedProblem[]
  /** Undefined when no collector is at work. */
  readonly lockHolder: LockHolder | undefined
  /** Undefined when there is no store yet. */
  readonly store: StoreStatus | undefined
}

/** How far the store is behind the journals, and who is working on it. Changes nothing. */
export async function collectorStatus(
  dataFolder: string,
  { keep }: { readonly keep?: KeptWindow } = {},
): Promise<CollectorStatus> {
  const storeFolder = join(dataFolder, "store")
  const journalFolder = join(dataFolder, "journal")
  const files = listJournals(journalFolder)
  const reader = tryToRead(storeFolder)
  try {
    const offsets = (await reader?.offsets()) ?? new Map()
    const writers = (await reader?.writers()) ?? []
    return {
      ...countLag(files, new Bookmarks(offsets)),
      files: files.length,
      fileBytes: files.reduce((sum, file) => sum + file.byteSize + file.sidecarByteSize, 0),
      committedFiles: files.filter((file) => file.isCommitted).length,
      journals: journalHoldings(journalFolder, offsets, writers, keep),
      writers,
      problems: (await reader?.problems({ limit: 100 })) ?? [],
      lockHolder: lockHolderOf(storeFolder),
      store: await reader?.status(),
    }
  } finally {
    await reader?.close()
  }
}

function tryToRead(storeFolder: string): TraceReader | undefined {
  try {
    return openStoreReader(storeFolder)
  } catch (error) {
    if (error instanceof OrangeboxError && error.code === "STORE_MISSING") return undefined
    throw error
  }
}

/** Whether the kernel's lock is free can only be seen by taking it, for a moment. */
function lockHolderOf(storeFolder: string): LockHolder | undefined {
  if (!existsSync(storeFolder)) return undefined
  const lock = acquireStoreLock(storeFolder)
  if (!lock.isHeld) return lock.holder ?? { pid: 0, sinceMs: 0, host: "unknown" }
  lock.release()
  return undefined
}

const COUNTED_BYTES = 64 * 1024 * 1024

function countLag(
  files: readonly JournalFile[],
  bookmarks: Bookmarks,
): Pick<CollectorStatus, "lagBytes" | "lagRecords" | "isLagExact"> {
  let lagBytes = 0
  let lines = 0
  let counted = 0
  for (const file of files) {
    const from = bookmarks.furthestOffsetOf(basename(file.path))
    const behind = Math.max(0, file.byteSize - from)
    lagBytes += behind
    if (behind === 0 || counted >= COUNTED_BYTES) continue
    const part = Math.min(behind, COUNTED_BYTES - counted)
    lines += countLines(file.path, from, part)
    counted += part
  }
  const isLagExact = counted === lagBytes
  return { lagBytes, lagRecords: isLagExact ? lines : Math.round((lines * lagBytes) / counted), isLagExact }
}

function countLines(path: string, from: number, length: number): number {
  const buffer = Buffer.allocUnsafe(256 * 1024)
  let lines = 0
  try {
    const fd = openPrivateFile(path, "read")
    try {
      for (let done = 0; done < length; ) {
        const read = readSync(fd, buffer, 0, Math.min(buffer.length, length - done), from + done)
        if (read === 0) break
        for (let at = buffer.indexOf(10); at !== -1 && at < read; at = buffer.indexOf(10, at + 1)) lines++
        done += read
      }
    } finally {
      closeSync(fd)
    }
  } catch {
    // Gone since it was listed: then there is nothing to be behind by.
  }
  return lines
}
