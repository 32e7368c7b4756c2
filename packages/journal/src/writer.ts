import { randomBytes } from "node:crypto"
import { basename, join } from "node:path"
import { type FsyncPolicy, OrangeboxError, SystemError } from "@orangebox/contract"
import { type Clock, clockOf } from "./clock.js"
import { Episodes } from "./episodes.js"
import { IntervalSync } from "./interval-sync.js"
import type {
  AppendResult,
  EventLine,
  Journal,
  JournalExit,
  JournalOptions,
  JournalStats,
  StreamWriter,
} from "./journal.js"
import { OpenJournalFile } from "./journal-file.js"
import { failureCode, type JournalFs, READ_NO_LINK, realFs } from "./journal-fs.js"
import { type JournalFile, listWith, readHead, removeWith } from "./journal-list.js"
import { linesName, sidecarName, writerStem } from "./journal-name.js"
import {
  FORMAT_VERSION,
  type Gap,
  type GapReason,
  MAX_LINE_BYTES,
  type ProcessLine,
  type StreamStart,
} from "./line-format.js"
import { LineWriter } from "./line-writer.js"
import { LossAccount } from "./loss-account.js"
import { livenessOf, type ProcessIdentity, thisProcess } from "./process-identity.js"
import { RecentMap } from "./recent-map.js"
import type { RunRanges } from "./run-ranges.js"
import { ensurePrivateFolder } from "./safe-folder.js"
import { Shedding } from "./shedding.js"
import { type Chunk, streamWriter } from "./stream-writer.js"
import { chooseEvictions, type Loss, sumOfLosses } from "./total-cap.js"
import { LAST_RETRY_MS, Trouble } from "./trouble.js"

const MIB = 1024 * 1024
/** How often the writer looks up from appending: age, tampering, syncing, the end of shedding. */
const LOOK_UP_MS = 1000
/** Streams remembered until an event names them; beyond, the oldest are taken for abandoned. */
const MOST_STREAMS = 4096

/** After these the file itself is suspect, or can take no more: go on in a new one. */
const ABANDONING = new Set(["EIO", "EFBIG", "EBADF", "ESTALE", "ENXIO"])
/** The folder will not let us write, now or later: that is for the user to mend, before the app relies on a record. */
const REFUSING = new Set(["EACCES", "EPERM", "EROFS", "FOLDER_REFUSED"])

/** Failures of our own, told apart from the disk's. */
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
 * between a record and its survival. Timers only sync (against power cuts) and retry after trouble.
 */
class Writer implements Journal {
  readonly writerId = randomBytes(16).toString("hex")
  readonly #fs: JournalFs
  readonly #clock: Clock
  readonly #folder: string
  readonly #stem: string
  readonly #identity: ProcessIdentity = thisProcess()
  readonly #appId: string
  readonly #recorderVersion: string
  readonly #fsync: FsyncPolicy
  readonly #maxFileBytes: number
  readonly #maxFileAgeMs: number
  readonly #maxTotalBytes: number
  readonly #slowWriteMs: number
  readonly #episodes: Episodes

  readonly #lines = new LineWriter()
  readonly #losses: LossAccount
  readonly #trouble: Trouble
  readonly #shedding: Shedding

  #file: OpenJournalFile | undefined
  #lastFileNo = 0
  /** What the files before this one hold, should the cap take them. */
  readonly #rotated = new Map<number, RunRanges>()
  #closed = false

  #recordsWritten = 0
  #filesOpened = 0
  #gapsWritten = 0
  #syncFailures = 0

  #nextLookUpAt = 0
  #rotateAgainAt = 0
  readonly #intervalSync: IntervalSync | undefined

  #streams = 0
  /** For each stream that no event has named yet: the file it began in, and the last one that says what it belongs to. */
  readonly #streamPlaces = new RecentMap<string, { readonly firstFileNo: number; announcedIn: number }>(MOST_STREAMS)

  constructor(options: JournalOptions) {
    this.#fs = options.fs ?? realFs
    this.#clock = clockOf(options.now)
    this.#folder = options.folder
    this.#stem = writerStem(this.#clock.wallMs(), process.pid, this.writerId)
    this.#appId = options.appId
    this.#recorderVersion = options.recorderVersion
    this.#fsync = options.fsync ?? "interval"
    this.#maxFileBytes = options.maxFileBytes ?? 64 * MIB
    this.#maxFileAgeMs = options.maxFileAgeMs ?? 60 * 60 * 1000
    this.#maxTotalBytes = options.maxTotalBytes ?? 2048 * MIB
    this.#slowWriteMs = options.slowWriteMs ?? 250
    this.#episodes = new Episodes(options.onWarning ?? (() => {}))
    this.#losses = new LossAccount(this.#clock)
    this.#shedding = new Shedding(this.#clock, this.#losses, this.#episodes)
    this.#trouble = new Trouble(this.#episodes, () => this.#recover(this.#clock.monoMs()))
    this.#intervalSync =
      this.#fsync === "interval"
        ? new IntervalSync(
            () => this.#file,
            (file, error) => this.#afterFailedSync(file, error),
          )
        : undefined
    const now = this.#clock.monoMs()
    this.#nextLookUpAt = now + LOOK_UP_MS
    try {
      this.#openNextFile(now)
    } catch (error) {
      if (REFUSING.has(failureCode(error))) throw unwritable(this.#folder, error)
      this.#fail(error, now)
    }
  }

  append(line: EventLine): AppendResult {
    if (this.#closed) return this.#drop(line, CLOSED)
    const startedAt = this.#clock.monoMs()
    try {
      if (!this.#isReady(startedAt)) return this.#drop(line)
      if (!this.#lines.event(this.#file!, line)) return this.#drop(line, LINE_TOO_LONG)
      if (this.#fsync === "always") this.#file?.syncNow()
    } catch (error) {
      this.#fail(error, startedAt)
      return this.#drop(line)
    }
    this.#acknowledge(line, startedAt)
    return WRITTEN
  }

  appendDurable(line: EventLine): void {
    const startedAt = this.#clock.monoMs()
    try {
      if (this.#closed) throw coded(CLOSED, "the journal is closed")
      // Whoever asks for durability waits for an answer from the disk itself, so a pending back-off does not count.
      if (!this.#isReady(startedAt) && !this.#recover(startedAt)) throw this.#troubleError()
      if (!this.#lines.event(this.#file!, line))
        throw coded(LINE_TOO_LONG, `the record is longer than ${MAX_LINE_BYTES} bytes`)
      this.#syncStreamsOf(line)
      this.#file?.syncNow()
    } catch (error) {
      const failure = failureCode(error)
      if (failure !== CLOSED && failure !== LINE_TOO_LONG) this.#fail(error, startedAt)
      this.#drop(line, failure)
      throw new SystemError({
        what: `a record that had to be durable is not (${failure})`,
        where: this.#file?.path ?? this.#folder,
        next: "The run must stop; make room or repair the disk, then start it again",
        cause: error,
      })
    }
    this.#acknowledge(line, startedAt)
  }

  openStream(stream: StreamStart): StreamWriter {
    const id = `${this.writerId.slice(0, 8)}.${++this.#streams}`
    return streamWriter(
      id,
      stream,
      () => this.#clock.monoMs(),
      (chunk) => this.#appendChunk(chunk),
    )
  }

  keepsBodies(): boolean {
    return !this.#shedding.isOn(this.#clock.monoMs())
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
      filesOpened: this.#filesOpened,
      gapsWritten: this.#gapsWritten,
      syncFailures: this.#syncFailures,
    }
  }

  close(exit: JournalExit): void {
    if (this.#closed) return
    const now = this.#clock.monoMs()
    this.#intervalSync?.stop()
    this.#shedding.end()
    try {
      if (this.#losses.isUndeclared || this.#file === undefined) this.#recover(now)
      if (this.#trouble.failure === null) this.#writeExit(exit, now)
    } catch (error) {
      this.#fail(error, now)
    }
    this.#closed = true
    this.#trouble.stopRetrying()
    this.#file?.retire()
    this.#losses.close()
  }

  // Writing

  #writeExit(exit: JournalExit, now: number): void {
    this.#lines.exit(this.#file!, {
      ...exit,
      recordsWritten: this.#recordsWritten,
      recordsDropped: this.#losses.recordsDropped,
      atMs: this.#clock.wallMs(),
      atMonoUs: Math.round(now * 1000),
    })
    if (this.#fsync !== "never") this.#file!.syncNow()
  }

  #acknowledge(line: EventLine, startedAt: number): void {
    this.#recordsWritten++
    this.#file!.contents.note(line.runId, line.sequenceNo)
    for (const body of line.bodies) if ("streamId" in body) this.#streamPlaces.delete(body.streamId)
    this.#afterWrite(startedAt)
  }

  #afterWrite(startedAt: number): void {
    this.#intervalSync?.noteWrite()
    const now = this.#clock.monoMs()
    if (now - startedAt > this.#slowWriteMs) this.#shedding.begin(now, now - startedAt, this.#where())
  }

  #appendChunk(chunk: Chunk): boolean {
    const startedAt = this.#clock.monoMs()
    if (this.#closed) return false
    if (this.#shedding.isOn(startedAt)) {
      this.#shedding.dropChunk(chunk.bytes.length)
      return false
    }
    try {
      if (!this.#isReady(startedAt)) return this.#dropChunk(chunk)
      this.#writeChunk(this.#file!, chunk)
      if (this.#fsync === "always") this.#file!.syncNow()
    } catch (error) {
      this.#fail(error, startedAt)
      return this.#dropChunk(chunk)
    }
    this.#afterWrite(startedAt)
    return true
  }

  #writeChunk(file: OpenJournalFile, chunk: Chunk): void {
    const place = this.#streamPlaces.get(chunk.streamId) ?? { firstFileNo: file.fileNo, announcedIn: 0 }
    this.#lines.chunk(file, chunk, place.announcedIn === file.fileNo)
    place.announcedIn = file.fileNo
    this.#streamPlaces.set(chunk.streamId, place)
  }

  // Files

  /** Whether a record can be written now; does on the way what is due: retry, rotate, look up. */
  #isReady(now: number): boolean {
    if (this.#trouble.isWaiting(now)) return false
    if ((this.#losses.isUndeclared || this.#file === undefined) && !this.#recover(now)) return false
    const file = this.#file!
    if (now >= this.#nextLookUpAt) {
      this.#lookUp(file, now)
      if (this.#losses.isUndeclared || this.#file === undefined) return this.#recover(now)
    } else if (file.byteSize >= this.#maxFileBytes && now >= this.#rotateAgainAt) {
      this.#rotate(now)
      if (this.#losses.isUndeclared) return this.#recover(now)
    }
    return true
  }

  #lookUp(file: OpenJournalFile, now: number): void {
    this.#nextLookUpAt = now + LOOK_UP_MS
    this.#shedding.endIfOver(now)
    this.#intervalSync?.due()
    const tampering = file.tampering()
    if (tampering !== undefined) this.#leaveTamperedFile(file, tampering, now)
    else if (now - file.openedAtMs >= this.#maxFileAgeMs || file.byteSize >= this.#maxFileBytes) this.#rotate(now)
  }

  #leaveTamperedFile(file: OpenJournalFile, reason: "unlinked" | "truncated", now: number): void {
    this.#addGap(reason, null, {
      records: file.contents.records,
      bytes: file.byteSize,
      runs: file.contents.list(),
      recordsNotListed: file.contents.notListed,
      files: [basename(file.path)],
    })
    this.#episodes.warn("disk", now, "JOURNAL_TAMPERED", {
      what: `the journal file was ${reason} while it was being written; up to ${file.contents.records} records may be lost`,
      where: file.path,
      next: "Recording goes on in a new file; leave the files of running processes alone",
    })
    file.retire()
    this.#file = undefined
  }

  /** Goes on in a new file. When there can be none, the old one serves on and rotation is tried again later. */
  #rotate(now: number): void {
    const old = this.#file!
    if (old.contents.records === 0 && old.byteSize < this.#maxFileBytes) return
    try {
      this.#openNextFile(now)
    } catch (error) {
      this.#rotateAgainAt = now + LAST_RETRY_MS
      this.#episodes.warn("disk", now, "JOURNAL_ROTATE", {
        what: `no new journal file could be begun (${failureCode(error)})`,
        where: this.#folder,
        next: "Recording goes on in the old one; make room or raise the limit on open files",
        cause: error,
      })
      return
    }
    this.#rotated.set(old.fileNo, old.contents)
    if (this.#intervalSync === undefined) old.retire()
    else this.#intervalSync.syncAndRetire(old)
  }

  #openNextFile(now: number): void {
    ensurePrivateFolder(this.#fs, this.#folder)
    this.#reserveRoom()
    const before = this.#file
    const file = this.#createFile(now)
    this.#file = file
    try {
      this.#lines.process(file, this.#processLine(file.fileNo))
      if (this.#fsync === "always") file.syncNow()
    } catch (error) {
      this.#file = before
      file.discard()
      throw error
    }
    this.#lastFileNo = file.fileNo
    this.#filesOpened++
    this.#rotateAgainAt = 0
    this.#enforceTotalCap(now)
  }

  #createFile(now: number): OpenJournalFile {
    const place = { folder: this.#folder, stem: this.#stem, fileNo: this.#lastFileNo + 1 }
    try {
      return OpenJournalFile.create(this.#fs, place, now)
    } catch (error) {
      // Whatever stands at our name is not ours to touch: the next attempt takes the next number.
      if (failureCode(error) === "EEXIST") this.#lastFileNo = place.fileNo
      throw error
    }
  }

  #processLine(fileNo: number): Omit<ProcessLine, "kind"> {
    return {
      formatVersion: FORMAT_VERSION,
      writerId: this.writerId,
      fileNo,
      process: this.#identity,
      appId: this.#appId,
      recorderVersion: this.#recorderVersion,
      runtime: `node ${process.version} ${process.platform} ${process.arch}`,
      openedMs: this.#clock.wallMs(),
      openedMonoUs: Math.round(this.#clock.monoMs() * 1000),
    }
  }

  #reserveRoom(): void {
    try {
      this.#losses.ensureReserve(this.#fs, this.#folder, this.#stem)
    } catch (error) {
      // Without room for the reserve there may still be room for records, and those matter more.
      if (REFUSING.has(failureCode(error))) throw error
    }
  }

  #enforceTotalCap(now: number): void {
    try {
      const files = listWith(this.#fs, this.#folder)
      const evictions = chooseEvictions(files, this.#maxTotalBytes, (file) => this.#isFinished(file))
      const losses = evictions.filter((eviction) => eviction.isLoss).map(({ file }) => this.#lossOf(file))
      if (losses.length > 0) this.#declareEvicted(losses, now)
      for (const { file } of evictions) removeWith(this.#fs, file.path)
    } catch {
      // The cap is housekeeping: what could not be deleted now is tried again with the next file.
    }
  }

  #isFinished(file: JournalFile): boolean {
    if (file.isRotated) return true
    if (file.writerId === this.writerId) return false
    const identity = readHead(file.path).process?.process
    return identity !== undefined && livenessOf(identity, this.#identity).state === "dead"
  }

  #lossOf(file: JournalFile): Loss {
    const isOwn = file.writerId === this.writerId
    const contents = isOwn ? this.#rotated.get(file.fileNo) : undefined
    if (isOwn) this.#rotated.delete(file.fileNo)
    return { file, contents, earlierGaps: readHead(file.path).gaps }
  }

  #declareEvicted(losses: readonly Loss[], now: number): void {
    const loss = sumOfLosses(losses)
    this.#addGap("total_cap", null, loss)
    // Said before it is done: a death between the two must not make the loss a silent one.
    this.#losses.declare((gap) => this.#writeGap(gap))
    this.#episodes.warn("cap", now, "JOURNAL_CAP", {
      what: `${losses.length} journal files (${loss.bytes} bytes) are deleted before anybody collected them`,
      where: this.#folder,
      next: 'Run "orangebox serve" or any reading command now and then, or raise journal.maxTotalBytes',
    })
  }

  // Trouble

  #fail(error: unknown, now: number): void {
    if (this.#file !== undefined && ABANDONING.has(failureCode(error))) {
      this.#file.retire()
      this.#file = undefined
    }
    this.#trouble.enter(error, now, this.#where())
  }

  /** Tries to write again, gap lines first. */
  #recover(now: number): boolean {
    try {
      if (this.#file === undefined) this.#openNextFile(now)
      this.#losses.declare((gap) => this.#writeGap(gap))
      this.#trouble.end()
      return true
    } catch (error) {
      this.#fail(error, now)
      return false
    }
  }

  #writeGap(gap: Gap): void {
    this.#lines.gap(this.#file!, gap)
    if (this.#fsync === "always") this.#file!.syncNow()
    this.#gapsWritten++
    this.#intervalSync?.noteWrite()
  }

  #drop(line: EventLine, failure = this.#trouble.failure): AppendResult {
    this.#losses.dropRecord(line, failure)
    return DROPPED
  }

  #dropChunk({ bytes }: Chunk): false {
    this.#losses.dropChunk(bytes.length, this.#trouble.failure)
    return false
  }

  #addGap(reason: GapReason, failure: string | null, what: Partial<Gap>): void {
    this.#losses.addGap({ ...this.#losses.beginGap(reason, failure).toGap(), ...what })
  }

  #troubleError(): Error {
    const failure = this.#trouble.failure ?? "UNKNOWN"
    return coded(failure, `the journal cannot be written (${failure})`)
  }

  #where(): string {
    return this.#file?.path ?? this.#folder
  }

  // Syncing

  /** A failed sync is never tried again: the kernel has marked the pages clean, and the next one would succeed without them. */
  #afterFailedSync(file: OpenJournalFile, error: Error): void {
    this.#syncFailures++
    const now = this.#clock.monoMs()
    this.#addGap("sync_failed", failureCode(error), {
      records: file.contents.records,
      bytes: file.byteSize,
      runs: file.contents.list(),
      recordsNotListed: file.contents.notListed,
      files: [basename(file.path)],
    })
    this.#episodes.warn("disk", now, "JOURNAL_SYNC", {
      what: `the disk refused to sync the journal (${failureCode(error)}); its records might not survive a power cut`,
      where: file.path,
      next: "Recording goes on in a new file; check the disk",
      cause: error,
    })
    if (this.#file !== file) return
    file.retire()
    this.#file = undefined
  }

  /** Chunks of the line's streamed bodies may lie in earlier files, which only the interval would have synced. */
  #syncStreamsOf(line: EventLine): void {
    let first = this.#lastFileNo
    for (const body of line.bodies) {
      if ("streamId" in body) first = Math.min(first, this.#streamPlaces.get(body.streamId)?.firstFileNo ?? first)
    }
    for (let fileNo = first; fileNo < this.#lastFileNo; fileNo++) {
      // A file without large bodies has no sidecar; one whose lines are gone has lost the chunks.
      this.#syncByName(sidecarName(this.#stem, fileNo), { mayBeMissing: true })
      this.#syncByName(linesName(this.#stem, fileNo), { mayBeMissing: false })
    }
  }

  #syncByName(name: string, { mayBeMissing }: { mayBeMissing: boolean }): void {
    let fd: number
    try {
      fd = this.#fs.openSync(join(this.#folder, name), READ_NO_LINK)
    } catch (error) {
      if (mayBeMissing && failureCode(error) === "ENOENT") return
      throw error
    }
    try {
      this.#fs.fdatasyncSync(fd)
    } finally {
      this.#fs.closeSync(fd)
    }
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
