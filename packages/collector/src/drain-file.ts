import { basename } from "node:path"
import {
  type EventLineRead,
  type ExitLine,
  type JournalFile,
  type JournalItem,
  type JournalLine,
  readProcessLine,
  tailJournal,
} from "@orangebox/journal"
import type { TraceStore } from "@orangebox/store"
import { type Bookmarks, bookmarkKey, isOfNewerSchema, newerKey } from "./bookmarks.js"
import type { Intake } from "./intake.js"
import { hasEnded, type KnownWriters, type WriterEntry } from "./known-writers.js"
import { Sidecar } from "./sidecar.js"
import { type BytesAt, gapAt, gapFromJournal, type Place, takeChunk, takeEvent, takeProblem } from "./take-line.js"
import { reading } from "./unreadable-file.js"

/** How a file stands after it was read to its end, or to its writer's goodbye. */
export interface DrainEnd {
  readonly file: JournalFile
  readonly key: string
  readonly writer: WriterEntry
  /** Behind the last line that was taken. */
  readonly offset: number
  /** An unfinished last line. */
  readonly tornBytes: number
  /** The writer had opened a later file before this one was read, so what is there is all there will be. */
  readonly wasSuperseded: boolean
  /**
   * The exit line, not taken yet: what it means for open runs is known only when everything before it is committed, and is committed
   * together with it.
   */
  readonly exit?: { readonly line: ExitLine; readonly nextOffset: number }
  /** Written by a newer version. Nothing was taken, so that a newer build finds it all. */
  readonly isOfNewerFormat?: boolean
}

export interface DrainContext {
  readonly store: TraceStore
  readonly bookmarks: Bookmarks
  readonly writers: KnownWriters
  readonly intake: Intake
}

/** Takes every whole line that a file has beyond its bookmark. Undefined while the file has too little to be known by and may grow. */
export async function drainFile(file: JournalFile, context: DrainContext): Promise<DrainEnd | undefined> {
  const { bookmarks, writers, intake } = context
  const name = basename(file.path)
  const wasSuperseded = isSuperseded(file, writers)
  const named = writers.get(file.writerId)
  const isLeft = wasSuperseded || (named !== undefined && hasEnded(named))
  const key = reading(file.path, () => bookmarkKey(file.path, name)) ?? (isLeft ? `${name}@` : undefined)
  if (key === undefined) return undefined
  const drain = new FileDrain(file, key, startAt(file, key, bookmarks, intake), context)
  return { ...(await drain.run()), wasSuperseded }
}

type Stop = Pick<DrainEnd, "tornBytes" | "exit" | "isOfNewerFormat">

/** One reading of one file. */
class FileDrain {
  readonly #file: JournalFile
  readonly #name: string
  readonly #key: string
  readonly #context: DrainContext
  readonly #sidecar: Sidecar
  #offset: number
  /** Whose lines these are: what the first line says. Its name serves until that is read, or where it is damaged. */
  #writer: WriterEntry | undefined
  /** Taken and not yet counted for the writer. */
  #records = 0

  constructor(file: JournalFile, key: string, from: number, context: DrainContext) {
    this.#file = file
    this.#name = basename(file.path)
    this.#key = key
    this.#context = context
    this.#sidecar = new Sidecar(file.sidecarPath)
    this.#offset = from
    if (from > 0) this.#writer = resumedWriter(file, context.writers)
  }

  async run(): Promise<Omit<DrainEnd, "wasSuperseded">> {
    const { batch } = this.#context.intake
    const tail = tailJournal(this.#file.path, { from: this.#offset })
    try {
      for (;;) {
        const next = reading(this.#file.path, () => tail.next())
        const stop = next.done ? { tornBytes: next.value.tornBytes } : await this.#take(next.value)
        if (stop !== undefined) {
          return { file: this.#file, key: this.#key, writer: this.#knownWriter(), offset: this.#offset, ...stop }
        }
        if (!batch.isFull) continue
        this.#countRecords()
        await this.#context.intake.flush()
      }
    } finally {
      this.#countRecords()
      tail.return({ offset: this.#offset, tornBytes: 0 })
      this.#sidecar.close()
    }
  }

  /** Takes a line, or a place that is none, and moves on; or says why the reading stops before it. */
  async #take(item: JournalItem): Promise<Stop | undefined> {
    const { batch } = this.#context.intake
    if (item.kind === "problem") {
      takeProblem(item.problem, this.#placeAt(item.problem.offset), batch)
      if (item.problem.code === "unknown_format") return { tornBytes: 0, isOfNewerFormat: true }
    } else {
      const { line, nextOffset } = item
      if (line.kind === "exit" && !hasEnded(this.#knownWriter())) return { tornBytes: 0, exit: { line, nextOffset } }
      batch.weigh(nextOffset - item.offset)
      await this.#takeLine(line, this.#placeAt(item.offset))
    }
    this.#offset = item.nextOffset
    batch.setOffset({ file: this.#key, offset: this.#offset })
    return undefined
  }

  async #takeLine(line: JournalLine, place: Place): Promise<void> {
    const { writers, intake } = this.#context
    switch (line.kind) {
      case "process":
        this.#writer = takeProcessLine(line, this.#name, writers, intake)
        return
      case "event":
        return this.#takeEvent(line, place)
      case "chunk":
        takeChunk(line, place, this.#bytesAt, intake.batch)
        this.#knownWriter().openStreams.add(line.streamId)
        return
      case "gap":
        intake.batch.addGap(gapFromJournal(line.gap, place))
        return
      case "exit":
        // The goodbye of a writer whose end is on record: an old file, read again.
        return
    }
  }

  async #takeEvent(line: EventLineRead, place: Place): Promise<void> {
    const { store, intake } = this.#context
    const writer = this.#knownWriter()
    this.#records++
    const { isUnderstood, missing } = takeEvent(line, place, this.#bytesAt, intake.batch)
    if (!isUnderstood && isOfNewerSchema(line.event)) {
      intake.batch.setOffset({ file: newerKey(this.#name), offset: place.offset + 1 })
    }
    for (const { hash, problem } of missing) if (!(await hasBody(store, hash))) intake.batch.addProblem(problem)
    for (const body of line.bodies) if (body.form === "streamed") writer.openStreams.delete(body.streamId)
  }

  readonly #bytesAt: BytesAt = (offset, byteSize) =>
    reading(this.#file.sidecarPath, () => this.#sidecar.bytesAt(offset, byteSize))

  #placeAt(offset: number): Place {
    return { file: this.#name, offset, writerId: this.#writer?.writerId ?? this.#file.writerId }
  }

  #knownWriter(): WriterEntry {
    this.#writer ??= this.#context.writers.entryOf(this.#file.writerId)
    return this.#writer
  }

  #countRecords(): void {
    if (this.#records === 0) return
    const writer = this.#knownWriter()
    this.#context.writers.noteRecords(writer, Date.now())
    this.#context.intake.batch.addWriter({
      writerId: writer.writerId,
      file: this.#name,
      records: this.#records,
      lastSeenAtMs: writer.lastSeenAtMs,
    })
    this.#records = 0
  }
}

/**
 * Where to begin. A name that begins otherwise than before, or is shorter than what was read of it, has lost content that may never have
 * been read: that is declared once, and reading starts over.
 */
function startAt(file: JournalFile, key: string, bookmarks: Bookmarks, { batch }: Intake): number {
  const place = { file: basename(file.path), offset: 0, writerId: file.writerId }
  const cleared = bookmarks.takeReadAgain(place.file)
  if (cleared !== undefined) batch.setOffset(cleared)
  if (bookmarks.hasOtherGeneration(key)) {
    batch.addGap(gapAt("journal_replaced", REPLACED, place, bookmarks.latestOffsetOf(place.file) ?? 0))
    batch.setOffset({ file: key, offset: 0 })
    return 0
  }
  bookmarks.notePresent(key)
  const offset = bookmarks.offsetOf(key) ?? 0
  if (offset <= file.byteSize) return offset
  batch.addGap(gapAt("journal_shortened", SHORTENED, { ...place, offset: file.byteSize }, offset))
  batch.setOffset({ file: key, offset: 0 })
  return 0
}

const REPLACED = "the file begins otherwise than when it was last read: it was emptied or replaced"
const SHORTENED = "the file is shorter than when it was last read: it was cut"

/** Whose file it is that was begun earlier: what its first line says, its name only where that is damaged. */
function resumedWriter(file: JournalFile, writers: KnownWriters): WriterEntry {
  return writers.get(file.writerId) ?? writers.entryOf(readProcessLine(file.path)?.writerId ?? file.writerId)
}

/** A copied journal comes without the file that holds its bodies, and the original brought them already. */
async function hasBody(store: TraceStore, hash: string): Promise<boolean> {
  const known = await store.bodyInfo(hash)
  return known !== undefined && known.absent?.absent !== "lost"
}

function takeProcessLine(
  line: Extract<JournalLine, { kind: "process" }>,
  name: string,
  writers: KnownWriters,
  { batch }: Intake,
): WriterEntry {
  const entry = writers.introduce(line)
  // An earlier file of the writer, read again under another name, has nothing new to say about it.
  if (line.fileNo < entry.lastFileNo) return entry
  const { kind: _, ...identity } = line
  batch.addWriter({ writerId: line.writerId, identity, file: name })
  return entry
}

/** True when the writer is known to have gone on in a later file. */
export function isSuperseded(file: JournalFile, writers: KnownWriters): boolean {
  return file.fileNo < (writers.get(file.writerId)?.lastFileNo ?? 0)
}
