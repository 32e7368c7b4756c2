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
}

export interface PruneReport {
  readonly runsPruned: number
  readonly eventsPruned: number
  readonly bodiesPruned: number
  /** Bytes on disk before and after, as far as bodies go. */
  readonly bodyBytesBefore: number
  readonly bodyBytesAfter: number
  /** Bodies nothing referred to. */
  readonly orphans: number
  /** False when something (an open run, shared content) keeps the size above the limit. */
  readonly isWithinLimits: boolean
}

const DAY_MS = 86_400_000

export const DEFAULT_RETENTION: RetentionPolicy = {
  bodyMaxAgeMs: 30 * DAY_MS,
  snapshotMaxAgeMs: 14 * DAY_MS,
  manifestMaxAgeMs: 180 * DAY_MS,
  maxAgeMs: 180 * DAY_MS,
  maxTotalBodyBytes: 4 * 1024 ** 3,
}
