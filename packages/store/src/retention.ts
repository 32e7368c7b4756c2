import { HELD } from "./codes.js"

/**
 * How long things are kept. Every limit is optional; what is absent does not limit. Ages count from the end of a run, or from the
 * moment its last record reached the store where that is later, so an import of old runs is not pruned on arrival. Open runs stay.
 */
export interface RetentionPolicy {
  /** Everything about a run: events, bodies, search. Roll-ups stay. */
  readonly maxAgeMs?: number
  /** Bytes that bodies take on disk. Above, the bodies of the oldest closed runs go, whole runs at a time. */
  readonly maxTotalBodyBytes?: number
  readonly bodyMaxAgeMs?: number
  /** Prompt, tool-output and workspace snapshots. */
  readonly snapshotMaxAgeMs?: number
  /** Context manifests. */
  readonly manifestMaxAgeMs?: number
  /** Daily sums of runs that are gone, by the day they are of. */
  readonly rollupMaxAgeMs?: number
  /** Gaps and problems, by when they came; a gap of a run that is here stays with it. */
  readonly problemMaxAgeMs?: number
}

export interface PruneReport {
  readonly runsPruned: number
  readonly eventsPruned: number
  readonly bodiesPruned: number
  readonly rollupsPruned: number
  /** Gaps and problems. */
  readonly problemsPruned: number
  /** Bytes on disk before and after, as far as bodies go. */
  readonly bodyBytesBefore: number
  /** Null where nothing was done: how much shared content a prune frees is known only by doing it. */
  readonly bodyBytesAfter: number | null
  /** Bodies nothing referred to. */
  readonly orphans: number
  /** False when something (an open run, shared content) keeps the size above the limit. */
  readonly isWithinLimits: boolean
  /** Nothing was changed: this is what would go. */
  readonly isDryRun: boolean
}

const DAY_MS = 86_400_000

export const DEFAULT_RETENTION: RetentionPolicy = {
  bodyMaxAgeMs: 30 * DAY_MS,
  snapshotMaxAgeMs: 14 * DAY_MS,
  manifestMaxAgeMs: 180 * DAY_MS,
  maxAgeMs: 180 * DAY_MS,
  problemMaxAgeMs: 180 * DAY_MS,
  maxTotalBodyBytes: 4 * 1024 ** 3,
}

/** What a class of bodies is held as, and which age of the policy is its own. */
export const AGED_CLASSES = [
  [HELD.body, "bodyMaxAgeMs"],
  [HELD.stream, "bodyMaxAgeMs"],
  [HELD.snapshot, "snapshotMaxAgeMs"],
  [HELD.manifest, "manifestMaxAgeMs"],
] as const

/** Bodies that go when space is short: everything but the events themselves. */
export const EVICTED = [HELD.body, HELD.snapshot, HELD.manifest, HELD.stream]

/** A body may be there a moment before anything refers to it; an hour is more than any moment. */
export const ORPHAN_GRACE_MS = 3_600_000
