import type { Event } from "@orangebox/contract"

/** Something of a run that was attempted and is not there. */
export interface Gap {
  readonly reason: string
  readonly count: number
  readonly fromSequence: number | null
  readonly toSequence: number | null
  /** Where what is lost may be the end of the run. */
  readonly mayBeEnd?: true
}

/**
 * Every loss: the gaps that were recorded, and holes in the sequence that no gap explains. A gap without a range explains as many missing
 * numbers as it counts, so nothing is counted twice.
 */
export function allGaps(own: readonly Event[], recorded: readonly Gap[]): Gap[] {
  const ranged = recorded.filter((gap) => gap.fromSequence !== null)
  let explainable = 0
  for (const gap of recorded) if (gap.fromSequence === null) explainable += gap.count

  const gaps = [...recorded]
  let expected = 0
  for (const event of own) {
    const no = event.sequence_no
    if (no === null || no < expected) continue
    if (no > expected) {
      const missing = no - expected - explained(ranged, expected, no - 1)
      const unexplained = Math.max(0, missing - explainable)
      explainable = Math.max(0, explainable - Math.max(0, missing))
      if (unexplained > 0) {
        gaps.push({ reason: UNEXPLAINED, count: unexplained, fromSequence: expected, toSequence: no - 1 })
      }
    }
    expected = no + 1
  }
  return gaps
}

/** The reason of a loss that no gap record explains; ours, not recorded. */
export const UNEXPLAINED = "nothing says why"

function explained(ranged: readonly Gap[], from: number, to: number): number {
  let count = 0
  for (const gap of ranged) {
    const overlap = Math.min(to, gap.toSequence ?? gap.fromSequence!) - Math.max(from, gap.fromSequence!) + 1
    if (overlap > 0) count += overlap
  }
  return count
}
