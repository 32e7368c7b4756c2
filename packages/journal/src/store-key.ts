import { createHmac, randomBytes, timingSafeEqual } from "node:crypto"
import { closeSync, fsyncSync, linkSync, lstatSync, mkdirSync, unlinkSync, writeSync } from "node:fs"
import { dirname, join } from "node:path"
import { OrangeboxError } from "@orangebox/contract"
import { FOLDER_MODE, failureCode } from "./journal-fs.js"
import { createPrivateFile, readPrivateFile, replacePrivateFile } from "./private-file.js"
import { type Environment, userFolder } from "./user-folder.js"

const KEY_FILE = "store.key"
const SEAL_FILE = "seal.key"
const KEY_BYTES = 32
const MOST_BYTES = 4096

/**
 * The key of a data folder: 32 random bytes, made once. Tags of masked secrets and digests of short values are keyed with it, so that they
 * compare within the store and tell nothing to a reader who has the store without the key.
 *
 * A folder that came with a clone or an archive may bring a key, which the one who packed it knows, and its owner and mode say nothing: they
 * are those of the user who unpacked it. So behind the key stands its seal, made with a key of the user's own that no folder holds. A key
 * without it is refused until the user agrees to it (`sealStoreKey`). Where a user has no folder to keep the own key in, owner and mode
 * have to do.
 */
export function openStoreKey(folder: string, env: Environment = process.env): Uint8Array {
  const path = join(folder, KEY_FILE)
  const found = readKeyFile(path)
  const seal = sealKey(env)
  if (found === undefined) return makeKeyFile(path, sealed(randomBytes(KEY_BYTES), seal)).subarray(0, KEY_BYTES)
  const key = found.subarray(0, KEY_BYTES)
  if (seal !== undefined && !isSame(found, sealed(key, seal))) throw foreignKey(path)
  return key
}

/** For a reader, which has no use for a new key: undefined where there is none, or where this user may not read it. */
export function readStoreKey(folder: string): Uint8Array | undefined {
  try {
    return readKeyFile(join(folder, KEY_FILE))?.subarray(0, KEY_BYTES)
  } catch {
    return undefined
  }
}

/** Whether the key that is there was made by this user, or agreed to. */
export function isStoreKeyOwn(folder: string, env: Environment = process.env): boolean {
  const { found, seal } = keyAndSeal(folder, env)
  return isSame(found, sealed(found.subarray(0, KEY_BYTES), seal))
}

/** The user agrees to the key that is there, as after moving a store to another machine. */
export function sealStoreKey(folder: string, env: Environment = process.env): void {
  const { path, found, seal } = keyAndSeal(folder, env)
  replacePrivateFile(path, sealed(found.subarray(0, KEY_BYTES), seal))
}

function keyAndSeal(folder: string, env: Environment): { path: string; found: Buffer; seal: Uint8Array } {
  const path = join(folder, KEY_FILE)
  const found = readKeyFile(path)
  if (found === undefined) throw keyError(path, "is not there", "One is made when something is recorded")
  const seal = sealKey(env)
  if (seal !== undefined) return { path, found, seal }
  throw keyError(
    path,
    `cannot be sealed: a key of your own can be kept nowhere in ${userFolder(env)}`,
    "Make that folder writable, or name another with XDG_CONFIG_HOME",
  )
}

function sealed(key: Uint8Array, seal: Uint8Array | undefined): Buffer {
  if (seal === undefined) return Buffer.from(key)
  return Buffer.concat([key, createHmac("sha256", seal).update("the key of a data folder").update(key).digest()])
}

const isSame = (one: Uint8Array, other: Uint8Array): boolean =>
  one.length === other.length && timingSafeEqual(one, other)

/** The user's own key; undefined where it can be neither read nor made. */
function sealKey(env: Environment): Uint8Array | undefined {
  const path = join(userFolder(env), SEAL_FILE)
  try {
    const found = readKeyFile(path)
    if (found !== undefined) return found.subarray(0, KEY_BYTES)
    mkdirSync(dirname(path), { recursive: true, mode: FOLDER_MODE })
    return makeKeyFile(path, randomBytes(KEY_BYTES))
  } catch {
    return undefined
  }
}

function readKeyFile(path: string): Buffer | undefined {
  let bytes: Buffer
  try {
    bytes = readPrivateFile(path, MOST_BYTES)
  } catch (error) {
    if (failureCode(error) === "ENOENT") return undefined
    if (error instanceof OrangeboxError) throw error
    throw keyError(path, `cannot be read (${failureCode(error)})`, RESTORE, error)
  }
  if (process.platform !== "win32" && (lstatSync(path).mode & 0o077) !== 0) {
    throw keyError(path, "can be read by others", `Run: chmod 600 ${JSON.stringify(path)}, if it is yours`)
  }
  if (bytes.length === KEY_BYTES || bytes.length === 2 * KEY_BYTES) return bytes
  throw keyError(path, `has ${bytes.length} bytes instead of ${KEY_BYTES} with or without a seal`, RESTORE)
}

/** Written whole under another name first: of several processes that start at once, all end up with the same complete key. */
function makeKeyFile(path: string, bytes: Uint8Array): Buffer {
  const draft = join(dirname(path), `.${KEY_FILE}.${process.pid}.${randomBytes(6).toString("hex")}`)
  try {
    const file = createPrivateFile(draft, "append")
    try {
      writeSync(file, bytes)
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
    throw keyError(path, `cannot be made (${failureCode(error)})`, "Make the folder writable", error)
  }
  return readKeyFile(path)!
}

const RESTORE = "Restore the file from where the store was copied; a new key makes earlier masks incomparable"

const foreignKey = (path: string): OrangeboxError =>
  keyError(
    path,
    "was not made by you: whoever made it can tell masked secrets by their tags",
    "If you moved the store here yourself, agree to its key with: orangebox trust --key; else delete the file, and a new one is made",
  )

function keyError(path: string, what: string, next: string, cause?: unknown): OrangeboxError {
  return new OrangeboxError("STORE_KEY", {
    what: `the store's key ${what}`,
    where: path,
    next,
    ...(cause === undefined ? {} : { cause }),
  })
}
