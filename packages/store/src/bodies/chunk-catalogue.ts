/**
 * What the body store needs a database for: which chunk has which id, and which block of which pack holds it. Synchronous and
 * tiny. Everything that is added takes part in the caller's transaction, which commits only after the pack files are synced.
 */
export interface ChunkCatalogue {
  /** Changes whenever chunks were removed, so that a writer does not build on ids it remembers from before. */
  readonly generation: number
  /** The id of the chunk with this hash, unless it is not there or no longer to be used. */
  find(hash: Buffer): number | undefined
  /** One more than the highest chunk id there has been, pruned ones included; 1 in an empty store. */
  nextChunkId(): number
  /** Takes in a written block and the hashes of its chunks, in their order; a chunk without a hash is never looked up by one. */
  addBlock(block: Block, hashes: readonly (Buffer | undefined)[]): void
  /** The block whose id range holds this chunk: the one with the largest `firstChunk` that is not above it. */
  blockOf(chunk: number): Block | undefined
}

/** A stretch of consecutive chunks compressed together. */
export interface Block extends BlockPlace {
  readonly firstChunk: number
  /** The length of each chunk, in the order of their ids; 0 for one that was dropped in a rewrite. */
  readonly lengths: readonly number[]
}

export interface BlockPlace {
  readonly pack: number
  /** Where in the pack file the block's header begins. */
  readonly start: number
  /** Header and compressed bytes together. */
  readonly size: number
}

/** Where written blocks go: packs on a disk, or rows of a server. */
export interface BlockStorage {
  append(block: Uint8Array): BlockPlace
}
