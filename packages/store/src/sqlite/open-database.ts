import { chmodSync, closeSync, lstatSync } from "node:fs"
import { dirname } from "node:path"
import { checkPrivateFile, checkPrivateFolder, createPrivateFile } from "@orangebox/journal"
import { type SqliteDatabase, sqliteDriver } from "./driver.js"
import { readingPlace } from "./read-only-disk.js"

/** What SQLite opens by itself beside a database. */
const BESIDE = ["-wal", "-shm", "-journal"]

/**
 * The one way to a database file. SQLite follows links and asks for no owner, so the file and what it keeps beside it are looked at first.
 * A new file is made here, because SQLite gives the files beside a database the mode of the database.
 */
export function openDatabase(path: string): SqliteDatabase {
  checkDatabase(path)
  const found = lstatSync(path, { throwIfNoEntry: false })
  // An existing file is touched only by its name: closing a descriptor of it would drop all locks that this process has on it.
  if (found === undefined) createEmpty(path)
  else if (process.platform !== "win32" && (found.mode & 0o077) !== 0) chmodSync(path, 0o600)
  return sqliteDriver().open(path)
}

export function openDatabaseForReading(path: string): SqliteDatabase {
  checkDatabase(path)
  return sqliteDriver().open(readingPlace(path), { readOnly: true })
}

function checkDatabase(path: string): void {
  checkPrivateFolder(dirname(path))
  for (const file of ["", ...BESIDE].map((suffix) => path + suffix)) checkPrivateFile(file)
}

function createEmpty(path: string): void {
  try {
    closeSync(createPrivateFile(path, "append"))
  } catch (error) {
    // Another process was quicker.
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error
    checkPrivateFile(path)
  }
}
