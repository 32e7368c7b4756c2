import { randomBytes } from "node:crypto"
import { BodyWriter, type StoredBody } from "../bodies/body-writer.js"
import type { Block, ChunkCatalogue } from "../bodies/chunk-catalogue.js"
import type { ServerRow } from "./connection.js"

/** With more chunks than this the next body begins another shelf: what is known of them is in memory. */
const MOST_CHUNKS = 400_000

/**
 * Where one collector puts bodies: chunks are told apart within a shelf and never across, so no two machines have to agree on anything. The catalogue of
 * chunks lives with the process; another process begins another shelf, and what both hold is stored in each. A shelf whose blocks may not have
 * reached the server is given up whole, so that no recipe can name a chunk that is not there.
 */
export class BodyShelf {
  readonly name: string
  readonly #catalogue = new ShelfCatalogue()
  readonly #writer: BodyWriter
  readonly #day: string
  #pending: Buffer[] = []

  constructor(collectorId: string, nowMs: number) {
    this.name = `${collectorId}-${randomBytes(6).toString("hex")}`
    this.#day = dayOf(nowMs)
    this.#writer = new BodyWriter({
      catalogue: this.#catalogue,
      packs: {
        append: (block) => {
          this.#pending.push(Buffer.from(block))
          return { pack: 0, start: this.#pending.length - 1, size: block.length }
        },
      },
    })
  }

  isFull(nowMs: number): boolean {
    return this.#catalogue.size > MOST_CHUNKS || this.#day !== dayOf(nowMs)
  }

  write(bytes: Uint8Array | Iterable<Uint8Array>): StoredBody {
    return bytes instanceof Uint8Array ? this.#writer.write(bytes) : this.#writer.writePieces(bytes)
  }

  /** The blocks that were filled since the last time, as rows. */
  takeBlocks(): ServerRow[] {
    this.#writer.flush()
    const blocks = this.#catalogue.takeBlocks().map(({ firstChunk, lengths, start, size }) => ({
      shelf: this.name,
      first_chunk: firstChunk,
      version: 1,
      written_on: this.#day,
      lengths,
      size,
      bytes: this.#pending[start]!.toString("base64"),
    }))
    this.#pending = []
    return blocks
  }
}

const dayOf = (atMs: number): string => new Date(atMs).toISOString().slice(0, 10)

class ShelfCatalogue implements ChunkCatalogue {
  readonly generation = 0
  readonly #chunks = new Map<string, number>()
  #blocks: Block[] = []
  #next = 1

  get size(): number {
    return this.#chunks.size
  }

  find(hash: Buffer): number | undefined {
    return this.#chunks.get(hash.toString("latin1"))
  }

  nextChunkId(): number {
    return this.#next
  }

  addBlock(block: Block, hashes: readonly (Buffer | undefined)[]): void {
    this.#blocks.push(block)
    this.#next = block.firstChunk + block.lengths.length
    hashes.forEach((hash, index) => {
      if (hash !== undefined) this.#chunks.set(hash.toString("latin1"), block.firstChunk + index)
    })
  }

  /** Nothing reads from a shelf through its catalogue. */
  blockOf(): undefined {
    return undefined
  }

  takeBlocks(): Block[] {
    const blocks = this.#blocks
    this.#blocks = []
    return blocks
  }
}
