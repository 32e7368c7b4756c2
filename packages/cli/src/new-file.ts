import { closeSync, fsyncSync, openSync, renameSync, rmSync, statSync, writeSync } from "node:fs"
import { InputError } from "@orangebox/contract"

/**
 * Writes a file whole or not at all, readable by its owner alone unless a mode is given, and over another one only when that is asked for.
 *
 * @returns how many bytes it has
 */
export function writeNewFile(path: string, pieces: Iterable<Uint8Array>, isForced: boolean, mode = 0o600): number {
  refuseToOverwrite(path, isForced)
  const unfinished = `${path}.${process.pid}.part`
  try {
    const bytes = writePieces(unfinished, pieces, mode)
    refuseToOverwrite(path, isForced)
    renameSync(unfinished, path)
    return bytes
  } catch (error) {
    discard(unfinished)
    throw error instanceof InputError ? error : cannotWrite(path, error)
  }
}

/** What was not begun need not be there, nor the folder it was to stand in. */
function discard(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch {
    // Why it could not be written is reported; that it cannot be removed either says no more.
  }
}

/** To be asked before long work too: afterwards it is too late. */
export function refuseToOverwrite(path: string, isForced: boolean): void {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found?.isDirectory()) {
    throw new InputError("IS_A_FOLDER", {
      what: "this is a folder, not a file",
      where: path,
      next: "Name a file in it",
    })
  }
  if (isForced || !found) return
  throw new InputError("FILE_EXISTS", {
    what: "the file is already there",
    where: path,
    next: "Name another one, or overwrite it with --force",
  })
}

function writePieces(path: string, pieces: Iterable<Uint8Array>, mode: number): number {
  const file = openSync(path, "w", mode)
  try {
    let bytes = 0
    for (const piece of pieces) {
      for (let at = 0; at < piece.length; ) at += writeSync(file, piece, at)
      bytes += piece.length
    }
    fsyncSync(file)
    return bytes
  } finally {
    closeSync(file)
  }
}

export function cannotWrite(path: string, cause: unknown): InputError {
  const isFolderMissing = (cause as NodeJS.ErrnoException).code === "ENOENT"
  const why = isFolderMissing ? "its folder is not there" : cause instanceof Error ? cause.message : String(cause)
  return new InputError("CANNOT_WRITE", { what: `the file cannot be written: ${why}`, where: path, cause })
}
