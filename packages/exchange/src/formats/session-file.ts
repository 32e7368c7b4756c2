import type { ForeignEvent } from "@orangebox/recorder"

/** Something in a foreign record that could not be used, and where it stands. */
export interface FormatProblem {
  readonly line: number | undefined
  readonly reason: string
}

/**
 * One record of a foreign format, read piece by piece. What it emitted for the beginning of a record never changes by what comes later, so a
 * record that grows adds events and a record that is read again adds none.
 */
export interface SessionReader {
  /** One line, parsed. */
  take(line: unknown, lineNo: number): void
  /** What can be told for certain, now that the record ends here for the time being. */
  finish(nowMs: number): void
}

export interface SessionPlaces {
  readonly emit: (event: ForeignEvent) => void
  readonly problem: (problem: FormatProblem) => void
  /** How many events a run had when its end was deduced from less of the record than is here now. */
  readonly endedAfter?: (runId: string) => number | undefined
}

/**
 * A session that has said nothing for so long, with nothing left to wait for, has ended as far as anybody can say; if it is taken up again
 * after that, it is another run of the same conversation. Only the record's own times decide, so every reading splits it the same way.
 */
export const IDLE_MS = 60 * 60_000

/** From what such an end is deduced, as its event says. */
export const RESTED = "an hour without another line"
