// Bringing the store up to the journals
export { bytesBehind, journalSizes } from "./bytes-behind.js"
export { catchUp } from "./catch-up.js"
export type { CatchUpOptions, CatchUpReport } from "./catch-up-report.js"
export type { PassReport } from "./collection.js"
// How it stands
export { type CollectorStatus, collectorStatus } from "./collector-status.js"
export { DEFAULT_KEPT_WINDOW, type KeptWindow } from "./finished-journals.js"
export type { Holding, JournalHoldings } from "./journal-holdings.js"
export { type RebuildOptions, rebuildStore } from "./rebuild-store.js"
export type { Tally } from "./tally.js"
export { type WatchOptions, type WatchStatus, watch } from "./watch.js"
