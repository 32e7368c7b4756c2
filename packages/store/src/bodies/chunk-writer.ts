import { hash } from "node:crypto"
import { encodeBlock } from "./block-format.js"
import type { BlockStorage, ChunkCatalogue } from "./chunk-catalogue.js"

/** As many chunks as fit: a block's lengths must stay far below the 64 KiB a row may hold. */
export const MAX_CHUNKS_A_BLOCK = 8192

export interface ChunkWriterOptions {
  readonly catalogue: ChunkCatalogue
  readonly packs: BlockStorage
  /** How many raw bytes make a block full; what a collector commits at once seldom gets there. */
  readonly blockBytes?: number
  /** Of brotli. */
  readonly quality?: number
}

/** Gives each chunk an id, collects the new ones into blocks and hands the full blocks to the pack and to the catalogue. */
export class ChunkWriter {
  readonly #catalogue: ChunkCatalogue
  readonly #packs: BlockStorage
  readonly #blockBytes: number
  readonly #quality: number
  #waiting: WaitingBlock | undefined

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
    return this.#waiting?.ids.get(key) ?? this.#catalogue.find(digest) ?? this.#add(bytes, digest, key)
  }

  /** The id of a new chunk that is never looked for by its hash, which saves its row. The bytes are copied. */
  putAlone(bytes: Uint8Array): number {
    return this.#add(bytes, undefined, undefined)
  }

  /** Writes what is waiting as one block. */
  flush(): void {
    if (this.#waiting === undefined) return
    const { firstChunk, lengths, hashes } = this.#waiting
    const place = this.#packs.append(encodeBlock(this.#waiting.raw(), this.#quality))
    this.#catalogue.addBlock({ ...place, firstChunk, lengths }, hashes)
    this.#waiting = undefined
  }

  /** Forgets what is waiting. */
  discard(): void {
    this.#waiting = undefined
  }

  #add(bytes: Uint8Array, digest: Buffer | undefined, key: string | undefined): number {
    const { bytes: waiting, lengths } = this.#waiting ?? { bytes: 0, lengths: [] }
    if (waiting + bytes.length > this.#blockBytes || lengths.length >= MAX_CHUNKS_A_BLOCK) this.flush()
    this.#waiting ??= new WaitingBlock(this.#catalogue.nextChunkId())
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
