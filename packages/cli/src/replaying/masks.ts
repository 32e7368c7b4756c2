import { existsSync, readFileSync } from "node:fs"
import { InputError, type JsonNode, readJson, whyNotJson } from "@orangebox/contract"
import { type AcceptedMask, acceptMasks, EMPTY_MASKS, type MasksFile, parseMasksFile } from "@orangebox/replay"
import { nodesOf } from "@orangebox/text"
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

/**
 * A file that a user wrote by hand: what is wrong with it is theirs to put right. A key that stands there twice says two things, and the one who
 * reads the file may see the one that we do not.
 */
export function readJsonFile(path: string): unknown {
  let text: string
  try {
    text = readFileSync(path, "utf8")
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new InputError("CANNOT_READ", { what: `the file cannot be read: ${why}`, where: path, cause: error })
  }
  const reading = readJson(text)
  if (!reading.ok) throw new InputError("NOT_JSON", { what: `this is no JSON: ${whyNotJson(text)}`, where: path })
  const repeated = repeatedMember(reading.node)
  if (repeated !== undefined)
    throw new InputError("REPEATED_KEY", {
      what: `${repeated} stands there twice`,
      where: path,
      next: "Keep one of them",
    })
  return JSON.parse(text) as unknown
}

function repeatedMember(root: JsonNode): string | undefined {
  const seen = new Set<string>()
  for (const { pointer } of nodesOf(root)) {
    if (seen.has(pointer)) return pointer
    seen.add(pointer)
  }
  return undefined
}
