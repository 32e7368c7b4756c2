import { dirname, join } from "node:path"
import { type CatchUpOptions, type CatchUpReport, catchUp } from "@orangebox/collector"
import { advice, OrangeboxError, suggested } from "@orangebox/contract"
import { type DataFolder, readStoreKey } from "@orangebox/journal"
import { digestWord } from "@orangebox/redaction"
import { noteDamage, openStoreReader, type TraceReader } from "@orangebox/store"
import { formatBytes } from "@orangebox/text"
import { areImportsMissing } from "../import/kept-imports.js"
import { pricesFor } from "../run/prices.js"
import { dataPath, locateData, type ReaderOptions } from "./data-folder.js"
import { holderWords } from "./holder-words.js"
import { standingRetention } from "./standing-retention.js"

/** A store to read from, as fresh as it can be made. */
export interface Reading {
  readonly folder: DataFolder
  readonly store: TraceReader
  readonly caughtUp: CatchUpReport
  /** Part of every reading command's JSON. */
  readonly freshness: { readonly behind_bytes: number }
}

/** What an answer from a store takes, however it was opened. */
export type StoreReading = Pick<Reading, "store" | "freshness">

/** Catches the store up with the journals, says what stood in the way, and hands it out for reading. */
export async function readStore<T>(options: ReaderOptions, read: (reading: Reading) => Promise<T>): Promise<T> {
  const folder = locateData(options.data)
  const caughtUp = await catchUpStore(folder.path, options)
  const key = readStoreKey(folder.path)
  const open = (): TraceReader => openStoreReader(folder.storeFolder, key && ((id) => digestWord(key, id)))
  let store = open()
  try {
    if (!caughtUp.isReadOnly && (await areImportsMissing(store, folder.path))) {
      await store.close()
      // Loaded only where something is written: it is more than what reading takes.
      const { writeStore } = await import("./open-writing.js")
      await writeStore({ ...options, data: folder.path }, async () => {})
      store = open()
    }
    return await read({ folder, store, caughtUp, freshness: { behind_bytes: caughtUp.behindBytes } })
  } catch (error) {
    throw noteDamage(folder.storeFolder, error) ?? error
  } finally {
    await store.close()
  }
}

export async function catchUpStore(
  dataFolder: string,
  { onProgress, onWarning }: Pick<ReaderOptions, "onProgress" | "onWarning">,
): Promise<CatchUpReport> {
  try {
    const report = await catchUp({
      dataFolder,
      ...settingsOf(dataFolder, onWarning),
      onProgress: (done, total) => onProgress?.(done, total, "reading journals"),
    })
    for (const warning of troublesOf(report)) onWarning?.(warning)
    return report
  } catch (error) {
    throw error instanceof OrangeboxError ? error : cannotCatchUp(dataFolder, error)
  }
}

/** Reading must go on where a configuration is broken; then the defaults hold, and a reader is told. */
function settingsOf(
  dataFolder: string,
  onWarning: ReaderOptions["onWarning"],
): Pick<CatchUpOptions, "keep" | "prices"> {
  try {
    return { keep: standingRetention(dataFolder).keep, prices: pricesFor(dirname(dataFolder)) }
  } catch (error) {
    if (error instanceof OrangeboxError) onWarning?.(`${error.message}; this answer goes by the defaults`)
    return {}
  }
}

/** The newest runs without catching up: a user who asks for a completion waits at every key. No store, no ids, no complaint. */
export async function recentRunIds(data: string | undefined, limit: number): Promise<string[]> {
  try {
    const store = openStoreReader(join(dataPath(data), "store"))
    try {
      return (await store.listRuns({ limit })).rows.map(({ runId }) => runId)
    } finally {
      await store.close()
    }
  } catch {
    return []
  }
}

function troublesOf({ behindBytes, heldBy, failure, setAside, isReadOnly, unreadable = [] }: CatchUpReport): string[] {
  const troubles: string[] = []
  if (setAside) {
    troubles.push(
      `the database was damaged (${setAside.reason}) and is now ${setAside.path}; what the journals still hold was read into a new one`,
    )
  }
  for (const { message } of unreadable) troubles.push(message)
  if (failure) troubles.push(`the store could not take everything: ${failure.message}`)
  if (behindBytes > 0) {
    const why = isReadOnly
      ? ": nothing can be written to this disk"
      : heldBy
        ? `: ${holderWords(heldBy)} is collecting`
        : ""
    troubles.push(`this answer is behind by ${formatBytes(behindBytes)} of journal${why}`)
  }
  return troubles
}

function cannotCatchUp(dataFolder: string, cause: unknown): OrangeboxError {
  return new OrangeboxError("CATCH_UP", {
    what: `the store cannot be brought up to date: ${cause instanceof Error ? cause.message : String(cause)}`,
    where: dataFolder,
    next: advice`See what is wrong with: ${suggested("doctor")}`,
    cause,
  })
}
