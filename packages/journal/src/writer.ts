import { randomBytes } from "node:crypto"
import { basename, join } from "node:path"
import {
  type ErrorStory,
  type FsyncPolicy,
  incrementalBodyHash,
  OrangeboxError,
  SystemError,
} from "@orangebox/contract"
import { bodiesJson, chunkJson } from "./body-entry.js"
import { type Clock, clockOf } from "./clock.js"
import { gapToJson } from "./gap-json.js"
import { GapLedger } from "./gap-ledger.js"
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
import { ReserveFile } from "./reserve-file.js"
import type { RunRanges } from "./run-ranges.js"
import { ensurePrivateFolder } from "./safe-folder.js"
import { chooseEvictions, type Loss, sumOfLosses } from "./total-cap.js"

const MIB = 1024 * 1024
/** Readers skip longer lines, so writing one would be losing it without a word. */
const MAX_LINE_BYTES = 64 * MIB
/** How often the writer looks up from appending: age, tampering, syncing, the end of shedding. */
const LOOK_UP_MS = 1000
const SYNC_INTERVAL_MS = 1000
const SHED_MS = 10_000
const FIRST_RETRY_MS = 50
const LAST_RETRY_MS = 2000
/** Trouble that comes back within this time is the same episode: no second warning, and retries stay far apart. */
const EPISODE_MS = 10_000
const NEVER = Number.NEGATIVE_INFINITY

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
  readonly #onWarning: (warning: OrangeboxError) => void

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
  #isDirty = false
  #isSyncing = false
  #syncTimer: NodeJS.Timeout | undefined

  #lastGapNo = 0
  /** Drops that no gap line has declared yet. */
  #drops: GapLedger | undefined
  /** Other gaps that wait for their line. */
  #gaps: Gap[] = []
  #trouble: { retryAt: number; delayMs: number; failure: string } | undefined
  readonly #lastTroubleAt = { disk: NEVER, slow: NEVER, cap: NEVER }
  #retryTimer: NodeJS.Timeout | undefined
  #shed: { untilMs: number; ledger: GapLedger } | undefined

  #streams = 0
  /** In which file each unfinished or not yet recorded stream began. */
  readonly #streamFileNos = new Map<string, number>()

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
    this.#onWarning = options.onWarning ?? (() => {})
    const now = this.#clock.monoMs()
    this.#nextLookUpAt = now + LOOK_UP_MS
    try {
      this.#reserveRoom()
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
    const openedAt = this.#clock.monoMs()
    const running = incrementalBodyHash()
    let byteSize = 0
    let complete = true
    let announcedIn: number | undefined
    return {
      id,
      write: (bytes) => {
        if (bytes.length === 0) return true
        running.update(bytes)
        const streamOffset = byteSize
        byteSize += bytes.length
        const kept = this.#appendChunk(bytes, (file) => {
          const start = announcedIn === file.fileNo ? undefined : stream
          announcedIn = file.fileNo
          if (!this.#streamFileNos.has(id)) this.#streamFileNos.set(id, file.fileNo)
          return { id, start, streamOffset, atUs: Math.round((this.#clock.monoMs() - openedAt) * 1000) }
        })
        complete &&= kept
        return kept
      },
      finish: () => ({ hash: running.digest(), byteSize, complete }),
    }
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
    clearTimeout(this.#syncTimer)
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
    if (this.#eventEncoder.byteLength > MAX_LINE_BYTES) return false
    this.#bytesWritten += file.writeLine(this.#eventEncoder)
    this.#eventEncoder.relax()
    return true
  }

  #writeOther(kind: string, value: Record<string, unknown>): void {
    this.#encoder.encode(kind, JSON.stringify(value).slice(1))
    this.#bytesWritten += this.#file!.writeLine(this.#encoder)
    this.#encoder.relax()
  }

  #acknowledge(line: EventLine, startedAt: number): void {
    this.#recordsWritten++
    this.#file!.contents.note(line.runId, line.sequenceNo)
    for (const body of line.bodies) if ("streamId" in body) this.#streamFileNos.delete(body.streamId)
    this.#afterWrite(startedAt)
  }

  #afterWrite(startedAt: number): void {
    if (!this.#isDirty && this.#fsync === "interval") this.#becomeDirty()
    const now = this.#clock.monoMs()
    if (now - startedAt > this.#slowWriteMs) this.#startShedding(now, now - startedAt)
  }

  #appendChunk(
    bytes: Uint8Array,
    place: (file: OpenJournalFile) => {
      id: string
      start: StreamStart | undefined
      streamOffset: number
      atUs: number
    },
  ): boolean {
    const startedAt = this.#clock.monoMs()
    if (this.#closed) return false
    if (this.#shed !== undefined && startedAt < this.#shed.untilMs) {
      this.#shed.ledger.noteChunk(bytes.length, this.#clock.wallMs())
      this.#chunksDropped++
      return false
    }
    try {
      if (!this.#isReady(startedAt)) return this.#dropChunk(bytes)
      const file = this.#file!
      const { id, start, streamOffset, atUs } = place(file)
      const of =
        start === undefined
          ? ""
          : `"of":${JSON.stringify({ run_id: start.runId, step_id: start.stepId, role: start.role })},`
      this.#encoder.encode(
        `"chunk","s":"${id}",${of}"o":${streamOffset},"us":${atUs},"d":`,
        `${chunkJson(file, bytes)}}`,
      )
      this.#bytesWritten += file.writeLine(this.#encoder)
      this.#encoder.relax()
      if (this.#fsync === "always") file.syncNow()
    } catch (error) {
      this.#enterTrouble(error, startedAt)
      return this.#dropChunk(bytes)
    }
    this.#afterWrite(startedAt)
    return true
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
    if (this.#isDirty) this.#startSync()
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
    this.#warn("disk", now, "JOURNAL_TAMPERED", {
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
      this.#warn("disk", now, "JOURNAL_ROTATE", {
        what: `no new journal file could be begun (${failureCode(error)})`,
        where: this.#folder,
        next: "Recording goes on in the old one; make room or raise the limit on open files",
        cause: error,
      })
      return
    }
    this.#rotated.set(old.fileNo, old.contents)
    if (this.#fsync === "never") old.retire()
    else this.#syncAndRetire(old)
  }

  #openNextFile(now: number): void {
    ensurePrivateFolder(this.#fs, this.#folder)
    const place = { folder: this.#folder, stem: this.#stem, fileNo: this.#lastFileNo + 1 }
    const before = this.#file
    const file = OpenJournalFile.create(this.#fs, place, now)
    this.#lastFileNo = place.fileNo
    this.#file = file
    try {
      this.#writeOther('"process",', this.#processJson(place.fileNo))
    } catch (error) {
      this.#file = before
      file.retire()
      throw error
    }
    this.#filesOpened++
    this.#rotateAgainAt = 0
    if (this.#fsync === "always") file.syncNow()
    this.#enforceTotalCap(now)
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
    ensurePrivateFolder(this.#fs, this.#folder)
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
    this.#warn("cap", now, "JOURNAL_CAP", {
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
    const isSameEpisode = now - this.#lastTroubleAt.disk < EPISODE_MS
    this.#warn("disk", now, "JOURNAL_WRITE", {
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
    if (!this.#isDirty && this.#fsync === "interval") this.#becomeDirty()
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

  #dropChunk(bytes: Uint8Array): false {
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

  /** Once per episode: trouble that follows trouble of the same sort is the same story. */
  #warn(sort: "disk" | "slow" | "cap", now: number, code: string, story: ErrorStory): void {
    const isSameEpisode = now - this.#lastTroubleAt[sort] < EPISODE_MS
    this.#lastTroubleAt[sort] = now
    if (isSameEpisode) return
    try {
      this.#onWarning(new OrangeboxError(code, story))
    } catch {
      // A warning that cannot be delivered must not become a failure of the app.
    }
  }

  #startShedding(now: number, tookMs: number): void {
    if (this.#shed === undefined) {
      const ledger = new GapLedger(++this.#lastGapNo, "slow_write", null, this.#clock.wallMs())
      this.#shed = { untilMs: now + SHED_MS, ledger }
      this.#warn("slow", now, "JOURNAL_SLOW", {
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

  #becomeDirty(): void {
    this.#isDirty = true
    if (this.#isSyncing || this.#syncTimer !== undefined) return
    this.#syncTimer = setTimeout(() => {
      this.#syncTimer = undefined
      if (!this.#closed) this.#startSync()
    }, SYNC_INTERVAL_MS).unref()
  }

  #startSync(): void {
    const file = this.#file
    if (this.#isSyncing || file === undefined) return
    clearTimeout(this.#syncTimer)
    this.#syncTimer = undefined
    this.#isDirty = false
    this.#isSyncing = true
    file.syncLater((error) => {
      this.#isSyncing = false
      if (error !== null) this.#afterFailedSync(file, error)
      if (this.#isDirty && !this.#closed) this.#becomeDirty()
    })
  }

  #syncAndRetire(file: OpenJournalFile): void {
    file.syncLater((error) => {
      if (error !== null) this.#afterFailedSync(file, error)
    })
    file.retire()
  }

  /** A failed sync is never tried again: the kernel has marked the pages clean, and the next one would succeed without them. */
  #afterFailedSync(file: OpenJournalFile, error: Error): void {
    if (this.#closed) return
    this.#syncFailures++
    const now = this.#clock.monoMs()
    this.#addGap("sync_failed", failureCode(error), {
      records: file.contents.records,
      bytes: file.byteSize,
      runs: file.contents.list(),
      recordsNotListed: file.contents.notListed,
      files: [basename(file.path)],
    })
    this.#warn("disk", now, "JOURNAL_SYNC", {
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
      if ("streamId" in body) first = Math.min(first, this.#streamFileNos.get(body.streamId) ?? first)
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
