// The store

export { scanPack } from "./bodies/scan-pack.js"
export { bindToCluster, boundCluster, hasEmbeddedStore, reachCluster } from "./clickhouse/bound-folder.js"
export { ClickhouseStore } from "./clickhouse/clickhouse-store.js"
export type { ClickhouseSettings } from "./clickhouse/settings.js"
export { END_IN_DOUBT } from "./damaged-end.js"
export { failpoint } from "./failpoint.js"
export {
  type OpenedStore,
  type OpenStoreOptions,
  openReadyStore,
  openStore,
  openStoreReader,
  type StorePlace,
} from "./open-store.js"
export { querySql } from "./query-sql.js"
export { DEFAULT_RETENTION, type PruneReport, type RetentionPolicy } from "./retention.js"
export { copyStore } from "./sqlite/copy-store.js"
export { noteDamage } from "./sqlite/note-damage.js"
export { isOnReadOnlyDisk } from "./sqlite/read-only-disk.js"
export { openReadOnlySql, type ReadOnlySql, type SqlResult } from "./sqlite/read-only-sql.js"
export { acquireStoreLock, type LockAttempt, type LockHolder } from "./sqlite/store-lock.js"
export { viewNames } from "./sqlite/views.js"
export { storeFileId } from "./store-file-id.js"
// What goes in and what comes out
export {
  type Absence,
  type Batch,
  type BodyInfo,
  type BodyReading,
  type CommitSummary,
  type Conflict,
  type ContributorQuery,
  type ContributorRollup,
  type Durations,
  type EventPage,
  type EventRedaction,
  type Gap,
  type HostRow,
  type InboundLink,
  isAbsent,
  type JournalOffset,
  type Occurrence,
  type OpenRun,
  type Origin,
  type Page,
  type PartialStream,
  type Progress,
  type RebuildReport,
  type RecordedBody,
  type RecordedEvent,
  type RecordedProblem,
  type Resolution,
  type RollupQuery,
  type RollupRow,
  type RunQuery,
  type RunRow,
  type SearchHit,
  type SearchPage,
  type SearchPlace,
  type SearchQuery,
  type StepColumns,
  type StepDuration,
  type StepRow,
  type StoredRedaction,
  type StoredRedactionReport,
  type StoreStatus,
  type StreamChunk,
  type StreamUpdate,
  type Target,
  type TargetKind,
  type TraceReader,
  type TraceStore,
  type WriterExit,
  type WriterRow,
  type WriterState,
  type WriterUpdate,
} from "./trace-store.js"
