import type { Stats } from "node:fs"
import { dirname } from "node:path"
import { OrangeboxError } from "@orangebox/contract"
import { FOLDER_MODE, failureCode, type JournalFs, realFs } from "./journal-fs.js"

/**
 * Makes sure that `path` is a folder only its owner can write to, creating it when it is missing.
 *
 * Records hold what an agent saw, so the folder must not be one that another user can read from, replace, or point elsewhere.
 */
export function ensurePrivateFolder(path: string, fs: JournalFs = realFs): void {
  const found = lookAt(fs, path)
  if (found === undefined) {
    create(fs, path)
    // Looked at again: between the two calls another process may have put something else there.
    const created = lookAt(fs, path)
    if (created === undefined) throw refusal(path, "disappeared as it was created", "Choose another folder")
    check(path, created)
    return
  }
  check(path, found)
}

/** The same for a reader, which makes none: where nothing is, nothing is refused. */
export function checkPrivateFolder(path: string): void {
  const found = lookAt(realFs, path)
  if (found !== undefined) check(path, found)
}

function lookAt(fs: JournalFs, path: string): Stats | undefined {
  try {
    return fs.lstatSync(path)
  } catch (error) {
    if (failureCode(error) === "ENOENT") return undefined
    throw refusal(
      path,
      `cannot be looked at (${failureCode(error)})`,
      "Check the permissions of its parent folders",
      error,
    )
  }
}

function create(fs: JournalFs, path: string): void {
  try {
    makeFolder(fs, path)
  } catch (error) {
    throw refusal(
      path,
      `cannot be created (${failureCode(error)})`,
      "Make its parent writable, or set ORANGEBOX_HOME to a folder that is",
      error,
    )
  }
}

/**
 * Level by level: the recursive form of Node blames a missing parent (ENOENT) on a read-only file system, and never comes back from one
 * that answers ENOENT below a folder that is there, as /proc does.
 */
function makeFolder(fs: JournalFs, path: string): void {
  try {
    fs.mkdirSync(path, { mode: FOLDER_MODE, recursive: false })
  } catch (error) {
    const code = failureCode(error)
    // Another writer may have been quicker; what it made is looked at next.
    if (code === "EEXIST") return
    const parent = dirname(path)
    if (code !== "ENOENT" || parent === path || lookAt(fs, parent) !== undefined) throw error
    makeFolder(fs, parent)
    makeFolder(fs, path)
  }
}

function check(path: string, found: Stats): void {
  if (found.isSymbolicLink()) throw refusal(path, "is a symbolic link", "Set ORANGEBOX_HOME to the folder it points to")
  if (!found.isDirectory()) throw refusal(path, "is a file, not a folder", "Move it away or choose another folder")
  if (process.platform === "win32") return
  const uid = process.geteuid?.()
  if (uid !== undefined && found.uid !== uid) {
    throw refusal(
      path,
      `belongs to user ${found.uid}, this process runs as ${uid}`,
      `Run as its owner, give it away with "chown -R ${uid}", or set ORANGEBOX_HOME to a folder of your own`,
    )
  }
  if ((found.mode & 0o022) !== 0) {
    const mode = (found.mode & 0o777).toString(8).padStart(4, "0")
    throw refusal(path, `can be written by others (mode ${mode})`, `Run: chmod go-w ${JSON.stringify(path)}`)
  }
}

/** The one error of this file; `code` on the cause tells a full disk from a refusal. */
function refusal(path: string, what: string, next: string, cause?: unknown): OrangeboxError {
  return new OrangeboxError("FOLDER_REFUSED", { what: `the folder ${what}`, where: path, next, cause })
}
