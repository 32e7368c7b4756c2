/**
 * Reads blocks, leaves out the chunks that no body needs and writes the rest into other packs as larger, better compressed blocks.
 * Chunk ids stay, so hash rows and recipes do too. Used twice:
 *
 * - **Settling.** A collector commits every few hundred milliseconds, so fresh blocks are small and quickly compressed. Once
 *   about a megabyte has gathered in the fresh pack, its blocks are rewritten into the settled pack.
 * - **Pruning.** A pack with many dead chunks is rewritten without them.
 *
 * For the caller, in this order: for a prune, delete the dead chunks' hash rows and commit, so that no new body can build on
 * them; rewrite; `to.sync()`; in one transaction put the `written` rows in the place of those of `blocks`; delete the old pack
 * if nothing was `unreadable`. Killed at any point, the rows name whole blocks; packs no row names are swept at the next start.
 */
import { encodeBlockInBackground } from "./block-format.js"
import type { BodyProblem } from "./body-problem.js"
import type { Block } from "./chunk-catalogue.js"
import { MAX_CHUNKS_A_BLOCK } from "./chunk-writer.js"
import type { PackReader } from "./pack-reader.js"
import type { PackWriter } from "./pack-writer.js"

export interface RewriteOptions {
  /** In the order of their chunk ids. Blocks whose ids follow one another may be joined. */
  readonly blocks: readonly Block[]
  readonly from: PackReader
  readonly to: PackWriter
  /** Which chunks to keep; all by default. */
  readonly keeps?: (chunk: number) => boolean
  readonly blockBytes?: number
  readonly quality?: number
}

export interface Rewrite {
  readonly written: readonly Block[]
  /** Blocks that could not be read. Their rows and their pack must stay: someone may still mend the file. */
  readonly unreadable: readonly { readonly block: Block; readonly problem: BodyProblem }[]
}

export async function rewriteBlocks(options: RewriteOptions): Promise<Rewrite> {
  const { blocks, from, to, keeps = () => true, blockBytes = 1024 * 1024, quality = 9 } = options
  const written: Block[] = []
  const unreadable: { block: Block; problem: BodyProblem }[] = []
  let joined = new JoinedBlock()
  const write = async () => {
    if (joined.bytes > 0) {
      const place = to.append(await encodeBlockInBackground(joined.raw(), quality))
      written.push({ ...place, firstChunk: joined.firstChunk, lengths: joined.lengths })
    }
    joined = new JoinedBlock()
  }
  for (const block of blocks) {
    const { raw, problem } = from.read(block)
    if (problem !== undefined) {
      await write()
      unreadable.push({ block, problem })
      continue
    }
    if (joined.end !== block.firstChunk) await write()
    let offset = 0
    for (const [index, length] of block.lengths.entries()) {
      const chunk = block.firstChunk + index
      if (joined.bytes + length > blockBytes || joined.lengths.length >= MAX_CHUNKS_A_BLOCK) await write()
      if (length > 0 && keeps(chunk)) joined.add(chunk, raw.subarray(offset, offset + length))
      else joined.skip(chunk)
      offset += length
    }
  }
  await write()
  return { written, unreadable }
}

class JoinedBlock {
  firstChunk = 0
  readonly lengths: number[] = []
  readonly #pieces: Buffer[] = []
  bytes = 0

  /** The chunk id that may come next; none yet while the block is empty. */
  get end(): number {
    return this.firstChunk + this.lengths.length
  }

  add(chunk: number, bytes: Buffer): void {
    if (this.lengths.length === 0) this.firstChunk = chunk
    this.lengths.push(bytes.length)
    this.#pieces.push(bytes)
    this.bytes += bytes.length
  }

  /** A block begins with a chunk that is there; behind that, one that is gone keeps its number with length 0. */
  skip(chunk: number): void {
    if (this.lengths.length > 0 && chunk === this.end) this.lengths.push(0)
  }

  raw(): Buffer {
    return Buffer.concat(this.#pieces)
  }
}
