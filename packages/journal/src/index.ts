// Writing

// Identity and place
export { type DataFolder, findDataFolder, openDataFolder } from "./data-folder.js"
export type {
  AppendResult,
  BodyToWrite,
  EventLine,
  Journal,
  JournalExit,
  JournalOptions,
  JournalStats,
  StreamWriter,
} from "./journal.js"
// Reading
export { inlineBytes, readJournalBody, readStream, type StreamedBody } from "./journal-body.js"
export type { JournalFs } from "./journal-fs.js"
export { type JournalFile, listJournals, markCommitted, readProcessLine, removeJournal } from "./journal-list.js"
export type {
  BodyEntry,
  ChunkLine,
  EventLineRead,
  ExitLine,
  ExitReason,
  Gap,
  GapLine,
  GapReason,
  JournalLine,
  ProcessLine,
  RunRange,
  StreamStart,
} from "./line-format.js"
export { type Liveness, livenessOf, type ProcessIdentity, thisProcess } from "./process-identity.js"
export {
  type JournalItem,
  type JournalProblem,
  type JournalProblemCode,
  type TailEnd,
  type TailOptions,
  tailJournal,
} from "./reader.js"
export { type Reserve, readReserve } from "./reserve-file.js"
export { openStoreKey } from "./store-key.js"
export { openJournal } from "./writer.js"
