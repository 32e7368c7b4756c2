import { closeSync, openSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { hostname } from "node:os"
import { type SqliteDatabase, sqliteDriver } from "./driver.js"
import { isBusy } from "./sqlite-error.js"
import { ensureFolder, ownOnly, storeFiles } from "./store-files.js"

/** Who holds a store's lock, as far as the file beside it tells; the lock itself is the kernel's. */
export interface LockHolder {
  readonly pid: number
  readonly sinceMs: number
  readonly host: string
}

export type LockAttempt =
  | { readonly isHeld: true; release(): void }
  | { readonly isHeld: false; readonly holder: LockHolder | undefined }

/**
 * One collector per store. The lock is an open transaction on a tiny database of its own, that is a lock of the kernel: it goes when the
 * process goes, however it went, and a stopped process keeps it. The file with the holder's name only serves messages.
 */
export function acquireStoreLock(folder: string, nowMs = Date.now()): LockAttempt {
  ensureFolder(folder)
  const files = storeFiles(folder)
  let database: SqliteDatabase | undefined
  try {
    createEmpty(files.lock)
    database = sqliteDriver().open(files.lock)
    database.exec("PRAGMA busy_timeout = 0")
    database.exec("BEGIN EXCLUSIVE")
  } catch (error) {
    database?.close()
    if (isBusy(error)) return { isHeld: false, holder: readHolder(files.lockHolder) }
    throw error
  }
  writeHolder(files.lockHolder, { pid: process.pid, sinceMs: nowMs, host: hostname() })
  const lock = database
  held.add(lock)
  return {
    isHeld: true,
    release: () => {
      if (!held.delete(lock)) return
      lock.exec("ROLLBACK")
      lock.close()
    },
  }
}

/** A connection that nothing refers to is closed by the garbage collector, and its lock with it. */
const held = new Set<SqliteDatabase>()

// Only to give the file its mode. It is opened for this once, before any lock can be on it: closing a file drops all POSIX locks
// this process has on it, so a file that exists is never touched other than through SQLite.
function createEmpty(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600))
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error
    ownOnly(path)
  }
}

function writeHolder(path: string, holder: LockHolder): void {
  const temporary = `${path}.${process.pid}`
  writeFileSync(temporary, JSON.stringify(holder), { mode: 0o600 })
  renameSync(temporary, path)
}

function readHolder(path: string): LockHolder | undefined {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as LockHolder
  } catch {
    return undefined
  }
}
