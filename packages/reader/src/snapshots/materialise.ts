import { closeSync, constants, fstatSync, lstatSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { isAbsent, type TraceReader } from "@orangebox/store"
import { plural } from "@orangebox/text"
import { placeAmongSnapshots, type Snapshot } from "./list-snapshots.js"

/** What became of one snapshot that was to be written. */
export interface Written {
  /** `same` lay there already, byte for byte. */
  readonly outcome: "written" | "same" | "absent" | "refused"
  /** Where it is, or why it is not. */
  readonly where: string | null
  readonly reason: string | null
}

/**
 * Puts a snapshot where its path says: among the snapshots of the data folder, wherever that stands today. A path comes out of a recording and
 * is not trusted.
 */
export async function materialise(store: TraceReader, dataFolder: string, snapshot: Snapshot): Promise<Written> {
  const parts = safeParts(snapshot.path)
  if (parts === undefined) return refused("its path leads out of the snapshots folder")
  const reading = await store.readBody(snapshot.hash)
  if (isAbsent(reading)) {
    const when = reading.onMs === undefined ? "" : ` on ${new Date(reading.onMs).toISOString().slice(0, 10)}`
    const size = plural(reading.byteSize ?? snapshot.sizeBytes, "byte")
    const why = snapshot.absent ?? reading.absent
    const reason = `${why.replaceAll("_", " ")}${when}, was ${size}`
    return { outcome: "absent", where: null, reason }
  }
  return writeAt(dataFolder, parts, reading.bytes)
}

/** The folders and the file below the data folder, or undefined for a path that could end up elsewhere. */
function safeParts(path: string): string[] | undefined {
  const place = placeAmongSnapshots(path)
  if (place === undefined) return undefined
  const parts = place.split("/")
  const isSafe = parts.every((part) => part !== "" && part !== "." && part !== ".." && /^[^\\\p{Cc}:]+$/u.test(part))
  return isSafe ? ["snapshots", ...parts] : undefined
}

function writeAt(root: string, parts: readonly string[], bytes: Uint8Array): Written {
  let path = root
  for (const part of parts.slice(0, -1)) {
    path = join(path, part)
    makeFolder(path)
    if (!lstatSync(path).isDirectory()) return refused(`${path} is a link or a file, not a folder`)
  }
  path = join(path, parts.at(-1)!)
  try {
    // Exclusive: neither a file that is there nor what a link points at is ever written over.
    writeFileSync(path, bytes, { flag: "wx", mode: 0o600 })
    return { outcome: "written", where: path, reason: null }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") return refused(`${path}: ${(error as Error).message}`)
  }
  return holds(path, bytes)
    ? { outcome: "same", where: path, reason: null }
    : refused(`${path} is there already and is something else`)
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error
  }
}

function holds(path: string, bytes: Uint8Array): boolean {
  let fd: number
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch {
    return false
  }
  try {
    const found = fstatSync(fd)
    return found.isFile() && found.size === bytes.length && readFileSync(fd).equals(bytes)
  } finally {
    closeSync(fd)
  }
}

const refused = (reason: string): Written => ({ outcome: "refused", where: null, reason })
