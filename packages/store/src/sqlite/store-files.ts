import { chmodSync, existsSync, lstatSync, mkdirSync } from "node:fs"
import { join } from "node:path"
import { OrangeboxError } from "@orangebox/contract"

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

/** Creates the folder for its owner alone, and refuses one that others can write to: they could replace what we are about to read. */
export function ensureFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (process.platform === "win32") return
  const stat = lstatSync(folder)
  if (!stat.isDirectory()) {
    throw new OrangeboxError("STORE_FOLDER", { what: "the store is not a folder", where: folder })
  }
  if (process.getuid !== undefined && stat.uid !== process.getuid()) {
    throw new OrangeboxError("STORE_FOLDER", {
      what: "the store's folder belongs to another user",
      where: folder,
      next: "Use a data folder of your own (ORANGEBOX_HOME)",
    })
  }
  if ((stat.mode & 0o077) !== 0) chmodSync(folder, 0o700)
}

/** SQLite gives the files beside a database the database's mode, so this is done once, before they come to be. */
export function ownOnly(path: string): void {
  if (process.platform !== "win32" && existsSync(path)) chmodSync(path, 0o600)
}
