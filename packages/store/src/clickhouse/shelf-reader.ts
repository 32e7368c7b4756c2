import type { BodyHash } from "@orangebox/contract"
import { decodeBlock } from "../bodies/block-format.js"
import type { BodyProblem, BodyReading } from "../bodies/body-problem.js"
import { BodyReader, type ChunkRun } from "../bodies/body-reader.js"
import type { Block, BlockPlace } from "../bodies/chunk-catalogue.js"
import type { BlockReading } from "../bodies/pack-reader.js"
import { decodeParts } from "../bodies/recipe.js"
import { type Connection, quote, type ServerRow } from "./connection.js"

/** A body as its row knows it. */
export interface ShelvedBody {
  readonly hash: string
  readonly shelf: string
  readonly recipe: Uint8Array
}

/** Raw bytes of blocks that are kept between two readings. */
const CACHE_BYTES = 64 * 1024 * 1024

/** Makes bodies from blocks that are rows of the server: those it needs are fetched, many at a time, and the reading is then done at once. */
export class ShelfReader {
  readonly #connection: Connection
  readonly #shelves = new Map<string, FetchedBlocks>()
  #cachedBytes = 0

  constructor(connection: Connection) {
    this.#connection = connection
  }

  async read(body: ShelvedBody): Promise<BodyReading> {
    return this.#fetching(body, (reader) => reader.read(body.recipe, body.hash as BodyHash))
  }

  async slice(body: ShelvedBody, from: number, to: number): Promise<BodyReading> {
    return this.#fetching(body, (reader) => reader.slice(body.recipe, from, to))
  }

  /** Which chunks of its shelf a body needs. */
  async chunksOf(body: ShelvedBody): Promise<ChunkRun[] | BodyProblem> {
    const found = await this.#fetching(body, (reader) => {
      const runs = reader.chunkRuns(body.recipe)
      const all: ChunkRun[] = []
      for (;;) {
        const next = runs.next()
        if (next.done) return next.value === undefined ? { all } : { problem: next.value }
        all.push(next.value)
      }
    })
    return found.problem ?? found.all!
  }

  /** Fetches what bodies need at their first level, in one question a shelf. */
  async prepare(bodies: readonly ShelvedBody[]): Promise<void> {
    if (this.#cachedBytes > CACHE_BYTES) this.forget()
    const wanted = new Map<string, ChunkRun[]>()
    for (const { shelf, recipe } of bodies) {
      const known = this.#blocksOf(shelf)
      for (const { first, count } of decodeParts(recipe) ?? []) {
        if (known.hasAll(first, count)) continue
        wanted.set(shelf, [...(wanted.get(shelf) ?? []), { first, count }])
      }
    }
    for (const [shelf, runs] of wanted) await this.#fetch(shelf, runs)
  }

  forget(): void {
    this.#shelves.clear()
    this.#cachedBytes = 0
  }

  async #fetching<T extends { readonly problem?: BodyProblem }>(
    body: ShelvedBody,
    read: (reader: BodyReader) => T,
  ): Promise<T> {
    await this.prepare([body])
    const blocks = this.#blocksOf(body.shelf)
    for (let last = -1; ; ) {
      const reading = read(new BodyReader({ catalogue: blocks, packs: blocks }))
      const missing =
        reading.problem?.code === "chunk_unknown" ? Number(/^chunk (\d+)$/.exec(reading.problem.where)?.[1]) : NaN
      if (Number.isNaN(missing) || missing === last) return reading
      last = missing
      await this.#fetch(body.shelf, [{ first: missing, count: 1 }])
    }
  }

  async #fetch(shelf: string, runs: readonly ChunkRun[]): Promise<void> {
    const ranges = runs.map(
      ({ first, count }) => `(first_chunk < ${first + count} AND first_chunk + length(lengths) > ${first})`,
    )
    for (let from = 0; from < ranges.length; from += RANGES_AT_ONCE) {
      const rows = await this.#connection.rows(
        `SELECT first_chunk, lengths, size, bytes FROM block_rows FINAL WHERE shelf = ${quote(shelf)} AND (${ranges.slice(from, from + RANGES_AT_ONCE).join(" OR ")})`,
      )
      for (const row of rows) this.#cachedBytes += this.#blocksOf(shelf).add(row)
    }
  }

  #blocksOf(shelf: string): FetchedBlocks {
    let blocks = this.#shelves.get(shelf)
    if (blocks === undefined) {
      blocks = new FetchedBlocks()
      this.#shelves.set(shelf, blocks)
    }
    return blocks
  }
}

const RANGES_AT_ONCE = 500

/** The blocks of one shelf that were fetched: a catalogue and the blocks themselves. */
class FetchedBlocks {
  readonly #blocks: Block[] = []
  readonly #raw = new Map<number, BlockReading>()

  /** Takes in a row, and says how many bytes it is. */
  add(row: ServerRow): number {
    const firstChunk = Number(row["first_chunk"])
    if (this.#raw.has(firstChunk)) return 0
    const block = {
      pack: 0,
      start: firstChunk,
      size: Number(row["size"]),
      firstChunk,
      lengths: row["lengths"] as number[],
    }
    const raw = decodeBlock(Buffer.from(String(row["bytes"]), "base64"))
    this.#raw.set(
      firstChunk,
      typeof raw === "string"
        ? { problem: { code: "block_damaged", where: `block ${firstChunk}`, reason: raw } }
        : { raw },
    )
    this.#blocks.splice(this.#positionOf(firstChunk), 0, block)
    return typeof raw === "string" ? 0 : raw.length
  }

  blockOf(chunk: number): Block | undefined {
    return this.#blocks[this.#positionOf(chunk) - 1]
  }

  hasAll(first: number, count: number): boolean {
    for (let chunk = first; chunk < first + count; ) {
      const block = this.blockOf(chunk)
      if (block === undefined || chunk >= block.firstChunk + block.lengths.length) return false
      chunk = block.firstChunk + block.lengths.length
    }
    return true
  }

  read({ start }: BlockPlace): BlockReading {
    return this.#raw.get(start)!
  }

  /** How many blocks begin at or before this chunk. */
  #positionOf(chunk: number): number {
    let low = 0
    let high = this.#blocks.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#blocks[middle]!.firstChunk <= chunk) low = middle + 1
      else high = middle
    }
    return low
  }
}
