import { hash } from "node:crypto"
import { encodeBlock } from "./block-format.js"
import type { ChunkCatalogue } from "./chunk-catalogue.js"
import type { PackWriter } from "./pack-writer.js"

/** As many chunks as fit: a block's lengths must stay far below the 64 KiB a row may hold. */
export const MAX_CHUNKS_A_BLOCK = 8192

export interface ChunkWriterOptions {
  readonly catalogue: ChunkCatalogue
  readonly packs: PackWriter
  /** How many raw bytes make a block full; a batch of a collector seldom gets there. */
  readonly blockBytes?: number
  readonly quality?: number
}

/** Gives each chunk an id, collects the new ones into blocks and hands the full blocks to the pack and to the catalogue. */
export class ChunkWriter {
  readonly #catalogue: ChunkCatalogue
  readonly #packs: PackWriter
  readonly #blockBytes: number
  readonly #quality: number
  #waiting = new WaitingBlock(0)

  constructor({ catalogue, packs, blockBytes = 256 * 1024, quality = 5 }: ChunkWriterOptions) {
    this.#catalogue = catalogue
    this.#packs = packs
    this.#blockBytes = blockBytes
    this.#quality = quality
  }

  /** The id of the stored chunk with these bytes, now or already. The bytes are copied. */
  putShared(bytes: Uint8Array): number {
    const digest = chunkHash(bytes)
    const key = digest.toString("latin1")
    return this.#waiting.ids.get(key) ?? this.#catalogue.find(digest) ?? this.#add(bytes, digest, key)
  }

  /** The id of a new chunk that nobody will look for by its hash, which saves its row: a small body is found by the body's own hash. */
  putAlone(bytes: Uint8Array): number {
    return this.#add(bytes, undefined, undefined)
  }

  /** Writes what is waiting as one block. Call `sync()` of the packs after it and before the transaction commits. */
  flush(): void {
    const waiting = this.#waiting
    if (waiting.lengths.length === 0) return
    const place = this.#packs.append(encodeBlock(waiting.raw(), this.#quality))
    this.#catalogue.addBlock({ ...place, firstChunk: waiting.firstChunk, lengths: waiting.lengths }, waiting.hashes)
    this.#waiting = new WaitingBlock(0)
  }

  /** Forgets what is waiting, when the transaction it belonged to is rolled back. */
  discard(): void {
    this.#waiting = new WaitingBlock(0)
  }

  #add(bytes: Uint8Array, digest: Buffer | undefined, key: string | undefined): number {
    const isFull =
      this.#waiting.bytes + bytes.length > this.#blockBytes || this.#waiting.lengths.length >= MAX_CHUNKS_A_BLOCK
    if (isFull) this.flush()
    if (this.#waiting.lengths.length === 0) this.#waiting = new WaitingBlock(this.#catalogue.nextChunkId())
    return this.#waiting.add(bytes, digest, key)
  }
}

/**
 * Half a SHA-256. Two chunks that meet by chance in 128 bits need some 2^64 chunks in one store; made on purpose, for as much
 * work, they spoil their own bodies only, and reading notices, because a body is checked against its whole SHA-256.
 */
export function chunkHash(bytes: Uint8Array): Buffer {
  return hash("sha256", bytes, "buffer").subarray(0, 16)
}

class WaitingBlock {
  readonly firstChunk: number
  readonly lengths: number[] = []
  readonly hashes: (Buffer | undefined)[] = []
  readonly ids = new Map<string, number>()
  readonly #pieces: Buffer[] = []
  bytes = 0

  constructor(firstChunk: number) {
    this.firstChunk = firstChunk
  }

  add(bytes: Uint8Array, digest: Buffer | undefined, key: string | undefined): number {
    const id = this.firstChunk + this.lengths.length
    this.#pieces.push(Buffer.from(bytes))
    this.lengths.push(bytes.length)
    this.hashes.push(digest)
    this.bytes += bytes.length
    if (key !== undefined) this.ids.set(key, id)
    return id
  }

  raw(): Buffer {
    return Buffer.concat(this.#pieces)
  }
}
