import { lstatSync, readdirSync } from "node:fs"
import { basename, join } from "node:path"
import { type JournalFile, listJournals } from "@orangebox/journal"
import type { WriterRow } from "@orangebox/store"
import { Bookmarks } from "./bookmarks.js"
import { committedAtMs, DEFAULT_KEPT_WINDOW, isFinished, type KeptWindow } from "./finished-journals.js"
import { KnownWriters } from "./known-writers.js"

/** How much of something is on disk. */
export interface Holding {
  readonly files: number
  readonly bytes: number
}

/** What the journal folder still holds, and why. */
export interface JournalHoldings extends Holding {
  /** Wholly in the store: a second copy that goes by itself at `untilMs` (the last of it), or now with `prune --journals`. */
  readonly kept: Holding & { readonly untilMs: number | null }
  /** A process may still append to it. It is kept until that process ends. */
  readonly inUse: Holding
  /** Not in the store yet, or written for a newer build. It is kept until it is read. */
  readonly unread: Holding
  /** Beside the journals: reserves, spools, marks. */
  readonly others: Holding
}

export function journalHoldings(
  journalFolder: string,
  offsets: ReadonlyMap<string, number>,
  writerRows: readonly WriterRow[],
  window: KeptWindow = DEFAULT_KEPT_WINDOW,
): JournalHoldings {
  const context = {
    bookmarks: new Bookmarks(offsets),
    writers: new KnownWriters(writerRows),
    ownerOf: (file: JournalFile) => file.writerId,
  }
  const files = listJournals(journalFolder)
  const isRead = (file: JournalFile): boolean =>
    context.bookmarks.furthestOffsetOf(basename(file.path)) >= file.byteSize &&
    !context.bookmarks.awaitsNewerBuild(basename(file.path))
  const kept = files.filter((file) => isFinished(file, context))
  const left = files.filter((file) => !kept.includes(file))
  const inJournals = new Set(files.flatMap((file) => [basename(file.path), basename(file.sidecarPath)]))
  const others = namesIn(journalFolder).filter((name) => !inJournals.has(name))
  const otherSizes = others.map((name) => sizeOf(join(journalFolder, name)))
  const untilMs = kept.map((file) => (committedAtMs(file) ?? Date.now()) + window.ageMs)
  const journals = holdingOf(files)
  const beside = { files: others.length, bytes: otherSizes.reduce((sum, size) => sum + size, 0) }
  return {
    files: journals.files + beside.files,
    bytes: journals.bytes + beside.bytes,
    kept: { ...holdingOf(kept), untilMs: untilMs.length === 0 ? null : Math.max(...untilMs) },
    inUse: holdingOf(left.filter(isRead)),
    unread: holdingOf(left.filter((file) => !isRead(file))),
    others: beside,
  }
}

function holdingOf(files: readonly JournalFile[]): Holding {
  return { files: files.length, bytes: files.reduce((sum, file) => sum + file.byteSize + file.sidecarByteSize, 0) }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    // Nothing was recorded yet.
    return []
  }
}

function sizeOf(path: string): number {
  try {
    const found = lstatSync(path)
    return found.isFile() ? found.size : 0
  } catch {
    return 0
  }
}
