import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from "node:fs"
import { InputError } from "@orangebox/contract"

/**
 * Writes a file whole or not at all, readable by its owner alone, and over another one only when that is asked for.
 *
 * @returns how many bytes it has
 */
export function writeNewFile(path: string, pieces: Iterable<Uint8Array>, isForced: boolean): number {
  refuseToOverwrite(path, isForced)
  const unfinished = `${path}.${process.pid}.part`
  try {
    const bytes = writePieces(unfinished, pieces)
    refuseToOverwrite(path, isForced)
    renameSync(unfinished, path)
    return bytes
  } catch (error) {
    rmSync(unfinished, { force: true })
    throw error instanceof InputError ? error : cannotWrite(path, error)
  }
}

/** To be asked before long work too: nobody wants to hear it afterwards. */
export function refuseToOverwrite(path: string, isForced: boolean): void {
  if (isForced || !existsSync(path)) return
  throw new InputError("FILE_EXISTS", {
    what: "the file is already there",
    where: path,
    next: "Name another one, or overwrite it with --force",
  })
}

function writePieces(path: string, pieces: Iterable<Uint8Array>): number {
  const file = openSync(path, "w", 0o600)
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

function cannotWrite(path: string, cause: unknown): InputError {
  const why = cause instanceof Error ? cause.message : String(cause)
  return new InputError("CANNOT_WRITE", { what: `the file cannot be written: ${why}`, where: path, cause })
}
