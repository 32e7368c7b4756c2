import { OrangeboxError } from "@orangebox/contract"
import { replacePrivateFile } from "@orangebox/journal"
import { isCorrupt } from "./sqlite-error.js"
import { type StoreFiles, storeFiles } from "./store-files.js"

/** Damage that a reader met. The next one to open the store for writing looks closely; undefined when the error is another one. */
export function noteDamage(folder: string, error: unknown): OrangeboxError | undefined {
  return isCorrupt(error) ? markDamage(storeFiles(folder), error) : undefined
}

export function markDamage(files: StoreFiles, error: unknown): OrangeboxError {
  try {
    replacePrivateFile(files.damageMark, `${String(error)}\n`)
  } catch {
    // A reader that may not write here can still say what is wrong.
  }
  return new OrangeboxError("STORE_CORRUPT", {
    what: "the database is damaged",
    where: files.database,
    next: "Open the store again: the damaged file is set aside and the journals are read into a fresh one",
    cause: error,
  })
}
