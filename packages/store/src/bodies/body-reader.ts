import { type BodyHash, incrementalBodyHash } from "@orangebox/contract"
import type { BodyProblem, BodyReading } from "./body-problem.js"
import type { Block, ChunkCatalogue } from "./chunk-catalogue.js"
import type { PackReader } from "./pack-reader.js"
import { decodeParts, type Part } from "./recipe.js"

/** Makes bodies from recipes. Blocks are checked by their checksum on every read, whole bodies by their hash as well. */
export class BodyReader {
  readonly #catalogue: Pick<ChunkCatalogue, "blockOf">
  readonly #packs: PackReader

  constructor({ catalogue, packs }: { catalogue: Pick<ChunkCatalogue, "blockOf">; packs: PackReader }) {
    this.#catalogue = catalogue
    this.#packs = packs
  }

  /** The whole body, byte for byte what was stored, or the problem; never other bytes. */
  read(recipe: Uint8Array, hash: BodyHash): BodyReading {
    const running = incrementalBodyHash()
    const { pieces, problem } = collect(this.pieces(recipe))
    if (problem !== undefined) return { problem }
    for (const piece of pieces) running.update(piece)
    if (running.digest() !== hash) {
      return {
        problem: { code: "hash_mismatch", where: hash, reason: "the stored chunks do not make the body of this hash" },
      }
    }
    return { bytes: Buffer.concat(pieces) }
  }

  /** The bytes from `from` up to `to`, ends cut to the body's, reading only the blocks that hold them. */
  slice(recipe: Uint8Array, from: number, to: number): BodyReading {
    const { pieces, problem } = collect(this.pieces(recipe, from, to))
    return problem === undefined ? { bytes: Buffer.concat(pieces) } : { problem }
  }

  /** The same in pieces of at most a block, for bodies too large to hold. The generator returns the problem that ended it, if one did. */
  *pieces(recipe: Uint8Array, from = 0, to = Number.MAX_SAFE_INTEGER): Generator<Buffer, BodyProblem | undefined> {
    const parts = decodeParts(recipe)
    if (parts === undefined) return { code: "recipe_damaged", where: "recipe", reason: "these bytes are no recipe" }
    const span = { at: 0, from, to }
    return yield* this.#piecesOf(parts, span)
  }

  /** Every chunk a recipe needs, its groups included: what a collection of orphans must keep. */
  *chunkRuns(recipe: Uint8Array): Generator<{ first: number; count: number }, BodyProblem | undefined> {
    const parts = decodeParts(recipe)
    if (parts === undefined) return { code: "recipe_damaged", where: "recipe", reason: "these bytes are no recipe" }
    for (const part of parts) {
      yield { first: part.first, count: part.count }
      if (part.level === 0) continue
      const inner = this.#chunk(part.first)
      if (inner.problem !== undefined) return inner.problem
      const problem = yield* this.chunkRuns(inner.bytes)
      if (problem !== undefined) return problem
    }
    return undefined
  }

  *#piecesOf(
    parts: readonly Part[],
    span: Span,
    level = Number.MAX_SAFE_INTEGER,
  ): Generator<Buffer, BodyProblem | undefined> {
    for (const part of parts) {
      if (span.at >= span.to) return undefined
      if (part.level >= level)
        return { code: "recipe_damaged", where: `chunk ${part.first}`, reason: "a group holds one of its own level" }
      const problem = part.level === 0 ? yield* this.#runPieces(part, span) : yield* this.#groupPieces(part, span)
      if (problem !== undefined) return problem
    }
    return undefined
  }

  *#groupPieces(group: Part, span: Span): Generator<Buffer, BodyProblem | undefined> {
    if (span.at + group.bytes <= span.from) {
      span.at += group.bytes
      return undefined
    }
    const inner = this.#chunk(group.first)
    if (inner.problem !== undefined) return inner.problem
    const parts = decodeParts(inner.bytes)
    if (parts === undefined)
      return { code: "recipe_damaged", where: `chunk ${group.first}`, reason: "the chunk holds no parts" }
    return yield* this.#piecesOf(parts, span, group.level)
  }

  *#runPieces(run: Part, span: Span): Generator<Buffer, BodyProblem | undefined> {
    const end = run.first + run.count
    for (let chunk = run.first; chunk < end && span.at < span.to; ) {
      const stretch = this.#stretch(chunk, end)
      if (stretch === undefined) return unknownChunk(chunk)
      if (span.at + stretch.bytes <= span.from) {
        span.at += stretch.bytes
        chunk = stretch.end
        continue
      }
      const reading = this.#open(stretch, end)
      if (reading.problem !== undefined) return reading.problem
      const { bytes } = reading
      yield bytes.subarray(Math.max(span.from - span.at, 0), Math.min(span.to - span.at, bytes.length))
      span.at += bytes.length
      chunk = reading.end
    }
    return undefined
  }

  #chunk(chunk: number): BodyReading {
    const stretch = this.#stretch(chunk, chunk + 1)
    return stretch === undefined ? { problem: unknownChunk(chunk) } : this.#open(stretch, chunk + 1)
  }

  /** The chunks from `chunk` up to `end` that lie in the block of the first. */
  #stretch(chunk: number, end: number): Stretch | undefined {
    const block = this.#catalogue.blockOf(chunk)
    if (block === undefined) return undefined
    const index = chunk - block.firstChunk
    let offset = 0
    for (let at = 0; at < index; at++) offset += block.lengths[at] ?? 0
    let bytes = 0
    let at = index
    for (const stop = Math.min(block.lengths.length, end - block.firstChunk); at < stop; at++) {
      const length = block.lengths[at]!
      if (length === 0) break
      bytes += length
    }
    return at === index ? undefined : { block, offset, bytes, chunk, end: block.firstChunk + at }
  }

  #open(stretch: Stretch, end: number): StretchReading {
    const reading = this.#packs.read(stretch.block)
    if (reading.problem === undefined) return { bytes: bytesOf(stretch, reading.raw), end: stretch.end }
    // A rewrite may have moved the block since its row was read; asked again, the catalogue knows the new place.
    const moved = reading.problem.code === "pack_missing" ? this.#stretch(stretch.chunk, end) : undefined
    const again = moved && this.#packs.read(moved.block)
    if (moved === undefined || again?.raw === undefined) return { problem: again?.problem ?? reading.problem }
    return { bytes: bytesOf(moved, again.raw), end: moved.end }
  }
}

interface Span {
  /** How many bytes of the body have been passed. */
  at: number
  readonly from: number
  readonly to: number
}

interface Stretch {
  readonly block: Block
  readonly chunk: number
  readonly end: number
  readonly offset: number
  readonly bytes: number
}

type StretchReading =
  | { readonly bytes: Buffer; readonly end: number; readonly problem?: never }
  | { readonly bytes?: never; readonly problem: BodyProblem }

function bytesOf({ offset, bytes }: Stretch, raw: Buffer): Buffer {
  return raw.subarray(offset, offset + bytes)
}

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
