/**
 * Stores bodies. Within the caller's transaction, for each batch:
 *
 *     const { hash, bytes, recipe } = writer.write(body)     // and a row for it, unless the hash has one
 *     writer.flush()                                         // the batch's last block and its rows
 *     packs.sync()                                           // durable before anything names it
 *     …COMMIT, or else ROLLBACK, writer.discard() and packs.abandon()
 */
import { type BodyHash, bodyHash, incrementalBodyHash } from "@orangebox/contract"
import type { ChunkCatalogue } from "./chunk-catalogue.js"
import { ChunkWriter, type ChunkWriterOptions } from "./chunk-writer.js"
import { CUT_WINDOW_BYTES, nextCut } from "./cut-chunks.js"
import { foldParts } from "./fold-parts.js"
import { RecentBodies } from "./recent-bodies.js"
import { encodeParts, type Part } from "./recipe.js"

export interface StoredBody {
  /** Of the bytes that were given, for the caller to compare with the one on record. */
  readonly hash: BodyHash
  readonly bytes: number
  /** What a row keeps of the body: `BodyReader` makes the bytes from it. Some tens of bytes, never near 64 KiB. */
  readonly recipe: Buffer
}

/** A body below this is one chunk that is found by the body's own hash, so the chunk needs no hash row. */
const SMALL_BODY_BYTES = 1024

/** Longer runs are cut, so that a slice of a huge body looks at the lengths of a bounded number of chunks only. */
const MAX_RUN_CHUNKS = 1024

/** How much of a body that comes in pieces is held at a time: several decisions' worth, so that little is moved in between. */
const WINDOW_BYTES = 8 * CUT_WINDOW_BYTES

export class BodyWriter {
  readonly #catalogue: ChunkCatalogue
  readonly #chunks: ChunkWriter
  readonly #recent = new RecentBodies()
  #generation: number

  constructor(options: ChunkWriterOptions) {
    this.#catalogue = options.catalogue
    this.#chunks = new ChunkWriter(options)
    this.#generation = options.catalogue.generation
  }

  /** Stores a body that is in memory. One whose hash has a recipe already need not come here. */
  write(body: Uint8Array): StoredBody {
    const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
    const hash = bodyHash(bytes)
    if (bytes.length > 0 && bytes.length < SMALL_BODY_BYTES) {
      const part = { level: 0, first: this.#chunks.putAlone(bytes), count: 1, bytes: bytes.length }
      return { hash, bytes: bytes.length, recipe: encodeParts([part]) }
    }
    const { ends, ids } = this.#cut(bytes)
    return { hash, bytes: bytes.length, recipe: this.#recipe(ends, ids) }
  }

  /** Stores a body that comes in pieces, holding a window of it only. The recipe is the one `write` would have given. */
  writePieces(pieces: Iterable<Uint8Array>): StoredBody {
    const running = incrementalBodyHash()
    const window = Buffer.allocUnsafe(WINDOW_BYTES)
    const ends: number[] = []
    const ids: number[] = []
    let passed = 0
    let filled = 0
    const put = (reserve: number) => {
      let start = 0
      while (filled - start > reserve) {
        const end = nextCut(window, start, filled)
        ids.push(this.#chunks.putShared(window.subarray(start, end)))
        ends.push(passed + end)
        start = end
      }
      window.copyWithin(0, start, filled)
      passed += start
      filled -= start
    }
    for (const piece of pieces) {
      running.update(piece)
      for (let taken = 0; taken < piece.length; ) {
        const count = Math.min(piece.length - taken, WINDOW_BYTES - filled)
        window.set(piece.subarray(taken, taken + count), filled)
        taken += count
        filled += count
        if (filled === WINDOW_BYTES) put(CUT_WINDOW_BYTES)
      }
    }
    if (passed === 0 && filled < WINDOW_BYTES) return this.write(window.subarray(0, filled))
    put(0)
    return { hash: running.digest(), bytes: passed, recipe: this.#recipe(ends, ids) }
  }

  /** Writes the chunks that wait for their block to fill, and their rows. */
  flush(): void {
    this.#chunks.flush()
  }

  /** Forgets everything since the last commit, when the transaction is rolled back. */
  discard(): void {
    this.#chunks.discard()
    this.#recent.forget()
  }

  #cut(bytes: Buffer): { ends: number[]; ids: number[] } {
    if (this.#generation !== this.#catalogue.generation) this.#recent.forget()
    this.#generation = this.#catalogue.generation
    const match = this.#recent.match(bytes)
    const ends = match?.body.ends.slice(0, match.chunks) ?? []
    const ids = match?.body.ids.slice(0, match.chunks) ?? []
    for (let start = ends.at(-1) ?? 0; start < bytes.length; ) {
      const end = nextCut(bytes, start, bytes.length)
      ids.push(this.#chunks.putShared(bytes.subarray(start, end)))
      ends.push(end)
      start = end
    }
    this.#recent.remember({ bytes, ends, ids }, match)
    return { ends, ids }
  }

  #recipe(ends: readonly number[], ids: readonly number[]): Buffer {
    return encodeParts(foldParts(runsOf(ends, ids), this.#chunks))
  }
}

/** Chunks with consecutive ids, joined. */
function runsOf(ends: readonly number[], ids: readonly number[]): Part[] {
  const runs: { -readonly [Key in keyof Part]: Part[Key] }[] = []
  ids.forEach((id, index) => {
    const bytes = ends[index]! - (ends[index - 1] ?? 0)
    const last = runs.at(-1)
    if (last !== undefined && last.first + last.count === id && last.count < MAX_RUN_CHUNKS) {
      last.count++
      last.bytes += bytes
    } else {
      runs.push({ level: 0, first: id, count: 1, bytes })
    }
  })
  return runs
}
