import { closeSync, existsSync, openSync, readdirSync, readSync } from "node:fs"
import { basename, join, sep } from "node:path"
import { catchUp, type KeptWindow } from "@orangebox/collector"
import { type DataFolder, type JournalFile, listJournals, readProcessLine } from "@orangebox/journal"
import type { Progress, StoredRedactionReport, TraceStore } from "@orangebox/store"
import { type FirmField, redactEvent } from "./redact-event.js"
import type { Search } from "./search.js"

export interface NotReached {
  readonly what: "journal" | "file" | "stream" | "field" | "body" | "copy" | "database"
  readonly where: string
  readonly reason: string
}

export interface RedactStoreReport extends StoredRedactionReport {
  readonly journalsRemoved: number
  readonly notReached: readonly NotReached[]
}

/** Every journal that is finished and wholly in the store goes at once. */
const KEEP_NONE: KeptWindow = { ageMs: 0, bytes: 0, files: 0 }

/** Takes what was searched for out of the store, and the journals with it. What stays behind is named. */
export async function redactStore(
  store: TraceStore,
  folder: DataFolder,
  search: Search,
  options: { readonly runId?: string; readonly isDryRun: boolean } & Progress,
): Promise<RedactStoreReport> {
  const firm: FirmField[] = []
  const { runId, isDryRun, ...progress } = options
  const report = await store.redactStored(
    {
      ...(runId === undefined ? {} : { runId }),
      event: (event) => redactEvent(event, search, (field) => firm.push(field)),
      body: search.isIn,
      text: search.redact,
    },
    { isDryRun, ...progress },
  )
  const { filesRemoved } = isDryRun
    ? { filesRemoved: 0 }
    : await catchUp({ dataFolder: folder.path, store, keep: KEEP_NONE })
  return {
    ...report,
    journalsRemoved: filesRemoved,
    notReached: [
      ...firm.map(firmField),
      ...report.openStreams.map(openStream),
      ...(report.unreadableBodies > 0 ? [unreadable(folder, report.unreadableBodies)] : []),
      ...(isDryRun || report.isSwept ? [] : [unswept(folder, report.notSweptBecause)]),
      ...(isDryRun ? [] : leftBehind(folder, search)),
      ...setAside(folder),
    ],
  }
}

function firmField({ eventId, field }: FirmField): NotReached {
  return { what: "field", where: `${eventId} ${field}`, reason: "the event would no longer be valid without it" }
}

function openStream(streamId: string): NotReached {
  return {
    what: "stream",
    where: streamId,
    reason: "it is still being received; run this again when its process has ended",
  }
}

function unreadable(folder: DataFolder, count: number): NotReached {
  return {
    what: "body",
    where: folder.storeFolder,
    reason: `${count} damaged; nobody can say what is in them: orangebox verify`,
  }
}

function unswept(folder: DataFolder, reason = "it is not known why"): NotReached {
  return {
    what: "database",
    where: folder.storeFolder,
    reason: `unused pages may still hold it: ${reason}; run this again`,
  }
}

/**
 * Whatever else lies in the data folder and holds it. Journals are still there while their process lives, or while the store has not taken
 * all of their lines; spools of runs lie beside them in the same form.
 */
function leftBehind(folder: DataFolder, search: Search): NotReached[] {
  const journals = new Map(
    [folder.journalFolder, join(folder.path, "spool")]
      .filter((path) => existsSync(path))
      .flatMap(listJournals)
      .flatMap((file) => [file.path, file.sidecarPath].map((path): [string, JournalFile] => [path, file])),
  )
  return readdirSync(folder.path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !isOfStore(path, folder) && isInFile(path, search))
    .map((path) => {
      const file = journals.get(path)
      return file === undefined
        ? { what: "file", where: path, reason: "it is none of the store's files; look at it and delete it" }
        : {
            what: "journal",
            where: path,
            reason: `${writerWords(file)} is still writing it; run this again when it has ended`,
          }
    })
}

/** Files that the store has just written anew. */
function isOfStore(path: string, { storeFolder }: DataFolder): boolean {
  return path.startsWith(join(storeFolder, sep))
}

function writerWords(file: JournalFile): string {
  try {
    const line = readProcessLine(file.path)
    return line === undefined ? "its process" : `process ${line.process.pid} (${line.appId})`
  } catch {
    return "its process"
  }
}

/** Databases that were damaged and set aside; what is in them cannot be read safely, so it cannot be masked either. */
function setAside(folder: DataFolder): NotReached[] {
  return readdirSync(folder.storeFolder)
    .filter((name) => /\.corrupt-/.test(basename(name)))
    .map((name) => ({
      what: "copy",
      where: join(folder.storeFolder, name),
      reason: "a damaged database that was set aside may hold it; delete it when you no longer need it",
    }))
}

const PIECE_BYTES = 4 * 1024 * 1024
/** More than any value or secret is long, so that none falls between two pieces. */
const OVERLAP_BYTES = 64 * 1024

function isInFile(path: string, search: Search): boolean {
  let handle: number
  try {
    handle = openSync(path, "r")
  } catch {
    return false
  }
  try {
    const piece = Buffer.alloc(PIECE_BYTES)
    for (let at = 0; ; at += PIECE_BYTES - OVERLAP_BYTES) {
      const length = readSync(handle, piece, 0, PIECE_BYTES, at)
      if (length > 0 && search.isIn(piece.subarray(0, length), null)) return true
      if (length < PIECE_BYTES) return false
    }
  } finally {
    closeSync(handle)
  }
}
