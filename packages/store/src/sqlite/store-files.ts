import { chmodSync, lstatSync } from "node:fs"
import { join } from "node:path"
import { ensurePrivateFolder } from "@orangebox/journal"

/** What a store's folder holds. */
export interface StoreFiles {
  readonly folder: string
  readonly database: string
  readonly packs: string
  readonly tombstones: string
  readonly lock: string
  readonly lockHolder: string
  /** Present when a reader or writer met damage: the next to open for writing looks closer. */
  readonly damageMark: string
}

export function storeFiles(folder: string): StoreFiles {
  return {
    folder,
    database: join(folder, "trace.db"),
    packs: join(folder, "packs"),
    tombstones: join(folder, "tombstones.ndjson"),
    lock: join(folder, "lock.db"),
    lockHolder: join(folder, "lock.json"),
    damageMark: join(folder, "damaged"),
  }
}

/** Creates the folder for its owner alone, and refuses one that is not private: others could replace what we are about to read. */
export function ensureFolder(folder: string): void {
  ensurePrivateFolder(folder)
  if (process.platform !== "win32" && (lstatSync(folder).mode & 0o077) !== 0) chmodSync(folder, 0o700)
}
