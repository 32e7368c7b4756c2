import { join } from "node:path"
import { IntervalSync } from "./interval-sync.js"
import { OpenJournalFile } from "./journal-file.js"
import { failureCode, isRefusal } from "./journal-fs.js"
import { linesName, sidecarName } from "./journal-name.js"
import { FORMAT_VERSION } from "./line-format.js"
import type { LineWriter } from "./line-writer.js"
import { openPrivateFile } from "./private-file.js"
import type { RunRanges } from "./run-ranges.js"
import { ensurePrivateFolder } from "./safe-folder.js"
import { evictAboveCap, type Loss, sumOfLosses } from "./total-cap.js"
import type { UndeclaredLosses } from "./undeclared-losses.js"
import type { WarningLimiter } from "./warning-limiter.js"
import type { WriterSettings } from "./writer-settings.js"

/** Without a new file the old one serves on, and a new one is tried for again after this time. */
const ROTATE_AGAIN_MS = 2000

/** The files of one writer, one after the other: which one is written to, when the next is begun, when they are synced and deleted. */
export class FileSequence {
  readonly #settings: WriterSettings
  readonly #lines: LineWriter
  readonly #losses: UndeclaredLosses
  readonly #warnings: WarningLimiter
  readonly #intervalSync: IntervalSync | undefined
  /** The file being written to; none after one was left and before the next could be begun. */
  current: OpenJournalFile | undefined
  #lastFileNo = 0
  /** What the files before the current one hold, should the cap take them. */
  readonly #earlier = new Map<number, RunRanges>()
  #rotateAgainAt = 0
  filesOpened = 0
  gapsWritten = 0
  syncFailures = 0

  constructor(settings: WriterSettings, lines: LineWriter, losses: UndeclaredLosses, warnings: WarningLimiter) {
    this.#settings = settings
    this.#lines = lines
    this.#losses = losses
    this.#warnings = warnings
    if (settings.fsync !== "interval") return
    this.#intervalSync = new IntervalSync(
      () => this.current,
      (file, error) => this.#afterFailedSync(file, error),
    )
  }

  get place(): string {
    return this.current?.path ?? this.#settings.folder
  }

  /** Begins a new file, as the current one. Throws, and changes nothing, when there can be none. */
  openNext(now: number): void {
    ensurePrivateFolder(this.#settings.folder, this.#settings.fs)
    this.#reserveRoom()
    const file = this.#create(now)
    try {
      this.#begin(file)
    } catch (error) {
      file.discard()
      throw error
    }
    if (this.current !== undefined) this.#earlier.set(this.current.fileNo, this.current.contents)
    this.current = file
    this.#lastFileNo = file.fileNo
    this.filesOpened++
    this.#rotateAgainAt = 0
    this.#enforceTotalCap(now)
  }

  rotateWhenFull(now: number): void {
    if (this.current!.byteSize >= this.#settings.maxFileBytes && now >= this.#rotateAgainAt) this.#rotate(now)
  }

  /** What is worth a look only now and then: a sync that is due, what others did to the file, its age. */
  lookUp(now: number): void {
    const file = this.current!
    this.#intervalSync?.due()
    const tampering = file.tampering()
    if (tampering !== undefined) this.#leaveTampered(file, tampering, now)
    else if (now - file.openedAtMs >= this.#settings.maxFileAgeMs) this.#rotate(now)
    else if (file.byteSize >= this.#settings.maxFileBytes) this.#rotate(now)
  }

  /** Leaves the current file, which takes no more, before the next is begun. */
  leave(): void {
    if (this.current === undefined) return
    this.#earlier.set(this.current.fileNo, this.current.contents)
    this.current.retire()
    this.current = undefined
  }

  noteWrite(): void {
    this.#intervalSync?.noteWrite()
  }

  /** Writes a gap line for everything that is missing and not yet said. */
  declareLosses(): void {
    this.#losses.declare((gap) => {
      this.#lines.gap(this.current!, gap)
      if (this.#settings.fsync === "always") this.current!.syncNow()
      this.gapsWritten++
      this.noteWrite()
    })
  }

  /** Syncs the current file, and the earlier ones from `fileNo` on, which otherwise only the interval would have synced. */
  syncFrom(fileNo: number): void {
    for (let earlier = fileNo; earlier < this.#lastFileNo; earlier++) {
      // A file without large bodies has no sidecar; one whose lines are gone has lost the chunks.
      this.#syncByName(sidecarName(this.#settings.stem, earlier), { mayBeMissing: true })
      this.#syncByName(linesName(this.#settings.stem, earlier), { mayBeMissing: false })
    }
    this.current!.syncNow()
  }

  stopSyncing(): void {
    this.#intervalSync?.stop()
  }

  #reserveRoom(): void {
    const { fs, folder, stem } = this.#settings
    try {
      this.#losses.ensureReserve(fs, folder, stem)
    } catch (error) {
      // Without room for the reserve there may still be room for records, and those matter more.
      if (isRefusal(error)) throw error
    }
  }

  #create(now: number): OpenJournalFile {
    const { fs, folder, stem } = this.#settings
    const fileNo = this.#lastFileNo + 1
    try {
      return OpenJournalFile.create(fs, { folder, stem, fileNo }, now)
    } catch (error) {
      // Whatever stands at our name is not ours to touch: the next attempt takes the next number.
      if (failureCode(error) === "EEXIST") this.#lastFileNo = fileNo
      throw error
    }
  }

  #begin(file: OpenJournalFile): void {
    const { writerId, identity, appId, recorderVersion, clock, fsync } = this.#settings
    this.#lines.process(file, {
      formatVersion: FORMAT_VERSION,
      writerId,
      fileNo: file.fileNo,
      process: identity,
      appId,
      recorderVersion,
      runtime: `node ${process.version} ${process.platform} ${process.arch}`,
      openedMs: clock.wallMs(),
      openedMonoUs: Math.round(clock.monoMs() * 1000),
    })
    if (fsync === "always") file.syncNow()
  }

  #rotate(now: number): void {
    const old = this.current!
    if (old.contents.records === 0 && old.byteSize < this.#settings.maxFileBytes) return
    try {
      this.openNext(now)
    } catch (error) {
      this.#rotateAgainAt = now + ROTATE_AGAIN_MS
      this.#warnings.warn("disk", now, "JOURNAL_ROTATE", {
        what: `no new journal file could be begun (${failureCode(error)})`,
        where: this.#settings.folder,
        next: "Recording goes on in the old one; make room or raise the limit on open files",
        cause: error,
      })
      return
    }
    if (this.#intervalSync === undefined) old.retire()
    else this.#intervalSync.syncAndRetire(old)
  }

  #leaveTampered(file: OpenJournalFile, reason: "unlinked" | "truncated", now: number): void {
    this.#losses.addFileInDoubt(reason, null, file)
    this.#warnings.warn("disk", now, "JOURNAL_TAMPERED", {
      what: `the journal file was ${reason} while it was being written; up to ${file.contents.records} records may be lost`,
      where: file.path,
      next: "Recording goes on in a new file; leave the files of running processes alone",
    })
    this.leave()
  }

  /** A failed sync is never tried again: the kernel has marked the pages clean, and the next one would succeed without them. */
  #afterFailedSync(file: OpenJournalFile, error: Error): void {
    this.syncFailures++
    const failure = failureCode(error)
    this.#losses.addFileInDoubt("sync_failed", failure, file)
    this.#warnings.warn("disk", this.#settings.clock.monoMs(), "JOURNAL_SYNC", {
      what: `the disk refused to sync the journal (${failure}); its records might not survive a power cut`,
      where: file.path,
      next: "Recording goes on in a new file; check the disk",
      cause: error,
    })
    if (this.current === file) this.leave()
  }

  #enforceTotalCap(now: number): void {
    try {
      const left = evictAboveCap(this.#settings, this.#earlier, (losses) => this.#declareEvicted(losses, now))
      for (const fileNo of this.#earlier.keys()) if (!left.has(fileNo)) this.#earlier.delete(fileNo)
    } catch {
      // The cap is housekeeping: what could not be deleted now is tried again with the next file.
    }
  }

  #declareEvicted(losses: readonly Loss[], now: number): void {
    const loss = sumOfLosses(losses)
    this.#losses.addGap("total_cap", null, loss)
    this.declareLosses()
    this.#warnings.warn("cap", now, "JOURNAL_CAP", {
      what: `${losses.length} journal files (${loss.bytes} bytes) are deleted before they were collected`,
      where: this.#settings.folder,
      next: 'Run "orangebox serve" or any reading command now and then, or raise journal.maxTotalBytes',
    })
  }

  #syncByName(name: string, { mayBeMissing }: { mayBeMissing: boolean }): void {
    const { fs, folder } = this.#settings
    let fd: number
    try {
      fd = openPrivateFile(join(folder, name), "read", fs)
    } catch (error) {
      if (mayBeMissing && failureCode(error) === "ENOENT") return
      throw error
    }
    try {
      fs.fdatasyncSync(fd)
    } finally {
      fs.closeSync(fd)
    }
  }
}
