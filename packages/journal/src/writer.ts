import { OrangeboxError, SystemError } from "@orangebox/contract"
import { FileSequence } from "./file-sequence.js"
import type {
  AppendResult,
  EventLine,
  Journal,
  JournalExit,
  JournalOptions,
  JournalStats,
  StreamWriter,
} from "./journal.js"
import { failureCode, isRefusal } from "./journal-fs.js"
import { MAX_LINE_BYTES, type StreamStart } from "./line-format.js"
import { LineWriter } from "./line-writer.js"
import { Shedding } from "./shedding.js"
import { type Chunk, StreamPlaces, streamWriter } from "./stream-writer.js"
import { UndeclaredLosses } from "./undeclared-losses.js"
import { WarningLimiter } from "./warning-limiter.js"
import { WriteRetry } from "./write-retry.js"
import { settingsOf, type WriterSettings } from "./writer-settings.js"

/** How often the writer looks up from appending: age, tampering, syncing, the end of shedding. */
const LOOK_UP_MS = 1000

/** After these the file itself is suspect, or can take no more: go on in a new one. */
const ABANDONING = new Set(["EIO", "EFBIG", "EBADF", "ESTALE", "ENXIO"])

/** Failures of our own, as the disk names its errors. */
const CLOSED = "CLOSED"
const LINE_TOO_LONG = "LINE_TOO_LONG"

const WRITTEN: AppendResult = Object.freeze({ written: true })
const DROPPED: AppendResult = Object.freeze({ written: false })

/** Opens a journal of its own for this process and thread. Throws only when the folder is unusable. */
export function openJournal(options: JournalOptions): Journal {
  return new Writer(options)
}

/**
 * The append side. Nothing here is buffered: what `append` acknowledged is in the kernel, so neither a timer nor an exit hook stands
 * between a record and its survival. Timers only sync (against power cuts) and retry after a failure.
 *
 * What happens besides the write itself is in `FileSequence` (rotation, syncing, the cap), `WriteRetry` (back-off), `Shedding` (slow disks)
 * and `UndeclaredLosses` (gaps and the reserve file).
 */
class Writer implements Journal {
  readonly #settings: WriterSettings
  readonly #lines = new LineWriter()
  readonly #losses: UndeclaredLosses
  readonly #shedding: Shedding
  readonly #retry: WriteRetry
  readonly #files: FileSequence
  readonly #streamPlaces = new StreamPlaces()
  #streams = 0
  #recordsWritten = 0
  #nextLookUpAt: number
  #closed = false

  constructor(options: JournalOptions) {
    this.#settings = settingsOf(options)
    const { clock, folder } = this.#settings
    const warnings = new WarningLimiter(options.onWarning ?? (() => {}))
    this.#losses = new UndeclaredLosses(clock)
    this.#shedding = new Shedding(clock, this.#settings.slowWriteMs, this.#losses, warnings)
    this.#retry = new WriteRetry(warnings, () => this.#recover(clock.monoMs()))
    this.#files = new FileSequence(this.#settings, this.#lines, this.#losses, warnings)
    const now = clock.monoMs()
    this.#nextLookUpAt = now + LOOK_UP_MS
    try {
      this.#files.openNext(now)
    } catch (error) {
      if (isRefusal(error)) throw unwritable(folder, error)
      this.#fail(error, now)
    }
  }

  get writerId(): string {
    return this.#settings.writerId
  }

  append(line: EventLine): AppendResult {
    if (this.#closed) return this.#drop(line, CLOSED)
    const startedAt = this.#settings.clock.monoMs()
    try {
      if (!this.#isReady(startedAt)) return this.#drop(line)
      if (!this.#lines.event(this.#files.current!, line)) return this.#drop(line, LINE_TOO_LONG)
      if (this.#settings.fsync === "always") this.#files.current!.syncNow()
    } catch (error) {
      this.#fail(error, startedAt)
      return this.#drop(line)
    }
    this.#acknowledge(line, startedAt)
    return WRITTEN
  }

  appendDurable(line: EventLine): void {
    const startedAt = this.#settings.clock.monoMs()
    try {
      if (this.#closed) throw coded(CLOSED, "the journal is closed")
      // A caller that asks for durability waits for an answer from the disk itself, so a pending back-off does not count.
      if (!this.#isReady(startedAt) && !this.#recover(startedAt)) throw this.#failureError()
      const file = this.#files.current!
      if (!this.#lines.event(file, line)) {
        throw coded(LINE_TOO_LONG, `the record is longer than ${MAX_LINE_BYTES} bytes`)
      }
      this.#files.syncFrom(this.#streamPlaces.firstFileNo(line, file.fileNo))
    } catch (error) {
      const failure = failureCode(error)
      if (failure !== CLOSED && failure !== LINE_TOO_LONG) this.#fail(error, startedAt)
      this.#drop(line, failure)
      throw new SystemError({
        what: `a record that had to be durable is not (${failure})`,
        where: this.#files.place,
        next: "The run must stop; make room or repair the disk, then start it again",
        cause: error,
      })
    }
    this.#acknowledge(line, startedAt)
  }

  openStream(stream: StreamStart): StreamWriter {
    const id = `${this.writerId.slice(0, 8)}.${++this.#streams}`
    return streamWriter(id, stream, this.#settings.clock.monoMs, (chunk) => this.#appendChunk(chunk))
  }

  keepsBodies(): boolean {
    return !this.#shedding.isOn(this.#settings.clock.monoMs())
  }

  lastWords(text: string): void {
    this.#losses.lastWords(text)
  }

  stats(): JournalStats {
    return {
      recordsWritten: this.#recordsWritten,
      recordsDropped: this.#losses.recordsDropped,
      chunksDropped: this.#losses.chunksDropped,
      bytesWritten: this.#lines.bytesWritten,
      filesOpened: this.#files.filesOpened,
      gapsWritten: this.#files.gapsWritten,
      syncFailures: this.#files.syncFailures,
    }
  }

  close(exit: JournalExit): void {
    if (this.#closed) return
    const now = this.#settings.clock.monoMs()
    this.#files.stopSyncing()
    this.#shedding.end()
    try {
      if (this.#mustRecover()) this.#recover(now)
      if (this.#retry.failure === null) this.#writeExit(exit, now)
    } catch (error) {
      this.#fail(error, now)
    }
    this.#closed = true
    this.#retry.stopRetrying()
    this.#files.leave()
    this.#losses.close()
  }

  #writeExit(exit: JournalExit, now: number): void {
    const file = this.#files.current!
    this.#lines.exit(file, {
      ...exit,
      recordsWritten: this.#recordsWritten,
      recordsDropped: this.#losses.recordsDropped,
      atMs: this.#settings.clock.wallMs(),
      atMonoUs: Math.round(now * 1000),
    })
    if (this.#settings.fsync !== "never") file.syncNow()
  }

  #appendChunk(chunk: Chunk): boolean {
    const startedAt = this.#settings.clock.monoMs()
    if (this.#closed) return false
    if (this.#shedding.isOn(startedAt)) {
      this.#shedding.dropChunk(chunk.bytes.length)
      return false
    }
    try {
      if (!this.#isReady(startedAt)) return this.#dropChunk(chunk)
      const file = this.#files.current!
      this.#lines.chunk(file, chunk, this.#streamPlaces.isAnnounced(chunk.streamId, file.fileNo))
      this.#streamPlaces.noteChunk(chunk.streamId, file.fileNo)
      if (this.#settings.fsync === "always") file.syncNow()
    } catch (error) {
      this.#fail(error, startedAt)
      return this.#dropChunk(chunk)
    }
    this.#afterWrite(startedAt)
    return true
  }

  #acknowledge(line: EventLine, startedAt: number): void {
    this.#recordsWritten++
    this.#files.current!.contents.note(line.runId, line.sequenceNo)
    this.#streamPlaces.forgetNamed(line)
    this.#afterWrite(startedAt)
  }

  #afterWrite(startedAt: number): void {
    this.#files.noteWrite()
    this.#shedding.afterWrite(startedAt, this.#settings.clock.monoMs(), this.#files.place)
  }

  /** Whether a record can be written now; does on the way what is due: retry, rotate, look up. */
  #isReady(now: number): boolean {
    this.#shedding.watch(now)
    if (this.#retry.isWaiting(now)) return false
    if (this.#mustRecover() && !this.#recover(now)) return false
    if (now >= this.#nextLookUpAt) {
      this.#nextLookUpAt = now + LOOK_UP_MS
      this.#shedding.endIfOver(now)
      this.#files.lookUp(now)
    } else {
      this.#files.rotateWhenFull(now)
    }
    return !this.#mustRecover() || this.#recover(now)
  }

  /** There is something to say, or nowhere to say it, before the next record. */
  #mustRecover(): boolean {
    return this.#losses.isUndeclared || this.#files.current === undefined
  }

  /** Tries to write again, gap lines first. */
  #recover(now: number): boolean {
    try {
      if (this.#files.current === undefined) this.#files.openNext(now)
      this.#files.declareLosses()
      this.#retry.end()
      return true
    } catch (error) {
      this.#fail(error, now)
      return false
    }
  }

  #fail(error: unknown, now: number): void {
    if (ABANDONING.has(failureCode(error))) this.#files.leave()
    this.#retry.begin(error, now, this.#files.place)
  }

  #drop(line: EventLine, failure = this.#retry.failure): AppendResult {
    this.#losses.dropRecord(line, failure)
    return DROPPED
  }

  #dropChunk({ bytes }: Chunk): false {
    this.#losses.dropChunk(bytes.length, this.#retry.failure)
    return false
  }

  #failureError(): Error {
    const failure = this.#retry.failure ?? "UNKNOWN"
    return coded(failure, `the journal cannot be written (${failure})`)
  }
}

function coded(code: string, message: string): Error {
  return Object.assign(new Error(message), { code })
}

function unwritable(folder: string, error: unknown): OrangeboxError {
  if (error instanceof OrangeboxError) return error
  return new OrangeboxError("JOURNAL_UNWRITABLE", {
    what: `the journal folder cannot be written (${failureCode(error)})`,
    where: folder,
    next: "Make it writable for this user, or set ORANGEBOX_HOME to a folder that is",
    cause: error,
  })
}
