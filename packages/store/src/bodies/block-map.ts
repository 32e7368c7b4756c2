import type { Block, ChunkCatalogue } from "./chunk-catalogue.js"

export interface MappedBlock {
  readonly block: Block
  /** Where each chunk begins in the raw block, and behind the last of them where it ends. */
  readonly offsets: readonly number[]
}

/**
 * The blocks met while reading one body. A long history touches the same few blocks hundreds of times, and asking the catalogue
 * costs a query each. Made for each reading anew, so that it never grows old.
 */
export class BlockMap {
  readonly #catalogue: Pick<ChunkCatalogue, "blockOf">
  #known: MappedBlock[] = []

  constructor(catalogue: Pick<ChunkCatalogue, "blockOf">) {
    this.#catalogue = catalogue
  }

  blockOf(chunk: number): MappedBlock | undefined {
    const known = this.#known.find(({ block }) => holds(block, chunk))
    if (known !== undefined) return known
    const block = this.#catalogue.blockOf(chunk)
    if (block === undefined || !holds(block, chunk)) return undefined
    const mapped = { block, offsets: offsetsOf(block.lengths) }
    this.#known.unshift(mapped)
    return mapped
  }

  /** For when a pack is gone: its blocks have moved, and the catalogue knows where to. */
  forget(pack: number): void {
    this.#known = this.#known.filter(({ block }) => block.pack !== pack)
  }
}

function holds(block: Block, chunk: number): boolean {
  return chunk >= block.firstChunk && chunk < block.firstChunk + block.lengths.length
}

function offsetsOf(lengths: readonly number[]): number[] {
  const offsets = [0]
  for (const length of lengths) offsets.push(offsets.at(-1)! + length)
  return offsets
}
