import { existsSync, readFileSync } from "node:fs"
import { InputError } from "@orangebox/contract"
import { type AcceptedMask, acceptMasks, EMPTY_MASKS, type MasksFile, parseMasksFile } from "@orangebox/replay"
import { writeNewFile } from "../new-file.js"

export function readMasks(path: string): MasksFile {
  return parseMasksFile(readJsonFile(path), path)
}

/** Adds to the masks that are in the file already, and makes it where there is none. */
export function addMasks(
  path: string,
  masks: readonly AcceptedMask[],
  by: { readonly acceptedBy: string; readonly acceptedAt: string },
): void {
  const before = existsSync(path) ? readMasks(path) : EMPTY_MASKS
  const text = `${JSON.stringify(acceptMasks(before, masks, by), null, 2)}\n`
  writeNewFile(path, [Buffer.from(text)], true)
}

/** A file somebody wrote by hand: what is wrong with it is theirs to put right. */
export function readJsonFile(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as unknown
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new InputError(error instanceof SyntaxError ? "NOT_JSON" : "CANNOT_READ", {
      what: error instanceof SyntaxError ? `this is no JSON: ${why}` : `the file cannot be read: ${why}`,
      where: path,
      cause: error,
    })
  }
}
