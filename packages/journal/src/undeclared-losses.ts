import { basename } from "node:path"
import type { EventLine } from "./journal.js"
import type { OpenJournalFile } from "./journal-file.js"
import type { JournalFs } from "./journal-fs.js"
import type { Gap, GapReason } from "./line-format.js"
import { ReserveFile } from "./reserve-file.js"
import { RunRanges } from "./run-ranges.js"
import type { Clock } from "./writer-settings.js"

/**
 * What is missing and not yet said in the journal. Until a gap line can say it, the reserve file does, so that neither a full disk nor
 * a death leaves a loss unnamed.
 */
export class UndeclaredLosses {
  readonly #clock: Clock
  #reserve: ReserveFile | undefined
  #saidLastWords = false
  #lastGapNo = 0
  /** Drops that no gap line has declared yet. */
  #drops: GapBuilder | undefined
  /** Other gaps that wait for their line. */
  #gaps: Gap[] = []
  recordsDropped = 0
  chunksDropped = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get isUndeclared(): boolean {
    return this.#drops !== undefined || this.#gaps.length > 0
  }

  dropRecord(line: EventLine, failure: string | null): void {
    this.recordsDropped++
    let bytes = line.json.length
    for (const body of line.bodies) if ("bytes" in body) bytes += body.bytes.length
    const wallMs = this.#clock.wallMs()
    this.#dropGap(failure, wallMs).noteRecord(line.runId, line.sequenceNo, bytes, wallMs)
    this.#keepReserve()
  }

  dropChunk(byteSize: number, failure: string | null): void {
    this.chunksDropped++
    const wallMs = this.#clock.wallMs()
    this.#dropGap(failure, wallMs).noteChunk(byteSize, wallMs)
    this.#keepReserve()
  }

  addGap(reason: GapReason, failure: string | null, what: Partial<Gap>): void {
    this.#gaps.push({ ...this.startGap(reason, failure).toGap(), ...what })
  }

  /** All records of a file that another process deleted or emptied, or that the disk would not sync. */
  addFileInDoubt(reason: GapReason, failure: string | null, { path, byteSize, contents }: OpenJournalFile): void {
    this.addGap(reason, failure, {
      records: contents.records,
      bytes: byteSize,
      runs: contents.list(),
      recordsNotListed: contents.notListed,
      files: [basename(path)],
    })
  }

  /** For a loss that goes on for a while. */
  startGap(reason: GapReason, failure: string | null): GapBuilder {
    return new GapBuilder(++this.#lastGapNo, reason, failure, this.#clock.wallMs())
  }

  endGap(gap: GapBuilder): void {
    gap.noteTime(this.#clock.wallMs())
    this.#gaps.push(gap.toGap())
  }

  /** Hands every gap to `write`. One whose write throws is kept, and so are those behind it. */
  declare(write: (gap: Gap) => void): void {
    while (this.#gaps.length > 0) {
      write(this.#gaps[0]!)
      this.#gaps.shift()
    }
    if (this.#drops === undefined) return
    this.#drops.noteTime(this.#clock.wallMs())
    write(this.#drops.toGap())
    this.#drops = undefined
    this.#keepReserve()
  }

  /** Makes a reserve file where there is none, or none any more. */
  ensureReserve(fs: JournalFs, folder: string, stem: string): void {
    if (this.#reserve !== undefined && !this.#reserve.isGone()) return
    this.#reserve?.close({ remove: false })
    this.#reserve = undefined
    this.#reserve = ReserveFile.create(fs, folder, stem)
  }

  lastWords(text: string): void {
    this.#saidLastWords = this.#reserve?.keepWords(text, this.#clock.wallMs()) === true || this.#saidLastWords
  }

  /** The reserve file stays behind only when it has something to say. */
  close(): void {
    const hasNothingToSay = this.recordsDropped === 0 && !this.#saidLastWords && !this.isUndeclared
    this.#reserve?.close({ remove: hasNothingToSay })
    this.#reserve = undefined
  }

  #dropGap(failure: string | null, wallMs: number): GapBuilder {
    this.#drops ??= new GapBuilder(++this.#lastGapNo, "write_failed", failure, wallMs)
    return this.#drops
  }

  #keepReserve(): void {
    this.#reserve?.keep({ recordsDropped: this.recordsDropped, pendingGap: this.#drops?.toGap() ?? null })
  }
}

/** Adds up what is being lost until a gap line can say so. */
export class GapBuilder {
  readonly #about: Pick<Gap, "gapNo" | "reason" | "failure" | "fromMs">
  readonly #ranges = new RunRanges()
  readonly #sum: { toMs: number; chunks: number; bytes: number }

  constructor(gapNo: number, reason: GapReason, failure: string | null, fromMs: number) {
    this.#about = { gapNo, reason, failure, fromMs }
    this.#sum = { toMs: fromMs, chunks: 0, bytes: 0 }
  }

  noteRecord(runId: string | null, sequenceNo: number | null, bytes: number, atMs: number): void {
    this.#ranges.note(runId, sequenceNo)
    this.#sum.bytes += bytes
    this.#sum.toMs = atMs
  }

  noteChunk(bytes: number, atMs: number): void {
    this.#sum.chunks++
    this.#sum.bytes += bytes
    this.#sum.toMs = atMs
  }

  noteTime(atMs: number): void {
    this.#sum.toMs = atMs
  }

  toGap(): Gap {
    const { records, notListed: recordsNotListed } = this.#ranges
    return {
      ...this.#about,
      ...this.#sum,
      records,
      runs: this.#ranges.list(),
      recordsNotListed,
      files: [],
      filesNotListed: 0,
    }
  }
}
