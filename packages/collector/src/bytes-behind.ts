import { basename } from "node:path"
import { listJournals } from "@orangebox/journal"
import type { TraceReader } from "@orangebox/store"
import { Bookmarks } from "./bookmarks.js"

/** A journal and how long it was when somebody looked. */
export interface JournalSize {
  readonly name: string
  readonly size: number
}

export const journalSizes = (journalFolder: string): JournalSize[] =>
  listJournals(journalFolder).map((file) => ({ name: basename(file.path), size: file.byteSize }))

/** Bytes of journals that are not in the store: what a reader's answer is behind by. */
export async function bytesBehind(
  journals: readonly JournalSize[],
  reader: Pick<TraceReader, "offsets"> | undefined,
): Promise<number> {
  const bookmarks = new Bookmarks((await reader?.offsets()) ?? new Map())
  return journals.reduce((sum, { name, size }) => sum + Math.max(0, size - bookmarks.furthestOffsetOf(name)), 0)
}
