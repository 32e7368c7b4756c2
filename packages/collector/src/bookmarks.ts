import { closeSync, constants, openSync, readSync } from "node:fs"
import { crc32 } from "node:zlib"
import type { JournalOffset } from "@orangebox/store"

/** `{"crc":"xxxxxxxx"`: the checksum of a first line tells one beginning from another without reading the line. */
const BEGINNING_BYTES = 17

/**
 * How far each journal file was read. A name can come to stand for other content (emptied and refilled, copied over), so a bookmark
 * belongs to a name *and* to how the file begins: `<name>@<checksum of its beginning>`. Inode numbers play no part; they are reused.
 */
export class Bookmarks {
  readonly #generations = new Map<string, Map<string, number>>()
  readonly #latest = new Map<string, number>()

  constructor(offsets: ReadonlyMap<string, number>) {
    for (const [key, offset] of offsets) this.set({ file: key, offset })
    // Which of several generations is the present one is known only by looking into the file.
    for (const [name, generations] of this.#generations) if (generations.size > 1) this.#latest.delete(name)
  }

  set({ file: key, offset }: JournalOffset): void {
    const { name, beginning } = partsOf(key)
    let generations = this.#generations.get(name)
    if (generations === undefined) {
      generations = new Map()
      this.#generations.set(name, generations)
    }
    generations.set(beginning, offset)
    this.#latest.set(name, offset)
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
  const fd = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0))
  try {
    if (readSync(fd, beginning, 0, BEGINNING_BYTES, 0) < BEGINNING_BYTES) return undefined
  } finally {
    closeSync(fd)
  }
  return `${name}@${crc32(beginning).toString(16).padStart(8, "0")}`
}

function partsOf(key: string): { name: string; beginning: string } {
  const at = key.lastIndexOf("@")
  return at === -1 ? { name: key, beginning: "" } : { name: key.slice(0, at), beginning: key.slice(at + 1) }
}
