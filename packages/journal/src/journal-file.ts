import { join } from "node:path"
import type { BodyHash } from "@orangebox/contract"
import type { JournalFs } from "./journal-fs.js"
import { linesName, sidecarName } from "./journal-name.js"
import type { LineEncoder } from "./line-encoder.js"
import { createPrivateFile } from "./private-file.js"
import { RecentMap } from "./recent-map.js"
import { RunRanges } from "./run-ranges.js"

/** Bodies remembered per file, so that what an agent sends again and again is written once. */
const REMEMBERED_BODIES = 1024

const FOLDERS_CANNOT_BE_SYNCED = process.platform === "win32"

/** A write that took fewer bytes than it was given, twice in a row: in practice a disk that has just become full. */
export class ShortWriteError extends Error {
  readonly code = "SHORT_WRITE"
}

/**
 * One journal file and its sidecar. Every method either does the whole of what it says or throws; what a failure means for the
 * record is decided by the writer.
 */
export class OpenJournalFile {
  readonly path: string
  readonly sidecarPath: string
  readonly fileNo: number
  readonly openedAtMs: number
  readonly contents = new RunRanges()
  readonly #fs: JournalFs
  readonly #folder: string
  readonly #fd: number
  readonly #writtenBodies = new RecentMap<BodyHash, number>(REMEMBERED_BODIES)
  #sidecarFd: number | undefined
  #lineBytes = 0
  #bodyBytes = 0
  #hasFragment = false
  #folderSynced = FOLDERS_CANNOT_BE_SYNCED
  #syncsUnderWay = 0
  #retired = false

  private constructor(fs: JournalFs, folder: string, stem: string, fileNo: number, openedAtMs: number) {
    this.#fs = fs
    this.#folder = folder
    this.fileNo = fileNo
    this.openedAtMs = openedAtMs
    this.path = join(folder, linesName(stem, fileNo))
    this.sidecarPath = join(folder, sidecarName(stem, fileNo))
    this.#fd = createPrivateFile(this.path, "append", fs)
  }

  static create(
    fs: JournalFs,
    place: { folder: string; stem: string; fileNo: number },
    openedAtMs: number,
  ): OpenJournalFile {
    return new OpenJournalFile(fs, place.folder, place.stem, place.fileNo, openedAtMs)
  }

  /** Lines and bodies together: that is what fills the disk. */
  get byteSize(): number {
    return this.#lineBytes + this.#bodyBytes
  }

  /**
   * Appends the encoder's line with one write(2). Node continues a short write by itself, so one that comes back short has met an
   * error half-way. It is done again as a whole, on a fresh line: an acknowledged line is always in one piece.
   */
  writeLine(encoder: LineEncoder): number {
    for (let attempt = 1; ; attempt++) {
      const start = encoder.start(this.#hasFragment)
      const length = encoder.end - start
      const written = this.#fs.writeSync(this.#fd, encoder.buffer, start, length)
      this.#lineBytes += written
      if (written === length) {
        this.#hasFragment = false
        return length
      }
      this.#hasFragment = true
      if (attempt === 2) throw new ShortWriteError(`the disk took ${written} of ${length} bytes`)
    }
  }

  /** Where in the sidecar the body is: where it was written before, or at the end, where it is written now. */
  placeBody(hash: BodyHash, bytes: Uint8Array): number {
    const earlier = this.#writtenBodies.get(hash)
    if (earlier !== undefined) return earlier
    const offset = this.placeBytes(bytes)
    this.#writtenBodies.set(hash, offset)
    return offset
  }

  /**
   * Bytes at the end of the sidecar. They are placed by offset rather than appended: after a failure the next body simply overwrites
   * what the failed one left, and an offset in a line is right whatever else happened to the file.
   */
  placeBytes(bytes: Uint8Array): number {
    this.#sidecarFd ??= this.#createSidecar()
    const offset = this.#bodyBytes
    for (let done = 0; done < bytes.length; ) {
      const written = this.#fs.writeSync(this.#sidecarFd, bytes, done, bytes.length - done, offset + done)
      if (written === 0) throw new ShortWriteError(`the disk took ${done} of ${bytes.length} bytes`)
      done += written
    }
    this.#bodyBytes += bytes.length
    return offset
  }

  /** What another process did to the files while this one writes to them. */
  tampering(): "unlinked" | "truncated" | undefined {
    const lines = this.#fs.fstatSync(this.#fd)
    const bodies = this.#sidecarFd === undefined ? undefined : this.#fs.fstatSync(this.#sidecarFd)
    if (lines.nlink === 0 || bodies?.nlink === 0) return "unlinked"
    const isShorter = lines.size < this.#lineBytes || (bodies !== undefined && bodies.size < this.#bodyBytes)
    return isShorter ? "truncated" : undefined
  }

  /** Bodies first: a line that survives a power cut has its bytes. */
  syncNow(): void {
    if (this.#sidecarFd !== undefined) this.#fs.fdatasyncSync(this.#sidecarFd)
    this.#fs.fdatasyncSync(this.#fd)
    if (this.#folderSynced) return
    const folderFd = this.#fs.openSync(this.#folder, 0)
    try {
      this.#fs.fsyncSync(folderFd)
    } finally {
      this.#fs.closeSync(folderFd)
    }
    this.#folderSynced = true
  }

  /** The same without holding up the caller. `done` is called once, with the first error if there was one. */
  syncLater(done: (error: Error | null) => void): void {
    this.#syncsUnderWay++
    const finish = (error: Error | null) => {
      this.#syncsUnderWay--
      if (this.#retired && this.#syncsUnderWay === 0) this.#close()
      done(error)
    }
    const syncLines = (error: Error | null) => {
      if (error) finish(error)
      else this.#fs.fdatasync(this.#fd, (lineError) => (lineError ? finish(lineError) : this.#syncFolderLater(finish)))
    }
    if (this.#sidecarFd === undefined) syncLines(null)
    else this.#fs.fdatasync(this.#sidecarFd, syncLines)
  }

  /** Nothing more will be written. The file descriptors are closed once no sync needs them. */
  retire(): void {
    this.#retired = true
    if (this.#syncsUnderWay === 0) this.#close()
  }

  /** Takes back a file that could not even be begun. */
  discard(): void {
    this.retire()
    try {
      this.#fs.unlinkSync(this.path)
    } catch {
      // Left behind, it is an empty file, which readers pass over.
    }
  }

  #createSidecar(): number {
    const fd = createPrivateFile(this.sidecarPath, "change", this.#fs)
    this.#folderSynced = FOLDERS_CANNOT_BE_SYNCED
    return fd
  }

  #syncFolderLater(done: (error: Error | null) => void): void {
    if (this.#folderSynced) {
      done(null)
      return
    }
    let folderFd: number
    try {
      folderFd = this.#fs.openSync(this.#folder, 0)
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)))
      return
    }
    this.#fs.fsync(folderFd, (error) => {
      this.#closeQuietly(folderFd)
      this.#folderSynced ||= error === null
      done(error)
    })
  }

  #close(): void {
    this.#closeQuietly(this.#fd)
    if (this.#sidecarFd !== undefined) this.#closeQuietly(this.#sidecarFd)
  }

  #closeQuietly(fd: number): void {
    try {
      this.#fs.closeSync(fd)
    } catch {
      // Nothing is buffered in a descriptor: what write(2) took is taken, whatever close(2) says.
    }
  }
}
