import { hostname } from "node:os"
import { readPrivateFile, replacePrivateFile } from "@orangebox/journal"
import type { SqliteDatabase } from "./driver.js"
import { openDatabase } from "./open-database.js"
import { isBusy } from "./sqlite-error.js"
import { ensureFolder, storeFiles } from "./store-files.js"

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
    database = openDatabase(files.lock)
    database.exec("PRAGMA busy_timeout = 0")
    database.exec("BEGIN EXCLUSIVE")
  } catch (error) {
    database?.close()
    if (isBusy(error)) return { isHeld: false, holder: readHolder(files.lockHolder) }
    throw error
  }
  replacePrivateFile(files.lockHolder, JSON.stringify({ pid: process.pid, sinceMs: nowMs, host: hostname() }))
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

/** More than any holder's name is long. */
const MOST_BYTES = 4096

function readHolder(path: string): LockHolder | undefined {
  try {
    return JSON.parse(readPrivateFile(path, MOST_BYTES).toString("utf8")) as LockHolder
  } catch {
    return undefined
  }
}
