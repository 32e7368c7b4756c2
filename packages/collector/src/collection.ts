import { basename } from "node:path"
import type { OrangeboxError } from "@orangebox/contract"
import { type JournalFile, listJournals } from "@orangebox/journal"
import { failpoint, type TraceStore } from "@orangebox/store"
import { adoptSpools } from "./adopt-spools.js"
import { Bookmarks } from "./bookmarks.js"
import { closeWriters, type EndingWriter } from "./close-writers.js"
import { deriveCalls } from "./derive-calls.js"
import { type DrainContext, type DrainEnd, drainFile } from "./drain-file.js"
import { type KeptWindow, sweepLeftovers, tidyFinished } from "./finished-journals.js"
import { Intake } from "./intake.js"
import { hasEnded, KnownWriters, standingOf, type WriterEntry } from "./known-writers.js"
import { gapAt, problemOf, takeTornTail } from "./take-line.js"
import { emptyTally, type Tally } from "./tally.js"
import { reading, UnreadableFileError } from "./unreadable-file.js"

export interface CollectionOptions {
  readonly store: TraceStore
  readonly journalFolder: string
  readonly keep: KeptWindow
  /** Bytes of journal read so far in this pass, and how many there were when it began. */
  readonly onProgress?: (done: number, total: number) => void
}

export interface PassReport extends Readonly<Tally> {
  /** Files that had something new. */
  readonly filesRead: number
  readonly filesRemoved: number
  /** Could not be read now, for want of file descriptors or permission; they are tried again. */
  readonly filesDeferred: number
  /** Runs that were found to have been left open by a process that is gone. */
  readonly crashedRuns: readonly string[]
  /** False when another pass has something to do: a writer was seen for the first time, files were left out, one goes on behind a goodbye. */
  readonly isSettled: boolean
}

/**
 * One collector at work on one journal folder: the files, read pass by pass into the store. What it knows is a copy of what the store
 * holds; when a commit fails, drop it and open another.
 */
export class Collection {
  readonly #options: CollectionOptions
  readonly #bookmarks: Bookmarks
  readonly #writers: KnownWriters
  /** Whose file it is, where the first line says otherwise than the name. */
  readonly #owners = new Map<string, string>()
  /** Files of a newer format, and files that refuse to be read: said once. */
  readonly #setAside = new Set<string>()
  readonly #unreadable = new Map<string, UnreadableFileError>()
  /** Files that had unread bytes when they were last seen. */
  #unread = new Map<string, JournalFile>()
  #tidyAt = 0

  private constructor(options: CollectionOptions, bookmarks: Bookmarks, writers: KnownWriters) {
    this.#options = options
    this.#bookmarks = bookmarks
    this.#writers = writers
  }

  static async open(options: CollectionOptions): Promise<Collection> {
    const { store } = options
    return new Collection(options, new Bookmarks(await store.offsets()), new KnownWriters(await store.writers()))
  }

  /** Reads everything that is there now, puts ends on record, tidies up. Throws only when the store does. */
  async pass(): Promise<PassReport> {
    const { store, journalFolder } = this.#options
    const intake = new Intake(store, this.#bookmarks)
    const context = { store, bookmarks: this.#bookmarks, writers: this.#writers, intake }
    // First who is dead, then which files there are, then what is in them: so a dead writer's last line is always among what is read.
    this.#writers.judge()
    adoptSpools(journalFolder)
    const files = listed(journalFolder)
    if (files === undefined) return NOTHING_READ
    this.#declareVanished(files, intake)

    const writersBefore = this.#writers.size
    const { ends, incomplete, isShortOfDescriptors } = await this.#drainAll(files, context)
    for (const end of ends) this.#takeTornTail(end, intake)
    this.#updateStandings(intake)
    await intake.flush()
    await deriveCalls(intake.takeSilentCalls(), store, intake)
    failpoint("collect:drained")

    const crashedRuns = await closeWriters(this.#ending(files, ends, incomplete), context)
    const filesRemoved = intake.tally.commits > 0 || performance.now() >= this.#tidyAt ? this.#tidy(files) : 0
    this.#unread = new Map(
      files.filter((file) => this.#unreadBytes(file) > 0).map((file) => [basename(file.path), file]),
    )
    const isSettled =
      !isShortOfDescriptors &&
      this.#writers.size === writersBefore &&
      ends.every((end) => end.exit === undefined || end.exit.nextOffset >= end.file.byteSize)
    return {
      ...intake.tally,
      filesRead: ends.length,
      filesRemoved,
      filesDeferred: incomplete.size,
      crashedRuns,
      isSettled,
    }
  }

  /** Passes until nothing is left of what was there at the beginning. A writer at full speed does not keep it from ending. */
  async *settle(): AsyncGenerator<PassReport, void> {
    for (let passes = 0; passes < MOST_PASSES; passes++) {
      const report = await this.pass()
      yield report
      if (report.isSettled) return
    }
  }

  /** Bytes of journal that are there now and not in the store. */
  behindBytes(): number {
    return (listed(this.#options.journalFolder) ?? []).reduce((sum, file) => sum + this.#unreadBytes(file), 0)
  }

  /** What stood in the way of reading journals that are there. */
  unreadable(): readonly OrangeboxError[] {
    return [...this.#unreadable.values()]
  }

  /** Deletes what an interrupted deletion left behind. */
  sweep(): number {
    return sweepLeftovers(this.#options.journalFolder, this.#writers)
  }

  async #drainAll(
    files: readonly JournalFile[],
    context: DrainContext,
  ): Promise<{ ends: DrainEnd[]; incomplete: ReadonlySet<string>; isShortOfDescriptors: boolean }> {
    const news = files.filter((file) => this.#hasNews(file))
    const total = news.reduce((sum, file) => sum + this.#unreadBytes(file), 0)
    const ends: DrainEnd[] = []
    /** Writers of whom something could not be read, so that nothing is said about their end yet. */
    const incomplete = new Set<string>()
    let isShortOfDescriptors = false
    let done = 0
    for (const file of news) {
      const bytes = this.#unreadBytes(file)
      try {
        const end = isShortOfDescriptors ? undefined : await drainFile(file, context)
        if (end !== undefined) this.#note(end, ends)
      } catch (error) {
        if (!(error instanceof UnreadableFileError)) throw error
        isShortOfDescriptors = error.isOutOfDescriptors
        incomplete.add(this.#ownerOf(file))
        this.#complain(file, error, context.intake)
      }
      if (isShortOfDescriptors) incomplete.add(this.#ownerOf(file))
      done += bytes
      this.#options.onProgress?.(done, total)
    }
    return { ends, incomplete, isShortOfDescriptors }
  }

  #tidy(files: readonly JournalFile[]): number {
    this.#tidyAt = performance.now() + TIDY_EVERY_MS
    const context = {
      bookmarks: this.#bookmarks,
      writers: this.#writers,
      ownerOf: (file: JournalFile) => this.#ownerOf(file),
    }
    return tidyFinished(files, context, this.#options.keep, Date.now())
  }

  #hasNews(file: JournalFile): boolean {
    const name = basename(file.path)
    return !this.#setAside.has(name) && this.#bookmarks.latestOffsetOf(name) !== file.byteSize
  }

  #unreadBytes(file: JournalFile): number {
    return Math.max(0, file.byteSize - (this.#bookmarks.latestOffsetOf(basename(file.path)) ?? 0))
  }

  #ownerOf(file: JournalFile): string {
    return this.#owners.get(basename(file.path)) ?? file.writerId
  }

  #note(end: DrainEnd, ends: DrainEnd[]): void {
    ends.push(end)
    const name = basename(end.file.path)
    if (end.isOfNewerFormat) this.#setAside.add(name)
    if (end.writer.writerId !== end.file.writerId) this.#owners.set(name, end.writer.writerId)
  }

  /** A writer that went on elsewhere will not finish the line it left. Of a writer that may be alive, a torn line is only unfinished. */
  #takeTornTail(end: DrainEnd, { batch }: Intake): void {
    if (end.tornBytes === 0 || !(end.wasSuperseded || hasEnded(end.writer))) return
    const place = { file: basename(end.file.path), offset: end.offset, writerId: end.writer.writerId }
    takeTornTail(place, end.tornBytes, batch)
    batch.setOffset({ file: end.key, offset: end.offset + end.tornBytes })
  }

  #updateStandings({ batch }: Intake): void {
    const now = Date.now()
    for (const entry of this.#writers.living()) {
      const state = standingOf(entry, now)
      if (state === entry.state) continue
      entry.state = state
      batch.addWriter({ writerId: entry.writerId, state, lastSeenAtMs: entry.lastSeenAtMs })
    }
  }

  #ending(files: readonly JournalFile[], ends: readonly DrainEnd[], incomplete: ReadonlySet<string>): EndingWriter[] {
    const ending = new Map<WriterEntry, { exit: EndingWriter["exit"]; torn: DrainEnd[] }>()
    for (const entry of this.#writers.living()) {
      if (entry.liveness.state === "dead") ending.set(entry, { exit: undefined, torn: [] })
    }
    for (const entry of this.#writers.late()) ending.set(entry, { exit: undefined, torn: [] })
    for (const end of ends) {
      if (end.exit !== undefined) ending.set(end.writer, { exit: { ...end, exit: end.exit }, torn: [] })
    }
    for (const entry of ending.keys()) if (incomplete.has(entry.writerId)) ending.delete(entry)
    for (const end of ends) {
      const isTaken = end.wasSuperseded || hasEnded(end.writer)
      if (end.tornBytes > 0 && !isTaken) ending.get(end.writer)?.torn.push(end)
    }
    const lastFiles = new Map<string, JournalFile>()
    if (ending.size > 0) for (const file of files) lastFiles.set(this.#ownerOf(file), file)
    return [...ending].map(([writer, { exit, torn }]) => ({
      writer,
      exit,
      torn,
      lastFile: lastFiles.get(writer.writerId),
    }))
  }

  #declareVanished(files: readonly JournalFile[], { batch }: Intake): void {
    if (this.#unread.size === 0) return
    const present = new Set(files.map((file) => basename(file.path)))
    for (const [name, file] of this.#unread) {
      if (present.has(name)) continue
      const offset = this.#bookmarks.latestOffsetOf(name) ?? 0
      batch.addGap(gapAt("journal_gone", GONE, { file: name, offset, writerId: this.#ownerOf(file) }, file.byteSize))
    }
  }

  #complain(file: JournalFile, error: UnreadableFileError, { batch }: Intake): void {
    const name = basename(file.path)
    if (error.isOutOfDescriptors || error.errno === "ENOENT" || this.#unreadable.has(name)) return
    this.#unreadable.set(name, error)
    const reason = `${error.what}; it stays and is tried again`
    batch.addProblem({ ...problemOf("journal_unreadable", name, reason), file: name })
  }
}

/** Undefined when there is not even a file descriptor to list the folder with. */
function listed(journalFolder: string): JournalFile[] | undefined {
  try {
    return reading(journalFolder, () => listJournals(journalFolder))
  } catch (error) {
    if (error instanceof UnreadableFileError && error.isOutOfDescriptors) return undefined
    throw error
  }
}

const NOTHING_READ: PassReport = Object.freeze({
  ...emptyTally(),
  filesRead: 0,
  filesRemoved: 0,
  filesDeferred: 1,
  crashedRuns: [],
  isSettled: false,
})
const MOST_PASSES = 4
/** Kept files only grow old in between. */
const TIDY_EVERY_MS = 60_000
const GONE = "the file was deleted before it was read to its end"
