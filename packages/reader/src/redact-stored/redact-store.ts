import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { catchUp, type KeptWindow } from "@orangebox/collector"
import { given } from "@orangebox/contract"
import { type DataFolder, type JournalFile, listJournals, readProcessLine } from "@orangebox/journal"
import type { Progress, StoredRedactionReport, TraceStore } from "@orangebox/store"
import { findTarget, runOf } from "../address/find-target.js"
import { dropKeptImports } from "../import/kept-imports.js"
import type { ReaderOptions } from "../open/data-folder.js"
import { writeStore } from "../open/open-writing.js"
import { type FirmField, redactEvent } from "./redact-event.js"
import { isDamagedStream, type Search } from "./search.js"
import { isOfStore, searchFolder } from "./search-folder.js"

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

/**
 * Takes what was searched for out of the store, and the journals with it. What stays behind is named: in the end every file of the data folder
 * is looked into. That comes after the store is closed, because closing a file drops the locks that SQLite has on it in this process.
 */
export async function redactStore(
  reader: ReaderOptions,
  search: Search,
  options: { readonly run?: string; readonly isDryRun: boolean },
): Promise<RedactStoreReport> {
  const { isDryRun } = options
  const { report, folder, runId } = await writeStore(reader, async (store, folder) => {
    const run = options.run === undefined ? undefined : await runOf(store, await findTarget(store, options.run))
    const runId = run?.row.runId
    const report = await redactRows(store, folder, search, {
      ...given({ runId, onProgress: reader.onProgress }),
      isDryRun,
    })
    return { report, folder, runId }
  })
  const left = isDryRun ? [] : leftBehind(folder, search, runId)
  return { ...report, notReached: [...report.notReached, ...left, ...setAside(folder)] }
}

async function redactRows(
  store: TraceStore,
  folder: DataFolder,
  search: Search,
  options: { readonly runId?: string; readonly isDryRun: boolean } & Progress,
): Promise<RedactStoreReport> {
  const firm = new Map<string, FirmField>()
  const { runId, isDryRun, ...progress } = options
  let damagedStreams = 0
  const isIn = (bytes: Uint8Array, mime: string | null): boolean => {
    if (search.isIn(bytes, mime)) return true
    if (isDamagedStream(bytes, mime)) damagedStreams++
    return false
  }
  const report = await store.redactStored(
    {
      ...(runId === undefined ? {} : { runId }),
      event: (event) => redactEvent(event, search, (field) => firm.set(`${field.eventId} ${field.field}`, field)),
      body: isIn,
      text: search.redact,
    },
    { isDryRun, ...progress },
  )
  const { filesRemoved } = isDryRun
    ? { filesRemoved: 0 }
    : await catchUp({ dataFolder: folder.path, store, keep: KEEP_NONE })
  if (!isDryRun) dropKeptImports(folder.path)
  return {
    ...report,
    journalsRemoved: filesRemoved,
    notReached: [
      ...[...firm.values()].map(firmField),
      ...report.openStreams.map(openStream),
      ...(report.unreadableBodies > 0 ? [unreadable(folder, report.unreadableBodies)] : []),
      ...(damagedStreams > 0 ? [damaged(folder, damagedStreams)] : []),
      ...(isDryRun || report.isSwept ? [] : [unswept(folder, report.notSweptBecause)]),
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

function damaged(folder: DataFolder, count: number): NotReached {
  return {
    what: "body",
    where: folder.storeFolder,
    reason: `${count} binary event ${count === 1 ? "stream is" : "streams are"} damaged; what can be read of them does not hold it, the rest may`,
  }
}

function unswept(folder: DataFolder, reason = "it is not known why"): NotReached {
  return {
    what: "database",
    where: folder.storeFolder,
    reason: `unused pages may still hold it: ${reason}; run this again`,
  }
}

function writerWords(file: JournalFile): string {
  try {
    const line = readProcessLine(file.path)
    return line === undefined ? "its process" : `process ${line.process.pid} (${line.appId})`
  } catch {
    return "its process"
  }
}

/**
 * Whatever lies in the data folder and still holds it. Journals are there while their process lives, or while the store has not taken all of
 * their lines; spools of runs lie beside them in the same form. The store's own files were just written anew, and are looked at all the same.
 */
function leftBehind(folder: DataFolder, search: Search, runId: string | undefined): NotReached[] {
  const journals = new Map(
    [folder.journalFolder, join(folder.path, "spool")]
      .filter((path) => existsSync(path))
      .flatMap(listJournals)
      .flatMap((file) => [file.path, file.sidecarPath].map((path): [string, JournalFile] => [path, file])),
  )
  const found: NotReached[] = []
  for (const { path, state, reason } of searchFolder(folder, search, { isWholeStore: runId === undefined })) {
    const journal = journals.get(path)
    if (state === "unknown") found.push({ what: "file", where: path, reason })
    else if (isSetAside(path)) continue
    else if (journal !== undefined) {
      const reason = `${writerWords(journal)} is still writing it; run this again when it has ended`
      found.push({ what: "journal", where: path, reason })
    } else if (isOfStore(path, folder)) {
      found.push({ what: "database", where: path, reason: "it still holds it; run this again" })
    } else
      found.push({ what: "file", where: path, reason: "it is none of the store's files; look at it and delete it" })
  }
  return found
}

/** Databases that were damaged and set aside; what is in them cannot be read safely, so it cannot be masked either. */
function setAside(folder: DataFolder): NotReached[] {
  return readdirSync(folder.storeFolder)
    .filter(isSetAside)
    .map((name) => ({
      what: "copy",
      where: join(folder.storeFolder, name),
      reason: "a damaged database that was set aside may hold it; delete it when you no longer need it",
    }))
}

const isSetAside = (path: string): boolean => /\.corrupt-/.test(path)
