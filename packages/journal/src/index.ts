// Identity and place

export { type DataFolder, findDataFolder, openDataFolder } from "./data-folder.js"
export {
  checkPrivateFile,
  copyPrivateFile,
  createPrivateFile,
  openPrivateFile,
  readPrivateFile,
  replacePrivateFile,
} from "./private-file.js"
export { type Liveness, livenessOf, type ProcessIdentity, thisProcess } from "./process-identity.js"
export { checkPrivateFolder, ensurePrivateFolder } from "./safe-folder.js"
export { isStoreKeyOwn, openStoreKey, readStoreKey, sealStoreKey } from "./store-key.js"
export { type Environment, userFolder } from "./user-folder.js"

// Writing

export type { EventLine, Journal, JournalOptions, StreamWriter } from "./journal.js"
export type { JournalFs } from "./journal-fs.js"
export { openJournal } from "./writer.js"

// Reading

export { inlineBytes, readJournalBody, readStream } from "./journal-body.js"
export { type JournalFile, listJournals, markCommitted, readProcessLine, removeJournal } from "./journal-list.js"
export type { BodyEntry, ChunkLine, EventLineRead, ExitLine, Gap, JournalLine, ProcessLine } from "./line-format.js"
export { type JournalItem, type JournalProblem, type TailEnd, type TailOptions, tailJournal } from "./reader.js"
export { type Reserve, readReserve } from "./reserve-file.js"
