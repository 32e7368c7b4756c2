import { randomBytes } from "node:crypto"
import { basename, join } from "node:path"
import { type FsyncPolicy, OrangeboxError, SystemError } from "@orangebox/contract"
import { bodiesJson, chunkJson } from "./body-entry.js"
import { type Clock, clockOf } from "./clock.js"
import { Episodes } from "./episodes.js"
import { gapToJson } from "./gap-json.js"
import { GapLedger } from "./gap-ledger.js"
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
import { LineEncoder } from "./line-encoder.js"
import { FORMAT_VERSION, type Gap, type GapReason, type StreamStart } from "./line-format.js"
import { livenessOf, type ProcessIdentity, thisProcess } from "./process-identity.js"
import { RecentMap } from "./recent-map.js"
import { ReserveFile } from "./reserve-file.js"
import type { RunRanges } from "./run-ranges.js"
import { ensurePrivateFolder } from "./safe-folder.js"
import { type Chunk, streamWriter } from "./stream-writer.js"
import { chooseEvictions, type Loss, sumOfLosses } from "./total-cap.js"

const MIB = 1024 * 1024
/** Readers skip longer lines, so writing one would be losing it without a word. */
const MAX_LINE_BYTES = 64 * MIB
/** How often the writer looks up from appending: age, tampering, syncing, the end of shedding. */
const LOOK_UP_MS = 1000
const SHED_MS = 10_000
const FIRST_RETRY_MS = 50
const LAST_RETRY_MS = 2000
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

  readonly #eventEncoder = new LineEncoder('"k":"event","e":')
  readonly #encoder = new LineEncoder('"k":')

  #file: OpenJournalFile | undefined
  #lastFileNo = 0
  /** What the files before this one hold, should the cap take them. */
  readonly #rotated = new Map<number, RunRanges>()
  #reserve: ReserveFile | undefined
  #closed = false
  #saidLastWords = false

  #recordsWritten = 0
  #recordsDropped = 0
  #chunksDropped = 0
  #bytesWritten = 0
  #filesOpened = 0
  #gapsWritten = 0
  #syncFailures = 0

  #nextLookUpAt = 0
  #rotateAgainAt = 0
  readonly #intervalSync: IntervalSync | undefined

  #lastGapNo = 0
  /** Drops that no gap line has declared yet. */
  #drops: GapLedger | undefined
  /** Other gaps that wait for their line. */
  #gaps: Gap[] = []
  #trouble: { retryAt: number; delayMs: number; failure: string } | undefined
  #retryTimer: NodeJS.Timeout | undefined
  #shed: { untilMs: number; ledger: GapLedger } | undefined

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
      this.#enterTrouble(error, now)
    }
  }

  append(line: EventLine): AppendResult {
    if (this.#closed) return this.#drop(line, CLOSED)
    const startedAt = this.#clock.monoMs()
    try {
      if (!this.#isReady(startedAt)) return this.#drop(line)
      if (!this.#writeEvent(line)) return this.#drop(line, LINE_TOO_LONG)
      if (this.#fsync === "always") this.#file?.syncNow()
    } catch (error) {
      this.#enterTrouble(error, startedAt)
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
      if (!this.#writeEvent(line)) throw coded(LINE_TOO_LONG, `the record is longer than ${MAX_LINE_BYTES} bytes`)
      this.#syncStreamsOf(line)
      this.#file?.syncNow()
    } catch (error) {
      const failure = failureCode(error)
      if (failure !== CLOSED && failure !== LINE_TOO_LONG) this.#enterTrouble(error, startedAt)
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
    return this.#shed === undefined || this.#clock.monoMs() >= this.#shed.untilMs
  }

  lastWords(text: string): void {
    this.#saidLastWords = this.#reserve?.keepWords(text, this.#clock.wallMs()) === true || this.#saidLastWords
  }

  stats(): JournalStats {
    return {
      recordsWritten: this.#recordsWritten,
      recordsDropped: this.#recordsDropped,
      chunksDropped: this.#chunksDropped,
      bytesWritten: this.#bytesWritten,
      filesOpened: this.#filesOpened,
      gapsWritten: this.#gapsWritten,
      syncFailures: this.#syncFailures,
    }
  }

  close(exit: JournalExit): void {
    if (this.#closed) return
    const now = this.#clock.monoMs()
    this.#intervalSync?.stop()
    clearTimeout(this.#retryTimer)
    this.#endShedding()
    try {
      if (this.#isUndeclared() || this.#file === undefined) this.#recover(now)
      if (this.#trouble === undefined) {
        this.#writeOther('"exit",', {
          exit_code: exit.exitCode,
          reason: exit.reason,
          records_written: this.#recordsWritten,
          records_dropped: this.#recordsDropped,
          at_ms: this.#clock.wallMs(),
          at_mono_us: Math.round(now * 1000),
        })
        if (this.#fsync !== "never") this.#file?.syncNow()
      }
    } catch (error) {
      this.#enterTrouble(error, now)
      clearTimeout(this.#retryTimer)
    }
    this.#closed = true
    this.#file?.retire()
    const hasNothingToSay = this.#recordsDropped === 0 && !this.#saidLastWords && !this.#isUndeclared()
    this.#reserve?.close({ remove: hasNothingToSay })
    this.#reserve = undefined
  }

  // Writing

  /** False when the line is longer than readers accept. */
  #writeEvent(line: EventLine): boolean {
    const file = this.#file!
    // JSON text holds a raw newline only between its tokens, where a space means the same.
    const json = line.json.includes("\n") ? line.json.replaceAll("\n", " ") : line.json
    if (json.length > MAX_LINE_BYTES) return false
    this.#eventEncoder.encode(json, line.bodies.length === 0 ? "}" : bodiesJson(file, line.bodies))
    const fits = this.#eventEncoder.byteLength <= MAX_LINE_BYTES
    if (fits) this.#bytesWritten += file.writeLine(this.#eventEncoder)
    this.#eventEncoder.relax()
    return fits
  }

  #writeOther(kind: string, value: Record<string, unknown>): void {
    this.#encoder.encode(kind, JSON.stringify(value).slice(1))
    this.#bytesWritten += this.#file!.writeLine(this.#encoder)
    this.#encoder.relax()
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
    if (now - startedAt > this.#slowWriteMs) this.#startShedding(now, now - startedAt)
  }

  #appendChunk(chunk: Chunk): boolean {
    const startedAt = this.#clock.monoMs()
    if (this.#closed) return false
    if (this.#shed !== undefined && startedAt < this.#shed.untilMs) {
      this.#shed.ledger.noteChunk(chunk.bytes.length, this.#clock.wallMs())
      this.#chunksDropped++
      return false
    }
    try {
      if (!this.#isReady(startedAt)) return this.#dropChunk(chunk)
      this.#writeChunk(this.#file!, chunk)
      if (this.#fsync === "always") this.#file!.syncNow()
    } catch (error) {
      this.#enterTrouble(error, startedAt)
      return this.#dropChunk(chunk)
    }
    this.#afterWrite(startedAt)
    return true
  }

  #writeChunk(file: OpenJournalFile, { streamId, start, streamOffset, atUs, bytes }: Chunk): void {
    const place = this.#streamPlaces.get(streamId) ?? { firstFileNo: file.fileNo, announcedIn: 0 }
    const of =
      place.announcedIn === file.fileNo
        ? ""
        : `"of":${JSON.stringify({ run_id: start.runId, step_id: start.stepId, role: start.role })},`
    const head = `"chunk","s":"${streamId}",${of}"o":${streamOffset},"us":${atUs},"d":`
    this.#encoder.encode(head, `${chunkJson(file, bytes)}}`)
    this.#bytesWritten += file.writeLine(this.#encoder)
    this.#encoder.relax()
    place.announcedIn = file.fileNo
    this.#streamPlaces.set(streamId, place)
  }

  // Files

  /** Whether a record can be written now; does on the way what is due: retry, rotate, look up. */
  #isReady(now: number): boolean {
    if (this.#trouble !== undefined && now < this.#trouble.retryAt) return false
    if ((this.#isUndeclared() || this.#file === undefined) && !this.#recover(now)) return false
    const file = this.#file!
    if (now >= this.#nextLookUpAt) {
      this.#lookUp(file, now)
      if (this.#isUndeclared() || this.#file === undefined) return this.#recover(now)
    } else if (file.byteSize >= this.#maxFileBytes && now >= this.#rotateAgainAt) {
      this.#rotate(now)
      if (this.#isUndeclared()) return this.#recover(now)
    }
    return true
  }

  #lookUp(file: OpenJournalFile, now: number): void {
    this.#nextLookUpAt = now + LOOK_UP_MS
    if (this.#shed !== undefined && now >= this.#shed.untilMs) this.#endShedding()
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
    if (this.#reserve?.isGone() ?? true) this.#reserveRoom()
    const before = this.#file
    const file = this.#createFile(now)
    this.#file = file
    try {
      this.#writeOther('"process",', this.#processJson(file.fileNo))
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

  #processJson(fileNo: number): Record<string, unknown> {
    const { pid, threadId, startTicks, bootId, pidNamespace, hostname, machineId } = this.#identity
    return {
      format_version: FORMAT_VERSION,
      writer_id: this.writerId,
      file_no: fileNo,
      process: {
        pid,
        thread_id: threadId,
        start_ticks: startTicks,
        boot_id: bootId,
        pid_namespace: pidNamespace,
        hostname,
        machine_id: machineId,
      },
      app_id: this.#appId,
      recorder_version: this.#recorderVersion,
      runtime: `node ${process.version} ${process.platform} ${process.arch}`,
      opened_ms: this.#clock.wallMs(),
      opened_mono_us: Math.round(this.#clock.monoMs() * 1000),
    }
  }

  #reserveRoom(): void {
    this.#reserve?.close({ remove: false })
    this.#reserve = undefined
    try {
      this.#reserve = ReserveFile.create(this.#fs, this.#folder, this.#stem)
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
    this.#writeGaps()
    this.#episodes.warn("cap", now, "JOURNAL_CAP", {
      what: `${losses.length} journal files (${loss.bytes} bytes) are deleted before anybody collected them`,
      where: this.#folder,
      next: 'Run "orangebox serve" or any reading command now and then, or raise journal.maxTotalBytes',
    })
  }

  // Trouble

  #enterTrouble(error: unknown, now: number): void {
    const failure = failureCode(error)
    if (this.#file !== undefined && ABANDONING.has(failure)) {
      this.#file.retire()
      this.#file = undefined
    }
    const isSameEpisode = this.#episodes.isRunning("disk", now)
    this.#episodes.warn("disk", now, "JOURNAL_WRITE", {
      what: `records are being dropped: the journal cannot be written (${failure})`,
      where: this.#file?.path ?? this.#folder,
      next: "The app goes on without them; recording resumes by itself once the disk takes writes again",
      cause: error,
    })
    const delayMs = isSameEpisode
      ? Math.min((this.#trouble?.delayMs ?? FIRST_RETRY_MS) * 2, LAST_RETRY_MS)
      : FIRST_RETRY_MS
    this.#trouble = { failure, delayMs, retryAt: now + delayMs }
    clearTimeout(this.#retryTimer)
    this.#retryTimer = setTimeout(() => {
      if (!this.#closed && this.#trouble !== undefined) this.#recover(this.#clock.monoMs())
    }, delayMs).unref()
  }

  /** Tries to write again, gap lines first. */
  #recover(now: number): boolean {
    try {
      if (this.#file === undefined) this.#openNextFile(now)
      this.#writeGaps()
      if (this.#drops !== undefined) {
        this.#drops.noteTime(this.#clock.wallMs())
        this.#writeGap(this.#drops.toGap())
        this.#drops = undefined
        this.#keepReserve()
      }
      this.#trouble = undefined
      return true
    } catch (error) {
      this.#enterTrouble(error, now)
      return false
    }
  }

  #writeGaps(): void {
    while (this.#gaps.length > 0) {
      this.#writeGap(this.#gaps[0]!)
      this.#gaps.shift()
    }
  }

  #writeGap(gap: Gap): void {
    this.#writeOther('"gap",', gapToJson(gap))
    if (this.#fsync === "always") this.#file!.syncNow()
    this.#gapsWritten++
    this.#intervalSync?.noteWrite()
  }

  #drop(line: EventLine, failure: string | null = null): AppendResult {
    const wallMs = this.#clock.wallMs()
    this.#recordsDropped++
    let bytes = line.json.length
    for (const body of line.bodies) if ("bytes" in body) bytes += body.bytes.length
    this.#dropLedger(failure, wallMs).noteRecord(line.runId, line.sequenceNo, bytes, wallMs)
    this.#keepReserve()
    return DROPPED
  }

  #dropChunk({ bytes }: Chunk): false {
    const wallMs = this.#clock.wallMs()
    this.#chunksDropped++
    this.#dropLedger(null, wallMs).noteChunk(bytes.length, wallMs)
    this.#keepReserve()
    return false
  }

  #dropLedger(failure: string | null, wallMs: number): GapLedger {
    this.#drops ??= new GapLedger(++this.#lastGapNo, "write_failed", failure ?? this.#trouble?.failure ?? null, wallMs)
    return this.#drops
  }

  #keepReserve(): void {
    this.#reserve?.keep({ recordsDropped: this.#recordsDropped, pendingGap: this.#drops?.toGap() ?? null })
  }

  #addGap(reason: GapReason, failure: string | null, what: Partial<Gap>): void {
    const wallMs = this.#clock.wallMs()
    const ledger = new GapLedger(++this.#lastGapNo, reason, failure, wallMs)
    this.#gaps.push({ ...ledger.toGap(), ...what })
  }

  #isUndeclared(): boolean {
    return this.#drops !== undefined || this.#gaps.length > 0
  }

  #troubleError(): Error {
    const failure = this.#trouble?.failure ?? "UNKNOWN"
    return coded(failure, `the journal cannot be written (${failure})`)
  }

  #startShedding(now: number, tookMs: number): void {
    if (this.#shed === undefined) {
      const ledger = new GapLedger(++this.#lastGapNo, "slow_write", null, this.#clock.wallMs())
      this.#shed = { untilMs: now + SHED_MS, ledger }
      this.#episodes.warn("slow", now, "JOURNAL_SLOW", {
        what: `a journal write took ${Math.round(tookMs)} ms; bodies are left out for a while`,
        where: this.#file?.path ?? this.#folder,
        next: "Events are still recorded; move the journal to a faster disk if this comes again",
      })
    }
    this.#shed.untilMs = now + SHED_MS
  }

  #endShedding(): void {
    if (this.#shed === undefined) return
    this.#shed.ledger.noteTime(this.#clock.wallMs())
    this.#gaps.push(this.#shed.ledger.toGap())
    this.#shed = undefined
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
