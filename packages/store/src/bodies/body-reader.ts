import { type BodyHash, incrementalBodyHash } from "@orangebox/contract"
import type { BodyProblem, BodyReading } from "./body-problem.js"
import type { Block, ChunkCatalogue } from "./chunk-catalogue.js"
import type { BlockSource } from "./pack-reader.js"
import { decodeParts, type Part } from "./recipe.js"

/** Makes bodies from recipes. Blocks are checked by their checksum on every read, whole bodies by their hash as well. */
export class BodyReader {
  readonly #catalogue: Pick<ChunkCatalogue, "blockOf">
  readonly #packs: BlockSource
  /** Of a reader for one batch. */
  readonly #blocks: BlockMap | undefined

  constructor({ catalogue, packs, blocks }: BodySources & { readonly blocks?: BlockMap }) {
    this.#catalogue = catalogue
    this.#packs = packs
    this.#blocks = blocks
  }

  /** For many bodies one after the other: small ones lie in the same few blocks, each of which is then looked up once. To be dropped with the batch. */
  forBatch(): BodyReader {
    const [catalogue, packs] = [this.#catalogue, this.#packs]
    return new BodyReader({ catalogue, packs, blocks: new BlockMap(catalogue) })
  }

  /** The whole body, byte for byte what was stored, or the problem; never other bytes. */
  read(recipe: Uint8Array, hash: BodyHash): BodyReading {
    const { pieces, problem } = collect(this.pieces(recipe))
    if (problem !== undefined) return { problem }
    const running = incrementalBodyHash()
    for (const piece of pieces) running.update(piece)
    if (running.digest() === hash) return { bytes: Buffer.concat(pieces) }
    return {
      problem: { code: "hash_mismatch", where: hash, reason: "the stored chunks do not make the body of this hash" },
    }
  }

  /** The bytes from `from` up to `to`, or to the body's end if that comes first, reading only the blocks that hold them. */
  slice(recipe: Uint8Array, from: number, to: number): BodyReading {
    const { pieces, problem } = collect(this.pieces(recipe, from, to))
    return problem === undefined ? { bytes: Buffer.concat(pieces) } : { problem }
  }

  /**
   * The same in pieces of at most a block, for bodies too large to hold. The pieces are shared with a cache: read them, never
   * write to them. The generator returns the problem that ended it, if one did.
   */
  pieces(recipe: Uint8Array, from = 0, to = Number.MAX_SAFE_INTEGER): Generator<Buffer, BodyProblem | undefined> {
    return new Reading(this.#blocks ?? new BlockMap(this.#catalogue), this.#packs, from, to).pieces(recipe)
  }

  /** Every chunk a recipe needs, its groups included: what a collection of orphans must keep. */
  chunkRuns(recipe: Uint8Array): Generator<ChunkRun, BodyProblem | undefined> {
    return new Reading(new BlockMap(this.#catalogue), this.#packs, 0, 0).runs(recipe)
  }
}

interface BodySources {
  readonly catalogue: Pick<ChunkCatalogue, "blockOf">
  readonly packs: BlockSource
}

export interface ChunkRun {
  readonly first: number
  readonly count: number
}

/** One walk through a recipe, from the body's first byte to `to`, with a count of the bytes that were passed. */
class Reading {
  readonly #blocks: BlockMap
  readonly #packs: BlockSource
  readonly #from: number
  readonly #to: number
  #at = 0

  constructor(blocks: BlockMap, packs: BlockSource, from: number, to: number) {
    this.#blocks = blocks
    this.#packs = packs
    this.#from = Math.max(from, 0)
    this.#to = to
  }

  /** `above` is the level of the group that holds these parts: theirs must be lower, so that no damage makes a circle. */
  *pieces(list: Uint8Array, above = Number.MAX_SAFE_INTEGER): Generator<Buffer, BodyProblem | undefined> {
    const parts = decodeParts(list)
    if (parts === undefined || parts.some((part) => part.level >= above)) return NO_RECIPE
    for (const part of parts) {
      if (this.#at >= this.#to) return undefined
      const problem = part.level === 0 ? yield* this.#runPieces(part) : yield* this.#groupPieces(part)
      if (problem !== undefined) return problem
    }
    return undefined
  }

  *runs(list: Uint8Array, above = Number.MAX_SAFE_INTEGER): Generator<ChunkRun, BodyProblem | undefined> {
    const parts = decodeParts(list)
    if (parts === undefined || parts.some((part) => part.level >= above)) return NO_RECIPE
    for (const part of parts) {
      yield { first: part.first, count: part.count }
      if (part.level === 0) continue
      const inner = this.#open(part.first, part.first + 1)
      if (inner.problem !== undefined) return inner.problem
      const problem = yield* this.runs(inner.bytes, part.level)
      if (problem !== undefined) return problem
    }
    return undefined
  }

  *#groupPieces(group: Part): Generator<Buffer, BodyProblem | undefined> {
    if (this.#at + group.bytes <= this.#from) {
      this.#at += group.bytes
      return undefined
    }
    const inner = this.#open(group.first, group.first + 1)
    return inner.problem ?? (yield* this.pieces(inner.bytes, group.level))
  }

  *#runPieces(run: Part): Generator<Buffer, BodyProblem | undefined> {
    const end = run.first + run.count
    for (let chunk = run.first; chunk < end && this.#at < this.#to; ) {
      const passed = stretchOf(this.#blocks.blockOf(chunk), chunk, end)
      if (passed !== undefined && this.#at + passed.bytes <= this.#from) {
        this.#at += passed.bytes
        chunk = passed.end
        continue
      }
      const { bytes, end: next, problem } = this.#open(chunk, end)
      if (problem !== undefined) return problem
      yield bytes.subarray(Math.max(this.#from - this.#at, 0), Math.min(this.#to - this.#at, bytes.length))
      this.#at += bytes.length
      chunk = next
    }
    return undefined
  }

  /** The bytes of the chunks from `chunk` up to `end`, as far as they lie in one block, and which chunk comes then. */
  #open(chunk: number, end: number): StretchReading {
    const stretch = stretchOf(this.#blocks.blockOf(chunk), chunk, end)
    if (stretch === undefined) return { problem: unknownChunk(chunk) }
    const first = this.#packs.read(stretch.mapped.block)
    if (first.raw !== undefined) return { bytes: bytesOf(stretch, first.raw), end: stretch.end }
    if (first.problem.code !== "pack_missing") return first
    this.#blocks.forget(stretch.mapped.block.pack)
    const moved = stretchOf(this.#blocks.blockOf(chunk), chunk, end)
    if (moved === undefined) return { problem: unknownChunk(chunk) }
    const second = this.#packs.read(moved.mapped.block)
    return second.raw === undefined ? second : { bytes: bytesOf(moved, second.raw), end: moved.end }
  }
}

interface Stretch {
  readonly mapped: MappedBlock
  readonly offset: number
  readonly bytes: number
  /** The chunk behind the last. */
  readonly end: number
}

type StretchReading =
  | { readonly bytes: Buffer; readonly end: number; readonly problem?: never }
  | { readonly bytes?: never; readonly end?: never; readonly problem: BodyProblem }

/** The chunks from `chunk` up to `end` that lie in the block, as far as they are there. */
function stretchOf(mapped: MappedBlock | undefined, chunk: number, end: number): Stretch | undefined {
  if (mapped === undefined) return undefined
  const { firstChunk, lengths } = mapped.block
  const first = chunk - firstChunk
  const stop = Math.min(end - firstChunk, lengths.length)
  let last = first
  while (last < stop && lengths[last]! > 0) last++
  if (last === first) return undefined
  const offset = mapped.offsets[first]!
  return { mapped, offset, bytes: mapped.offsets[last]! - offset, end: firstChunk + last }
}

function bytesOf({ offset, bytes }: Stretch, raw: Buffer): Buffer {
  return raw.subarray(offset, offset + bytes)
}

const NO_RECIPE: BodyProblem = { code: "recipe_damaged", where: "recipe", reason: "these bytes are no list of parts" }

function unknownChunk(chunk: number): BodyProblem {
  return { code: "chunk_unknown", where: `chunk ${chunk}`, reason: "no block holds this chunk" }
}

function collect(source: Generator<Buffer, BodyProblem | undefined>): {
  pieces: Buffer[]
  problem: BodyProblem | undefined
} {
  const pieces: Buffer[] = []
  for (;;) {
    const next = source.next()
    if (next.done) return { pieces, problem: next.value }
    pieces.push(next.value)
  }
}

interface MappedBlock {
  readonly block: Block
  /** Where each chunk begins in the raw block, and behind the last of them where it ends. */
  readonly offsets: readonly number[]
}

/**
 * The blocks met while reading one body, or a batch of them. A long history touches the same few blocks hundreds of times, and asking the
 * catalogue costs a query each. Made for each reading anew, so that it never grows old.
 */
class BlockMap {
  readonly #catalogue: Pick<ChunkCatalogue, "blockOf">
  #known: MappedBlock[] = []

  constructor(catalogue: Pick<ChunkCatalogue, "blockOf">) {
    this.#catalogue = catalogue
  }

  blockOf(chunk: number): MappedBlock | undefined {
    const at = this.#known.findIndex(({ block }) => holds(block, chunk))
    if (at !== -1) return this.#toFront(at)
    const block = this.#catalogue.blockOf(chunk)
    if (block === undefined || !holds(block, chunk)) return undefined
    const mapped = { block, offsets: offsetsOf(block.lengths) }
    this.#known.unshift(mapped)
    return mapped
  }

  /** What was met last is most often met next. */
  #toFront(at: number): MappedBlock {
    const [mapped] = at === 0 ? this.#known : this.#known.splice(at, 1)
    if (at > 0) this.#known.unshift(mapped!)
    return mapped!
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
