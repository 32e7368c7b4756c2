import * as fs from "node:fs"

/** What the writer asks of the file system. The real one is `node:fs`; fault tests hand in one that fails on cue. */
export interface JournalFs {
  openSync(path: string, flags: number, mode?: number): number
  writeSync(fd: number, buffer: Uint8Array, offset: number, length: number, position?: number | null): number
  fdatasyncSync(fd: number): void
  fdatasync(fd: number, done: (error: Error | null) => void): void
  fsyncSync(fd: number): void
  fsync(fd: number, done: (error: Error | null) => void): void
  fstatSync(fd: number): { readonly size: number; readonly nlink: number }
  fchmodSync(fd: number, mode: number): void
  closeSync(fd: number): void
  lstatSync(path: string): fs.Stats
  mkdirSync(path: string, options: { mode: number; recursive: boolean }): unknown
  readdirSync(path: string): string[]
  unlinkSync(path: string): void
}

export const realFs: JournalFs = fs

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_APPEND, O_WRONLY, O_RDONLY } = fs.constants

// O_NOFOLLOW is missing on Windows, where O_EXCL alone already refuses an existing link.
export const CREATE_FOR_APPEND = O_CREAT | O_EXCL | O_WRONLY | O_APPEND | (O_NOFOLLOW ?? 0)
export const CREATE_FOR_PLACED_WRITES = O_CREAT | O_EXCL | O_WRONLY | (O_NOFOLLOW ?? 0)
export const READ_NO_LINK = O_RDONLY | (O_NOFOLLOW ?? 0)

export const FILE_MODE = 0o600
export const FOLDER_MODE = 0o700

/** A new private file. The mode given to open(2) passes through the umask and must not end up narrower or wider than ours. */
export function createPrivate(fs: JournalFs, path: string, flags: number): number {
  const fd = fs.openSync(path, flags, FILE_MODE)
  fs.fchmodSync(fd, FILE_MODE)
  return fd
}

/** The errno name of a failed call, `UNKNOWN` for anything else that was thrown. */
export function failureCode(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "UNKNOWN"
}

const REFUSALS = new Set(["EACCES", "EPERM", "EROFS", "FOLDER_REFUSED"])

/** The folder will not let us write, now or later: that is for the user to mend, before the app relies on a record. */
export function isRefusal(error: unknown): boolean {
  return REFUSALS.has(failureCode(error))
}
