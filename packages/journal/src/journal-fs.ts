import * as fs from "node:fs"

/** What the writer asks of the file system. The real one is `node:fs`; fault tests hand in one that fails on cue. */
export interface JournalFs {
  openSync(path: string, flags: number, mode?: number): number
  writeSync(fd: number, buffer: Uint8Array, offset: number, length: number, position?: number | null): number
  fdatasyncSync(fd: number): void
  fdatasync(fd: number, done: (error: Error | null) => void): void
  fsyncSync(fd: number): void
  fsync(fd: number, done: (error: Error | null) => void): void
  fstatSync(fd: number): Pick<fs.Stats, "size" | "nlink" | "mode" | "uid">
  fchmodSync(fd: number, mode: number): void
  closeSync(fd: number): void
  lstatSync(path: string): fs.Stats
  mkdirSync(path: string, options: { mode: number; recursive: boolean }): unknown
  readdirSync(path: string): string[]
  unlinkSync(path: string): void
}

export const realFs: JournalFs = fs

export const FILE_MODE = 0o600
export const FOLDER_MODE = 0o700

/** The errno name of a failed call, `UNKNOWN` for anything else that was thrown. */
export function failureCode(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "UNKNOWN"
}

const REFUSALS = new Set(["EACCES", "EPERM", "EROFS", "FOLDER_REFUSED", "FILE_REFUSED"])

/** The folder will not let us write, now or later: that is for the user to mend, before the app relies on a record. */
export function isRefusal(error: unknown): boolean {
  return REFUSALS.has(failureCode(error))
}
