import { existsSync, readFileSync } from "node:fs"
import { InputError, whyNotJson } from "@orangebox/contract"
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
  let text: string
  try {
    text = readFileSync(path, "utf8")
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new InputError("CANNOT_READ", { what: `the file cannot be read: ${why}`, where: path, cause: error })
  }
  const why = whyNotJson(text)
  if (why !== undefined) throw new InputError("NOT_JSON", { what: `this is no JSON: ${why}`, where: path })
  return JSON.parse(text) as unknown
}
