import type { Block, ChunkCatalogue } from "../../src/bodies/chunk-catalogue.js"

/** The catalogue as plain maps, with the transaction a database would give. */
export class MemoryCatalogue implements ChunkCatalogue {
  generation = 0
  chunks = new Map<string, number>()
  blocks: Block[] = []

  find(hash: Buffer): number | undefined {
    return this.chunks.get(hash.toString("latin1"))
  }

  nextChunkId(): number {
    const last = this.blocks.at(-1)
    return last === undefined ? 1 : last.firstChunk + last.lengths.length
  }

  addBlock(block: Block, hashes: readonly (Buffer | undefined)[]): void {
    this.blocks.push(block)
    hashes.forEach((hash, index) => {
      if (hash !== undefined) this.chunks.set(hash.toString("latin1"), block.firstChunk + index)
    })
  }

  blockOf(chunk: number): Block | undefined {
    let low = 0
    let high = this.blocks.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.blocks[middle]!.firstChunk <= chunk) low = middle + 1
      else high = middle
    }
    return this.blocks[low - 1]
  }
}
