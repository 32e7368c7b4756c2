import { randomBytes } from "node:crypto"
import { closeSync, constants, fsyncSync, linkSync, openSync, readFileSync, unlinkSync, writeSync } from "node:fs"
import { join } from "node:path"
import { OrangeboxError } from "@orangebox/contract"
import { FILE_MODE, failureCode } from "./journal-fs.js"

const KEY_FILE = "store.key"
const KEY_BYTES = 32

/**
 * The key of a data folder: 32 random bytes, made once. Tags of masked secrets and digests of short values are keyed with it, so that they
 * compare within the store and tell nothing to a reader who has the store without the key.
 */
export function openStoreKey(folder: string): Uint8Array {
  const path = join(folder, KEY_FILE)
  return readKey(path) ?? makeKey(folder, path)
}

/** For a reader, which has no use for a new key: undefined where there is none, or where this user may not read it. */
export function readStoreKey(folder: string): Uint8Array | undefined {
  try {
    return readKey(join(folder, KEY_FILE))
  } catch {
    return undefined
  }
}

function readKey(path: string): Uint8Array | undefined {
  let key: Buffer
  try {
    const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW)
    try {
      key = readFileSync(file)
    } finally {
      closeSync(file)
    }
  } catch (error) {
    if (failureCode(error) === "ENOENT") return undefined
    throw keyError(path, `cannot be read (${failureCode(error)})`, error)
  }
  if (key.length === KEY_BYTES) return key
  throw keyError(path, `has ${key.length} bytes instead of ${KEY_BYTES}`)
}

/** Written whole under another name first: of several processes that start at once, all end up with the same complete key. */
function makeKey(folder: string, path: string): Uint8Array {
  const draft = join(folder, `.${KEY_FILE}.${process.pid}.${randomBytes(6).toString("hex")}`)
  try {
    const file = openSync(draft, "wx", FILE_MODE)
    try {
      writeSync(file, randomBytes(KEY_BYTES))
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    try {
      linkSync(draft, path)
    } catch (error) {
      if (failureCode(error) !== "EEXIST") throw error
    } finally {
      unlinkSync(draft)
    }
  } catch (error) {
    throw keyError(path, `cannot be made (${failureCode(error)})`, error)
  }
  return readKey(path)!
}

function keyError(path: string, what: string, cause?: unknown): OrangeboxError {
  return new OrangeboxError("STORE_KEY", {
    what: `the store's key ${what}`,
    where: path,
    next: "Restore the file from where the store was copied; a new key makes earlier masks incomparable",
    ...(cause === undefined ? {} : { cause }),
  })
}
