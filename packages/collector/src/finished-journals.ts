import { lstatSync, readdirSync } from "node:fs"
import { basename, join } from "node:path"
import { type JournalFile, markCommitted, removeJournal } from "@orangebox/journal"
import type { Bookmarks } from "./bookmarks.js"
import { isSuperseded } from "./drain-file.js"
import { failpoint } from "./failpoint.js"
import { hasEnded, type WriterBook } from "./writer-book.js"

/**
 * How long a journal stays after all of it is in the store: the second copy, should the database be damaged. Whatever comes first ends
 * it. `{ ageMs: 0 }` deletes each as soon as it is safe to.
 */
export interface KeptWindow {
  readonly ageMs: number
  readonly bytes: number
  readonly files: number
}

/** A day, half a gibibyte, a thousand files. */
export const DEFAULT_KEPT_WINDOW: KeptWindow = { ageMs: 24 * 3_600_000, bytes: 512 * 1024 * 1024, files: 1000 }

/**
 * Marks and later deletes journals that are finished *and* wholly in the store. A commit of the store is synced when it returns, so what
 * a bookmark covers survives a power cut. Nothing here is remembered: killed anywhere, the next pass finds the same files and goes on.
 */
export function tidyFinished(
  files: readonly JournalFile[],
  context: {
    readonly bookmarks: Bookmarks
    readonly book: WriterBook
    readonly ownerOf: (file: JournalFile) => string
  },
  window: KeptWindow,
  nowMs: number,
): number {
  const finished = files.filter((file) => isFinished(file, context))
  for (const file of finished) {
    if (file.isCommitted) continue
    failpoint("tidy:before-mark")
    markCommitted(file.path)
    failpoint("tidy:after-mark")
  }
  let bytes = finished.reduce((sum, file) => sum + file.byteSize + file.sidecarByteSize, 0)
  let count = finished.length
  let removed = 0
  for (const file of finished) {
    const isDue = bytes > window.bytes || count > window.files || committedAgeMs(file, nowMs) >= window.ageMs
    if (!isDue || !isWhollyRead(file, context.bookmarks)) continue
    failpoint("tidy:before-unlink")
    removeJournal(file.path)
    failpoint("tidy:after-unlink")
    bytes -= file.byteSize + file.sidecarByteSize
    count--
    removed++
  }
  return removed
}

/** Nothing more will be written to it, and everything in it is in the store. */
function isFinished(
  file: JournalFile,
  { bookmarks, book, ownerOf }: { bookmarks: Bookmarks; book: WriterBook; ownerOf: (file: JournalFile) => string },
): boolean {
  const owner = book.get(ownerOf(file))
  const isLeft = isSuperseded(file, book) || (owner !== undefined && hasEnded(owner))
  return isLeft && isWhollyRead(file, bookmarks) && !bookmarks.awaitsNewerBuild(basename(file.path))
}

/** Looked at afresh: between the listing and now a writer may have added its last line. */
function isWhollyRead(file: JournalFile, bookmarks: Bookmarks): boolean {
  const offset = bookmarks.latestOffsetOf(basename(file.path)) ?? 0
  return offset === file.byteSize && offset === sizeOf(file.path)
}

function sizeOf(path: string): number | undefined {
  try {
    return lstatSync(path).size
  } catch {
    return undefined
  }
}

/** Since it was marked. A mark from the future, left by a clock that jumped, is not old. */
function committedAgeMs(file: JournalFile, nowMs: number): number {
  try {
    return nowMs - lstatSync(file.path.replace(/\.ndjson$/, ".committed")).mtimeMs
  } catch {
    return 0
  }
}

/** Deletes what a killed deletion left: bodies and marks whose journal is gone, reserves of writers that have ended. */
export function sweepLeftovers(folder: string, book: WriterBook): number {
  const names = new Set(readdirSync(folder))
  const stems = new Set([...names].flatMap((name) => LINES.exec(name)?.[1] ?? []))
  let swept = 0
  for (const name of names) {
    const part = PART.exec(name)
    const reserve = RESERVE.exec(name)
    if (part !== null && !names.has(`${part[1]}.${part[3]}.ndjson`)) {
      removeJournal(join(folder, `${part[1]}.${part[3]}.ndjson`))
      swept++
    } else if (reserve !== null && !stems.has(reserve[1]!)) {
      const owner = book.get(reserve[2]!)
      if (owner === undefined || !hasEnded(owner)) continue
      removeJournal(join(folder, `${reserve[1]}.1.ndjson`))
      swept++
    }
  }
  return swept
}

const STEM = String.raw`\d{8}T\d{9}Z-\d+-([0-9a-f]{32})`
const LINES = new RegExp(`^(${STEM})\\.\\d{1,9}\\.ndjson$`)
const PART = new RegExp(`^(${STEM})\\.(\\d{1,9})\\.(?:bodies|committed)$`)
const RESERVE = new RegExp(`^(${STEM})\\.reserve$`)
