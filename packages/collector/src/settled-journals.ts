import { existsSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { type JournalFile, listJournals } from "@orangebox/journal"
import { Bookmarks } from "./bookmarks.js"
import { committedAtMs, type KeptWindow } from "./finished-journals.js"

/**
 * Whether a pass over the journals would change nothing: each is marked as finished, is in the store to its last byte and is not old enough
 * to go, and no process left a spool. A writer that may still write, or whose death is not on record, has a file without the mark.
 */
export function areJournalsSettled(
  journalFolder: string,
  offsets: ReadonlyMap<string, number>,
  keep: KeptWindow,
  nowMs: number,
): boolean {
  if (existsSync(join(dirname(journalFolder), "spool"))) return false
  const files = listJournals(journalFolder)
  const bookmarks = new Bookmarks(offsets)
  const bytes = files.reduce((sum, file) => sum + file.byteSize + file.sidecarByteSize, 0)
  return (
    files.length <= keep.files &&
    bytes <= keep.bytes &&
    files.every((file) => isInTheStore(file, bookmarks) && nowMs - (committedAtMs(file) ?? 0) < keep.ageMs)
  )
}

function isInTheStore({ path, byteSize, isCommitted }: JournalFile, bookmarks: Bookmarks): boolean {
  const name = basename(path)
  return isCommitted && bookmarks.latestOffsetOf(name) === byteSize && !bookmarks.awaitsNewerBuild(name)
}
