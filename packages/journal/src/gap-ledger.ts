import type { Gap, GapReason } from "./line-format.js"
import { RunRanges } from "./run-ranges.js"

/** Adds up what is being lost until a gap line can say so. */
export class GapLedger {
  readonly #gapNo: number
  readonly #reason: GapReason
  readonly #failure: string | null
  readonly #fromMs: number
  readonly #ranges = new RunRanges()
  #toMs: number
  #chunks = 0
  #bytes = 0

  constructor(gapNo: number, reason: GapReason, failure: string | null, fromMs: number) {
    this.#gapNo = gapNo
    this.#reason = reason
    this.#failure = failure
    this.#fromMs = fromMs
    this.#toMs = fromMs
  }

  noteRecord(runId: string | null, sequenceNo: number | null, bytes: number, atMs: number): void {
    this.#ranges.note(runId, sequenceNo)
    this.#bytes += bytes
    this.#toMs = atMs
  }

  noteChunk(bytes: number, atMs: number): void {
    this.#chunks++
    this.#bytes += bytes
    this.#toMs = atMs
  }

  noteTime(atMs: number): void {
    this.#toMs = atMs
  }

  toGap(): Gap {
    return {
      gapNo: this.#gapNo,
      reason: this.#reason,
      failure: this.#failure,
      fromMs: this.#fromMs,
      toMs: this.#toMs,
      records: this.#ranges.records,
      chunks: this.#chunks,
      bytes: this.#bytes,
      runs: this.#ranges.list(),
      recordsNotListed: this.#ranges.notListed,
      files: [],
      filesNotListed: 0,
    }
  }
}
