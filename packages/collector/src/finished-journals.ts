import { lstatSync, readdirSync, rmSync } from "node:fs"
import { basename, join } from "node:path"
import { type JournalFile, markCommitted } from "@orangebox/journal"
import { failpoint } from "@orangebox/store"
import type { Bookmarks } from "./bookmarks.js"
import { isSuperseded } from "./drain-file.js"
import { hasEnded, type KnownWriters } from "./known-writers.js"

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
    readonly writers: KnownWriters
    readonly ownerOf: (file: JournalFile) => string
  },
  window: KeptWindow,
  nowMs: number,
): number {
  const finished = files.filter((file) => isFinished(file, context))
  const filesLeft = countByReserve(files)
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
    const left = filesLeft.get(file.reservePath)! - 1
    filesLeft.set(file.reservePath, left)
    failpoint("tidy:before-unlink")
    // The lines go first: bodies without lines are rubbish that is swept up, lines without their bodies would be a loss to report.
    for (const path of [file.path, file.sidecarPath, markPath(file)]) rmSync(path, { force: true })
    if (left === 0) rmSync(file.reservePath, { force: true })
    failpoint("tidy:after-unlink")
    bytes -= file.byteSize + file.sidecarByteSize
    count--
    removed++
  }
  return removed
}

/** How many files of each writer there are: its reserve goes with the last. */
function countByReserve(files: readonly JournalFile[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { reservePath } of files) counts.set(reservePath, (counts.get(reservePath) ?? 0) + 1)
  return counts
}

const markPath = (file: JournalFile): string => file.path.replace(/\.ndjson$/, ".committed")

/** Nothing more will be written to it, and everything in it is in the store. */
export function isFinished(
  file: JournalFile,
  {
    bookmarks,
    writers,
    ownerOf,
  }: { bookmarks: Bookmarks; writers: KnownWriters; ownerOf: (file: JournalFile) => string },
): boolean {
  const owner = writers.get(ownerOf(file))
  const isLeft = isSuperseded(file, writers) || (owner !== undefined && hasEnded(owner))
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
const committedAgeMs = (file: JournalFile, nowMs: number): number => nowMs - (committedAtMs(file) ?? nowMs)

/** When it was marked; undefined where that is still to come. */
export function committedAtMs(file: JournalFile): number | undefined {
  try {
    return lstatSync(markPath(file)).mtimeMs
  } catch {
    return undefined
  }
}

/** Deletes what a killed deletion left: bodies and marks whose journal is gone, reserves of writers that have ended. */
export function sweepLeftovers(folder: string, writers: KnownWriters): number {
  const names = new Set(namesIn(folder))
  const stems = new Set([...names].flatMap((name) => LINES.exec(name)?.[1] ?? []))
  const leftovers = [...names].filter((name) => {
    const part = PART.exec(name)
    if (part !== null) return !names.has(`${part[1]}.${part[3]}.ndjson`)
    const reserve = RESERVE.exec(name)
    if (reserve === null || stems.has(reserve[1]!)) return false
    const owner = writers.get(reserve[2]!)
    return owner !== undefined && hasEnded(owner)
  })
  for (const name of leftovers) rmSync(join(folder, name), { force: true })
  return leftovers.length
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    // The folder was deleted; the next writer makes it anew.
    return []
  }
}

const STEM = String.raw`\d{8}T\d{9}Z-\d+-([0-9a-f]{32})`
const LINES = new RegExp(`^(${STEM})\\.\\d{1,9}\\.ndjson$`)
const PART = new RegExp(`^(${STEM})\\.(\\d{1,9})\\.(?:bodies|committed)$`)
const RESERVE = new RegExp(`^(${STEM})\\.reserve$`)
