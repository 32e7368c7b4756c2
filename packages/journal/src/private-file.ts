import { randomBytes } from "node:crypto"
import * as fs from "node:fs"
import { OrangeboxError } from "@orangebox/contract"
import { FILE_MODE, failureCode, type JournalFs, realFs } from "./journal-fs.js"

const { O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_RDWR, O_WRONLY } = fs.constants

// A pipe would keep the opener waiting for ever. Windows has neither flag; there the name is looked at first.
const SAFELY = (O_NOFOLLOW ?? 0) | (O_NONBLOCK ?? 0)

const ACCESS = {
  read: O_RDONLY,
  /** In place: bytes are put where the caller says. */
  change: O_RDWR,
  /** At the end; the file is made where it is missing. */
  append: O_WRONLY | O_APPEND | O_CREAT,
}

export type Access = keyof typeof ACCESS

/**
 * Opens a file of a data folder. All that is ever read from or written to one goes through here or through `checkPrivateFile`, because the
 * folder may have come with a clone or an archive: a link in it would lead our reading and writing elsewhere, and what another user can
 * write to is no evidence. A missing file is the errno it is; everything else that is not ours is `FILE_REFUSED`.
 */
export function openPrivateFile(path: string, access: Access, from: JournalFs = realFs): number {
  if (O_NOFOLLOW === undefined) checkPrivateFile(path)
  let fd: number
  try {
    fd = from.openSync(path, ACCESS[access] | SAFELY, FILE_MODE)
  } catch (error) {
    // What open(2) says of a link, of a pipe without a reader, and of a folder that was to be written.
    const word = { ELOOP: "is a symbolic link", ENXIO: "is no file", EISDIR: "is a folder" }[failureCode(error)]
    throw word === undefined ? error : refusal(path, word, "Remove it, or use a data folder of your own", error)
  }
  try {
    const found = from.fstatSync(fd)
    check(path, found, access !== "read")
    if (access !== "read" && (found.mode & 0o077) !== 0) from.fchmodSync(fd, FILE_MODE)
    return fd
  } catch (error) {
    from.closeSync(fd)
    throw error
  }
}

/** A new file, made by this call or not at all. The mode of open(2) passes through the umask and must not end up narrower or wider. */
export function createPrivateFile(path: string, access: "append" | "change", from: JournalFs = realFs): number {
  const fd = from.openSync(path, (access === "append" ? O_WRONLY | O_APPEND : O_RDWR) | O_CREAT | O_EXCL, FILE_MODE)
  from.fchmodSync(fd, FILE_MODE)
  return fd
}

/** For a file that SQLite opens by its name: only this user can exchange it in between, because the folder is private. */
export function checkPrivateFile(path: string): void {
  const found = fs.lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined) return
  check(path, found, true)
}

export function readPrivateFile(path: string, mostBytes: number): Buffer {
  const fd = openPrivateFile(path, "read")
  try {
    const { size } = fs.fstatSync(fd)
    if (size > mostBytes) throw refusal(path, `has ${size} bytes, ${mostBytes} at most are read`, "Remove it")
    return fs.readFileSync(fd)
  } finally {
    fs.closeSync(fd)
  }
}

/** The whole file at once: a reader sees what was there before or what is there now. */
export function replacePrivateFile(path: string, content: string | Uint8Array): void {
  const draft = `${path}.${process.pid}.${randomBytes(6).toString("hex")}`
  const fd = createPrivateFile(draft, "append")
  try {
    try {
      fs.writeFileSync(fd, content)
      fs.fsyncSync(fd)
    } finally {
      fs.closeSync(fd)
    }
    fs.renameSync(draft, path)
  } catch (error) {
    fs.rmSync(draft, { force: true })
    throw error
  }
}

const COPIED_AT_ONCE = 4 * 1024 * 1024

/** A copy of its own, on disk when this returns. */
export function copyPrivateFile(from: string, to: string): void {
  const source = openPrivateFile(from, "read")
  try {
    const copy = createPrivateFile(to, "append")
    try {
      const buffer = Buffer.allocUnsafe(COPIED_AT_ONCE)
      for (let at = 0; ; ) {
        const length = fs.readSync(source, buffer, 0, buffer.length, at)
        if (length === 0) break
        fs.writeFileSync(copy, buffer.subarray(0, length))
        at += length
      }
      fs.fsyncSync(copy)
    } finally {
      fs.closeSync(copy)
    }
  } finally {
    fs.closeSync(source)
  }
}

type Found = Pick<fs.Stats, "mode" | "uid" | "nlink">

const typeOf = ({ mode }: Found): number => mode & fs.constants.S_IFMT

function check(path: string, found: Found, isWritten: boolean): void {
  if (typeOf(found) === fs.constants.S_IFLNK) {
    throw refusal(path, "is a symbolic link", "Remove it, or use a data folder of your own")
  }
  if (typeOf(found) !== fs.constants.S_IFREG) throw refusal(path, "is no file", "Remove it")
  // Under its other name it belongs to a program that does not expect our bytes in it.
  if (isWritten && found.nlink > 1) {
    throw refusal(
      path,
      `has ${found.nlink} names (hard links)`,
      "Make it a file of its own: copy it and put the copy in its place",
    )
  }
  if (process.platform === "win32") return
  const uid = process.geteuid?.()
  if (uid !== undefined && found.uid !== uid) {
    throw refusal(
      path,
      `belongs to user ${found.uid}, this process runs as ${uid}`,
      `Run as its owner, or give it away with "chown ${uid}"`,
    )
  }
  if ((found.mode & 0o022) !== 0) {
    const mode = (found.mode & 0o777).toString(8).padStart(4, "0")
    throw refusal(path, `can be written by others (mode ${mode})`, `Run: chmod go-w ${JSON.stringify(path)}`)
  }
}

function refusal(path: string, what: string, next: string, cause?: unknown): OrangeboxError {
  return new OrangeboxError("FILE_REFUSED", { what: `a file of the data folder ${what}`, where: path, next, cause })
}
