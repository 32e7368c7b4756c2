import type { RunRange } from "./line-format.js"

const MOST_RUNS = 64

/** Which records of which runs: a bounded list of ranges. Kept for what a file holds and for what was dropped. */
export class RunRanges {
  readonly #ranges = new Map<string, { first: number | null; last: number | null; count: number }>()
  #latestRunId: string | null = null
  #latest: { first: number | null; last: number | null; count: number } | undefined
  records = 0
  notListed = 0

  note(runId: string | null, sequenceNo: number | null): void {
    this.records++
    if (runId === null) {
      this.notListed++
      return
    }
    // Records of one run mostly follow each other, which spares the lookup on the hot path.
    const range = runId === this.#latestRunId ? this.#latest : this.#rangeOf(runId)
    if (range === undefined) {
      this.notListed++
      return
    }
    range.count++
    if (sequenceNo === null) return
    if (range.first === null || sequenceNo < range.first) range.first = sequenceNo
    if (range.last === null || sequenceNo > range.last) range.last = sequenceNo
  }

  list(): RunRange[] {
    return [...this.#ranges].map(([runId, range]) => ({
      runId,
      firstSequenceNo: range.first,
      lastSequenceNo: range.last,
      count: range.count,
    }))
  }

  #rangeOf(runId: string): { first: number | null; last: number | null; count: number } | undefined {
    let range = this.#ranges.get(runId)
    if (range === undefined && this.#ranges.size < MOST_RUNS) {
      range = { first: null, last: null, count: 0 }
      this.#ranges.set(runId, range)
    }
    if (range !== undefined) {
      this.#latestRunId = runId
      this.#latest = range
    }
    return range
  }
}
