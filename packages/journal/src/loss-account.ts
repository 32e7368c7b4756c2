import { basename } from "node:path"
import type { Clock } from "./clock.js"
import { GapLedger } from "./gap-ledger.js"
import type { EventLine } from "./journal.js"
import type { OpenJournalFile } from "./journal-file.js"
import type { JournalFs } from "./journal-fs.js"
import type { Gap, GapReason } from "./line-format.js"
import { ReserveFile } from "./reserve-file.js"

/**
 * What is missing and not yet said in the journal. Until a gap line can say it, the reserve file does, so that neither a full disk nor
 * a death leaves a loss unnamed.
 */
export class LossAccount {
  readonly #clock: Clock
  #reserve: ReserveFile | undefined
  #saidLastWords = false
  #lastGapNo = 0
  /** Drops that no gap line has declared yet. */
  #drops: GapLedger | undefined
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
    this.#dropLedger(failure, wallMs).noteRecord(line.runId, line.sequenceNo, bytes, wallMs)
    this.#keepReserve()
  }

  dropChunk(byteSize: number, failure: string | null): void {
    this.chunksDropped++
    const wallMs = this.#clock.wallMs()
    this.#dropLedger(failure, wallMs).noteChunk(byteSize, wallMs)
    this.#keepReserve()
  }

  addGap(reason: GapReason, failure: string | null, what: Partial<Gap>): void {
    this.#gaps.push({ ...this.openLedger(reason, failure).toGap(), ...what })
  }

  /** All records of a file that somebody spoiled, or that the disk would not sync. */
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
  openLedger(reason: GapReason, failure: string | null): GapLedger {
    return new GapLedger(++this.#lastGapNo, reason, failure, this.#clock.wallMs())
  }

  closeLedger(ledger: GapLedger): void {
    ledger.noteTime(this.#clock.wallMs())
    this.#gaps.push(ledger.toGap())
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

  #dropLedger(failure: string | null, wallMs: number): GapLedger {
    this.#drops ??= new GapLedger(++this.#lastGapNo, "write_failed", failure, wallMs)
    return this.#drops
  }

  #keepReserve(): void {
    this.#reserve?.keep({ recordsDropped: this.recordsDropped, pendingGap: this.#drops?.toGap() ?? null })
  }
}
