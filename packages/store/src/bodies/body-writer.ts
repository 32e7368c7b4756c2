import { type BodyHash, bodyHash, incrementalBodyHash } from "@orangebox/contract"
import type { ChunkWriter } from "./chunk-writer.js"
import { CUT_WINDOW_BYTES, nextCut } from "./cut-chunks.js"
import { foldParts, type MeasuredPart } from "./fold-parts.js"
import { encodeParts } from "./recipe.js"

export interface StoredBody {
  readonly hash: BodyHash
  readonly bytes: number
  /** What a row keeps of the body: `BodyReader` makes the bytes from it. Around a hundred bytes, never near 64 KiB. */
  readonly recipe: Buffer
}

/** A body below this is one chunk that is found by the body's own hash, so the chunk needs no hash row. */
const SMALL_BODY_BYTES = 1024

/** How much of a body that comes in pieces is held at a time: several decisions' worth, so that little is moved in between. */
const WINDOW_BYTES = 8 * CUT_WINDOW_BYTES

/**
 * Stores a body that is in memory. The hash in the answer is of the bytes that were given, for the caller to compare with the
 * one on record. A body whose hash has a recipe already need not come here.
 */
export function writeBody(bytes: Uint8Array, chunks: ChunkWriter): StoredBody {
  const list = new PartList(chunks)
  list.addRest(bytes, bytes.length)
  return { hash: bodyHash(bytes), bytes: bytes.length, recipe: list.recipe() }
}

/** Stores a body that comes in pieces, holding a window of it only. Where the pieces end leaves no trace in the recipe. */
export function writeBodyPieces(pieces: Iterable<Uint8Array>, chunks: ChunkWriter): StoredBody {
  const list = new PartList(chunks)
  const running = incrementalBodyHash()
  const window = Buffer.allocUnsafe(WINDOW_BYTES)
  let filled = 0
  let bytes = 0
  for (const piece of pieces) {
    running.update(piece)
    bytes += piece.length
    for (let taken = 0; taken < piece.length; ) {
      const count = Math.min(piece.length - taken, WINDOW_BYTES - filled)
      window.set(piece.subarray(taken, taken + count), filled)
      taken += count
      filled += count
      if (filled < WINDOW_BYTES) continue
      const cut = list.addDecided(window, filled)
      window.copyWithin(0, cut, filled)
      filled -= cut
    }
  }
  list.addRest(window, filled)
  return { hash: running.digest(), bytes, recipe: list.recipe() }
}

/** The chunks of one body as they are cut, neighbours with consecutive ids joined into runs. */
class PartList {
  readonly #chunks: ChunkWriter
  readonly #parts: MeasuredPart[] = []

  constructor(chunks: ChunkWriter) {
    this.#chunks = chunks
  }

  /** Takes the chunks whose ends cannot change whatever comes behind; answers where the last of them ends. */
  addDecided(window: Uint8Array, filled: number): number {
    let start = 0
    while (filled - start >= CUT_WINDOW_BYTES) start = this.#addChunk(window, start, filled)
    return start
  }

  /** Takes everything that is left, up to the end of the body. */
  addRest(bytes: Uint8Array, filled: number): void {
    if (this.#parts.length === 0 && filled > 0 && filled < SMALL_BODY_BYTES) {
      this.#append(this.#chunks.putAlone(bytes.subarray(0, filled)), filled)
      return
    }
    for (let start = 0; start < filled; ) start = this.#addChunk(bytes, start, filled)
  }

  recipe(): Buffer {
    return encodeParts(foldParts(this.#parts, this.#chunks))
  }

  #addChunk(bytes: Uint8Array, start: number, filled: number): number {
    const end = nextCut(bytes, start, filled)
    this.#append(this.#chunks.putShared(bytes.subarray(start, end)), end - start)
    return end
  }

  #append(id: number, bytes: number): void {
    const last = this.#parts.at(-1)
    if (last !== undefined && last.first + last.count === id && last.count < MAX_RUN_CHUNKS) {
      last.count++
      last.bytes += bytes
    } else {
      this.#parts.push({ level: 0, first: id, count: 1, bytes })
    }
  }
}

/** Longer runs are cut, so that a slice of a huge body looks at the lengths of a bounded number of chunks only. */
const MAX_RUN_CHUNKS = 1024
