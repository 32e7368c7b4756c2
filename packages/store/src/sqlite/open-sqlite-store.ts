import { existsSync, renameSync, rmSync } from "node:fs"
import { BUILT_IN_PRICES } from "@orangebox/dialects"
import type { OpenedStore, OpenStoreOptions } from "../open-store.js"
import { openForWriting } from "./connection.js"
import { isCorrupt } from "./sqlite-error.js"
import { SqliteStore } from "./sqlite-store.js"
import { ensureFolder, type StoreFiles, storeFiles } from "./store-files.js"
import { plantTombstones, TombstoneFile } from "./tombstones.js"

/** Opens the embedded store in a folder for writing, creating what is not there. */
export function openSqliteStore(folder: string, options: OpenStoreOptions = {}): OpenedStore {
  ensureFolder(folder)
  const files = storeFiles(folder)
  const now = options.now ?? Date.now
  const setAside = setAsideIfDamaged(files, now())
  const isFresh = !existsSync(files.database)
  if (isFresh) prepareFresh(files)
  const store = new SqliteStore(files, {
    now,
    busyMs: options.busyMs ?? 30_000,
    prices: options.prices ?? BUILT_IN_PRICES,
  })
  return setAside === undefined ? { store, isFresh } : { store, isFresh, setAside }
}

function setAsideIfDamaged(files: StoreFiles, nowMs: number): { path: string; reason: string } | undefined {
  if (!existsSync(files.database)) return undefined
  const reason = damageOf(files)
  rmSync(files.damageMark, { force: true })
  if (reason === undefined) return undefined
  const suffix = `.corrupt-${new Date(nowMs).toISOString().replaceAll(/[:.]/g, "-")}`
  const path = files.database + suffix
  // The packs go along: without their rows they cannot be read, and with them `recover` still can.
  for (const file of [files.database, `${files.database}-wal`, `${files.database}-shm`, files.packs]) {
    if (existsSync(file)) renameSync(file, file + suffix)
  }
  return { path, reason }
}

/**
 * A store is looked at as closely as opening one allows: the header, the schema, the tables everything hangs on. When damage was met
 * while it was in use, a mark is there and all pages are checked.
 */
function damageOf(files: StoreFiles): string | undefined {
  try {
    const database = openForWriting(files.database)
    try {
      for (const table of [
        "meta",
        "offset_rows",
        "run_rows",
        "event_rows",
        "body_rows",
        "block_rows",
        "search_index",
      ]) {
        database.prepare(`SELECT count(*) FROM (SELECT 1 FROM ${table} LIMIT 1)`).get()
      }
      if (!existsSync(files.damageMark)) return undefined
      const findings = database
        .prepare("PRAGMA integrity_check(3)")
        .all()
        .map((row) => String(row["integrity_check"]))
      return findings[0] === "ok" ? undefined : findings.join("; ")
    } finally {
      database.close()
    }
  } catch (error) {
    if (isCorrupt(error) || isBrokenSchema(error)) return error instanceof Error ? error.message : String(error)
    throw error
  }
}

function isBrokenSchema(error: unknown): boolean {
  return (
    error instanceof Error && /malformed|no such table|no such column|vtable constructor failed/.test(error.message)
  )
}

/** Under another name until it knows what must not come back: a crash in between must not leave a store that forgot. */
function prepareFresh(files: StoreFiles): void {
  const preparing = `${files.database}.new`
  for (const file of [preparing, `${preparing}-wal`, `${preparing}-shm`]) rmSync(file, { force: true })
  const database = openForWriting(preparing)
  plantTombstones(database, new TombstoneFile(files.tombstones).read())
  database.exec("PRAGMA journal_mode = DELETE")
  database.close()
  for (const file of [`${files.database}-wal`, `${files.database}-shm`]) rmSync(file, { force: true })
  renameSync(preparing, files.database)
}
