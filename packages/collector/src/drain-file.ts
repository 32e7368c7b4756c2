import { basename } from "node:path"
import { type ExitLine, type JournalFile, type JournalLine, readProcessLine, tailJournal } from "@orangebox/journal"
import type { TraceStore } from "@orangebox/store"
import { type Bookmarks, bookmarkKey } from "./bookmarks.js"
import type { Intake } from "./intake.js"
import { Sidecar } from "./sidecar.js"
import { gapAt, gapFromJournal, type Place, takeChunk, takeEvent, takeProblem } from "./take-line.js"
import { reading } from "./unreadable-file.js"
import { hasEnded, type WriterBook, type WriterEntry } from "./writer-book.js"

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

/** Takes every whole line that a file has beyond its bookmark. Undefined while the file has too little to be known by and may grow. */
export async function drainFile(
  file: JournalFile,
  context: {
    readonly store: TraceStore
    readonly bookmarks: Bookmarks
    readonly book: WriterBook
    readonly intake: Intake
  },
): Promise<DrainEnd | undefined> {
  const { store, bookmarks, book, intake } = context
  const { batch } = intake
  const name = basename(file.path)
  const wasSuperseded = isSuperseded(file, book)
  const named = book.get(file.writerId)
  const isLeft = wasSuperseded || (named !== undefined && hasEnded(named))
  const key = reading(file.path, () => bookmarkKey(file.path, name)) ?? (isLeft ? `${name}@` : undefined)
  if (key === undefined) return undefined

  const from = startAt(file, key, bookmarks, intake)
  let writer = from === 0 ? undefined : resumedWriter(file, book)
  let offset = from
  let records = 0
  const endedWith = (end: Pick<DrainEnd, "tornBytes" | "exit" | "isOfNewerFormat">): DrainEnd => {
    writer ??= book.entryOf(file.writerId)
    return { file, key, writer, offset, wasSuperseded, ...end }
  }
  const countRecords = () => {
    if (writer !== undefined && records > 0) noteRecords(writer, records, name, intake)
    records = 0
  }

  const sidecar = new Sidecar(file.sidecarPath)
  const bytesAt = (at: number, byteSize: number) => reading(file.sidecarPath, () => sidecar.bytesAt(at, byteSize))
  const tail = tailJournal(file.path, { from })
  try {
    for (;;) {
      const next = reading(file.path, () => tail.next())
      if (next.done) return endedWith({ tornBytes: next.value.tornBytes })
      const item = next.value
      const writerId = writer?.writerId ?? file.writerId
      if (item.kind === "problem") {
        takeProblem(item.problem, { file: name, offset: item.problem.offset, writerId }, batch)
        if (item.problem.code === "unknown_format") return endedWith({ tornBytes: 0, isOfNewerFormat: true })
      } else {
        const { line, nextOffset } = item
        const place: Place = { file: name, offset: item.offset, writerId }
        batch.weigh(nextOffset - item.offset)
        switch (line.kind) {
          case "process":
            writer = takeProcessLine(line, name, book, intake)
            break
          case "event":
            writer ??= book.entryOf(file.writerId)
            records++
            for (const missing of takeEvent(line, place, bytesAt, batch)) {
              if (!(await hasBody(store, missing.hash))) batch.addProblem(missing.problem)
            }
            for (const body of line.bodies) if (body.form === "streamed") writer.openStreams.delete(body.streamId)
            break
          case "chunk":
            writer ??= book.entryOf(file.writerId)
            takeChunk(line, place, bytesAt, batch)
            writer.openStreams.add(line.streamId)
            break
          case "gap":
            batch.addGap(gapFromJournal(line.gap, place))
            break
          case "exit":
            writer ??= book.entryOf(file.writerId)
            if (!hasEnded(writer)) return endedWith({ tornBytes: 0, exit: { line, nextOffset } })
        }
      }
      offset = item.nextOffset
      batch.setOffset({ file: key, offset })
      if (batch.isFull) {
        countRecords()
        await intake.flush()
      }
    }
  } finally {
    countRecords()
    tail.return({ offset, tornBytes: 0 })
    sidecar.close()
  }
}

/**
 * Where to begin. A name that begins otherwise than before, or is shorter than what was read of it, has lost content that may never have
 * been read: that is declared once, and reading starts over.
 */
function startAt(file: JournalFile, key: string, bookmarks: Bookmarks, { batch }: Intake): number {
  const place = { file: basename(file.path), offset: 0, writerId: file.writerId }
  if (bookmarks.hasOtherGeneration(key)) {
    batch.addGap(gapAt("journal_replaced", REPLACED, place, bookmarks.latestOffsetOf(place.file) ?? 0))
    batch.setOffset({ file: key, offset: 0 })
    return 0
  }
  const offset = bookmarks.offsetOf(key) ?? 0
  if (offset <= file.byteSize) return offset
  batch.addGap(gapAt("journal_shortened", SHORTENED, { ...place, offset: file.byteSize }, offset))
  batch.setOffset({ file: key, offset: 0 })
  return 0
}

const REPLACED = "the file begins otherwise than when it was last read: somebody emptied or replaced it"
const SHORTENED = "the file is shorter than when it was last read: somebody cut it"

/** Whose file it is that was begun earlier: what its first line says, its name only where that is damaged. */
function resumedWriter(file: JournalFile, book: WriterBook): WriterEntry {
  return book.get(file.writerId) ?? book.entryOf(readProcessLine(file.path)?.writerId ?? file.writerId)
}

/** A copied journal comes without the file that holds its bodies, and the original brought them already. */
async function hasBody(store: TraceStore, hash: string): Promise<boolean> {
  const known = await store.bodyInfo(hash)
  return known !== undefined && known.absent?.absent !== "lost"
}

function takeProcessLine(
  line: Extract<JournalLine, { kind: "process" }>,
  name: string,
  book: WriterBook,
  { batch }: Intake,
): WriterEntry {
  const entry = book.introduce(line)
  // An earlier file of the writer, read again under another name, has nothing new to say about it.
  if (line.fileNo < entry.lastFileNo) return entry
  const { kind: _, ...identity } = line
  batch.addWriter({ writerId: line.writerId, identity, file: name })
  return entry
}

function noteRecords(writer: WriterEntry, records: number, name: string, { batch }: Intake): void {
  writer.records += records
  writer.lastSeenAtMs = Date.now()
  batch.addWriter({ writerId: writer.writerId, file: name, records, lastSeenAtMs: writer.lastSeenAtMs })
}

/** True when the writer is known to have gone on in a later file. */
export function isSuperseded(file: JournalFile, book: WriterBook): boolean {
  return file.fileNo < (book.get(file.writerId)?.lastFileNo ?? 0)
}
