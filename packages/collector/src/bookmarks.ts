import { closeSync, readSync } from "node:fs"
import { crc32 } from "node:zlib"
import { parseSchemaVersion, SCHEMA_VERSION } from "@orangebox/contract"
import { openPrivateFile } from "@orangebox/journal"
import type { JournalOffset } from "@orangebox/store"

/** `{"crc":"xxxxxxxx"`: the checksum of a first line tells one beginning from another without reading the line. */
const BEGINNING_BYTES = 17

/**
 * How far each journal file was read. A name can come to stand for other content (emptied and refilled, copied over), so a bookmark
 * belongs to a name *and* to how the file begins: `<name>@<checksum of its beginning>`. Inode numbers play no part; they are reused.
 *
 * A file that holds events of a newer schema than this build knows has one more, `<name>#newer@<this schema>`. Such a file is not
 * deleted, and a build with another schema reads it again from its beginning.
 */
export class Bookmarks {
  readonly #generations = new Map<string, Map<string, number>>()
  readonly #latest = new Map<string, number>()

  readonly #awaitsNewerBuild = new Set<string>()
  readonly #readAgain = new Map<string, string>()

  constructor(offsets: ReadonlyMap<string, number>) {
    for (const [key, offset] of offsets) {
      const at = key.indexOf(NEWER)
      if (at === -1 || offset === 0) continue
      if (key === newerKey(key.slice(0, at))) this.#awaitsNewerBuild.add(key.slice(0, at))
      else this.#readAgain.set(key.slice(0, at), key)
    }
    for (const [key, offset] of offsets) {
      if (!this.#readAgain.has(partsOf(key).name)) this.set({ file: key, offset })
    }
    // Which of several generations is the present one is known only by looking into the file.
    for (const [name, generations] of this.#generations) if (generations.size > 1) this.#latest.delete(name)
  }

  set({ file: key, offset }: JournalOffset): void {
    const newerAt = key.indexOf(NEWER)
    if (newerAt !== -1) {
      if (key === newerKey(key.slice(0, newerAt)) && offset > 0) this.#awaitsNewerBuild.add(key.slice(0, newerAt))
      return
    }
    const { name, beginning } = partsOf(key)
    let generations = this.#generations.get(name)
    if (generations === undefined) {
      generations = new Map()
      this.#generations.set(name, generations)
    }
    generations.set(beginning, offset)
    this.#latest.set(name, offset)
  }

  /** The file holds events that this build could not take, and a newer one could. */
  awaitsNewerBuild(name: string): boolean {
    return this.#awaitsNewerBuild.has(name)
  }

  /** The bookmark to clear when a file is read again that waited for this build. */
  takeReadAgain(name: string): JournalOffset | undefined {
    const key = this.#readAgain.get(name)
    this.#readAgain.delete(name)
    return key === undefined ? undefined : { file: key, offset: 0 }
  }

  /** Undefined when the file was never read with this beginning. */
  offsetOf(key: string): number | undefined {
    const { name, beginning } = partsOf(key)
    return this.#generations.get(name)?.get(beginning)
  }

  /** Where reading stands, whatever the file begins with now: enough to see that nothing was added. */
  latestOffsetOf(name: string): number | undefined {
    return this.#latest.get(name)
  }

  /** The file begins like this now: of several generations of its name, this is the present one. */
  notePresent(key: string): void {
    const offset = this.offsetOf(key)
    if (offset !== undefined) this.#latest.set(partsOf(key).name, offset)
  }

  /** For those who only want to know whether the reading has come so far. */
  furthestOffsetOf(name: string): number {
    return Math.max(0, ...(this.#generations.get(name)?.values() ?? []))
  }

  hasOtherGeneration(key: string): boolean {
    const { name, beginning } = partsOf(key)
    const generations = this.#generations.get(name)
    return generations !== undefined && !generations.has(beginning)
  }
}

/** The key of a file as it begins now; undefined while too little is there to tell. */
export function bookmarkKey(path: string, name: string): string | undefined {
  const beginning = Buffer.alloc(BEGINNING_BYTES)
  const fd = openPrivateFile(path, "read")
  try {
    if (readSync(fd, beginning, 0, BEGINNING_BYTES, 0) < BEGINNING_BYTES) return undefined
  } finally {
    closeSync(fd)
  }
  return `${name}@${crc32(beginning).toString(16).padStart(8, "0")}`
}

const NEWER = "#newer@"

export const newerKey = (name: string): string => `${name}${NEWER}${SCHEMA_VERSION}`

/** Whether an event says that it is of a schema this build has yet to learn. */
export function isOfNewerSchema(event: unknown): boolean {
  if (typeof event !== "object" || event === null || !("schema_version" in event)) return false
  const version = parseSchemaVersion(event.schema_version)
  const ours = parseSchemaVersion(SCHEMA_VERSION)!
  if (version === undefined) return false
  return version.major > ours.major || (version.major === ours.major && version.minor > ours.minor)
}

function partsOf(key: string): { name: string; beginning: string } {
  const at = key.lastIndexOf("@")
  return at === -1 ? { name: key, beginning: "" } : { name: key.slice(0, at), beginning: key.slice(at + 1) }
}
