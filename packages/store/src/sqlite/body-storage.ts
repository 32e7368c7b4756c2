import type { BodyHash } from "@orangebox/contract"
import type { BodyReading } from "../bodies/body-problem.js"
import { BodyReader } from "../bodies/body-reader.js"
import { BodyWriter, type StoredBody } from "../bodies/body-writer.js"
import type { Block } from "../bodies/chunk-catalogue.js"
import { removeUnnamedPacks } from "../bodies/pack-folder.js"
import { PackReader } from "../bodies/pack-reader.js"
import { PackWriter } from "../bodies/pack-writer.js"
import { rewriteBlocks } from "../bodies/rewrite-blocks.js"
import { failpoint } from "../failpoint.js"
import type { SqliteDatabase } from "./driver.js"
import type { Transact } from "./release.js"
import { SqlChunkCatalogue } from "./sql-chunk-catalogue.js"

/** So much in fresh, quickly compressed blocks is worth compressing well. */
const SETTLE_BYTES = 512 * 1024

/** A pack that is worth rewriting has at least this share of its chunk bytes unused. */
const DEAD_SHARE = 0.25

/** Reads bodies out of packs. What a reading connection needs. */
export class BodyStorageReader {
  readonly catalogue: SqlChunkCatalogue
  readonly packReader: PackReader
  readonly #reader: BodyReader

  constructor(database: SqliteDatabase, folder: string) {
    this.catalogue = new SqlChunkCatalogue(database)
    this.packReader = new PackReader({ folder })
    this.#reader = new BodyReader({ catalogue: this.catalogue, packs: this.packReader })
  }

  read(recipe: Uint8Array, hash: string): BodyReading {
    return this.#reader.read(recipe, hash as BodyHash)
  }

  /** The same for many bodies one after the other. */
  forBatch(): Pick<BodyStorageReader, "read"> {
    const reader = this.#reader.forBatch()
    return { read: (recipe, hash) => reader.read(recipe, hash as BodyHash) }
  }

  slice(recipe: Uint8Array, from: number, to: number): BodyReading {
    return this.#reader.slice(recipe, from, to)
  }

  chunkRuns(recipe: Uint8Array): ReturnType<BodyReader["chunkRuns"]> {
    return this.#reader.chunkRuns(recipe)
  }

  close(): void {
    this.packReader.close()
  }
}

/**
 * Writes bodies into packs in step with the database's transactions: blocks are on disk and synced before the rows that name them
 * commit, and what no row names is swept away when the store is opened.
 */
export class BodyStorage extends BodyStorageReader {
  readonly #folder: string
  readonly #fresh: PackWriter
  readonly #settled: PackWriter
  readonly #writer: BodyWriter
  #hasWritten = false

  constructor(database: SqliteDatabase, folder: string) {
    super(database, folder)
    this.#folder = folder
    this.#fresh = openPacks(folder, this.catalogue, false)
    this.#settled = openPacks(folder, this.catalogue, true)
    removeUnnamedPacks(folder, this.#namedPacks())
    this.#writer = new BodyWriter({ catalogue: this.catalogue, packs: this.#fresh })
  }

  write(bytes: Uint8Array | Iterable<Uint8Array>): StoredBody {
    this.#hasWritten = true
    return bytes instanceof Uint8Array ? this.#writer.write(bytes) : this.#writer.writePieces(bytes)
  }

  /** Before the transaction commits: everything it names is on disk. */
  beforeCommit(): void {
    if (!this.#hasWritten) return
    this.#writer.flush()
    failpoint("bodies:before-sync")
    this.#fresh.sync()
  }

  afterCommit(): void {
    this.#hasWritten = false
  }

  afterRollback(): void {
    if (!this.#hasWritten) return
    this.#hasWritten = false
    this.#writer.discard()
    const end = this.#fresh.end
    this.#fresh.abandon()
    if (end !== undefined) this.packReader.forget(end.pack)
  }

  /** Compresses fresh blocks well and puts them together, once enough has gathered. Between transactions. */
  async settle(inTransaction: Transact, atLeast = SETTLE_BYTES): Promise<void> {
    if (this.catalogue.freshBytes() < atLeast) return
    const blocks = this.catalogue.freshBlocks()
    const old = new Set(blocks.map((block) => block.pack))
    await this.#rewrite(blocks, inTransaction, () => failpoint("bodies:settled"))
    failpoint("bodies:before-unlink")
    this.#fresh.startNewPack()
    this.#sweep(old)
  }

  /**
   * Gives back the disk space of chunks that no recipe needs. First their hashes go, so that nothing new builds on them; then packs
   * with enough of them are rewritten, one at a time; all packs with any, where content must not stay on disk. Killed in between, it
   * starts again from what the rows say.
   */
  async collectDead(isDead: (chunk: number) => boolean, inTransaction: Transact, isThorough: boolean): Promise<void> {
    await inTransaction(() => void this.catalogue.forgetChunks(isDead))
    failpoint("prune:chunks-forgotten")
    await this.settle(inTransaction, 1)
    for (const pack of this.catalogue.packs().keys()) {
      const blocks = this.catalogue.blocksOfPack(pack)
      const share = deadShare(blocks, isDead)
      if (share === 0 || (share < DEAD_SHARE && !isThorough)) continue
      if (this.#settled.end?.pack === pack) this.#settled.startNewPack()
      await this.#rewrite(
        blocks,
        inTransaction,
        () => failpoint("prune:pack-rewritten"),
        (chunk) => !isDead(chunk),
      )
      this.#sweep(new Set([pack]))
    }
  }

  override close(): void {
    super.close()
    this.#fresh.close()
    this.#settled.close()
  }

  /** Puts the chunks of these blocks into settled ones; a block that cannot be read stays where it is. */
  async #rewrite(
    blocks: readonly Block[],
    inTransaction: Transact,
    afterSync: () => void,
    keeps?: (chunk: number) => boolean,
  ): Promise<void> {
    const rewrite = await rewriteBlocks({
      blocks,
      from: this.packReader,
      to: this.#settled,
      ...(keeps === undefined ? {} : { keeps }),
    })
    this.#settled.sync()
    afterSync()
    const lost = new Set(rewrite.unreadable.map(({ block }) => block.firstChunk))
    const readable = blocks.filter((block) => !lost.has(block.firstChunk))
    await inTransaction(() => this.catalogue.replaceBlocks(readable, rewrite.written))
  }

  #sweep(old: ReadonlySet<number>): void {
    for (const pack of removeUnnamedPacks(this.#folder, this.#namedPacks())) {
      if (old.has(pack)) this.packReader.forget(pack)
    }
  }

  #namedPacks(): ReadonlySet<number> {
    const named = new Set(this.catalogue.packs().keys())
    for (const writer of [this.#fresh, this.#settled]) if (writer.end !== undefined) named.add(writer.end.pack)
    return named
  }
}

function openPacks(folder: string, catalogue: SqlChunkCatalogue, isSettled: boolean): PackWriter {
  const resume = catalogue.lastEnd(isSettled)
  try {
    return PackWriter.open(resume === undefined ? { folder } : { folder, resume })
  } catch {
    // The pack is gone or too short. Its bodies answer "lost" when they are read; writing goes on in another.
    return PackWriter.open({ folder })
  }
}

function deadShare(
  blocks: readonly { firstChunk: number; lengths: readonly number[] }[],
  isDead: (chunk: number) => boolean,
): number {
  let bytes = 0
  let dead = 0
  for (const { firstChunk, lengths } of blocks) {
    lengths.forEach((length, index) => {
      bytes += length
      if (isDead(firstChunk + index)) dead += length
    })
  }
  return bytes === 0 ? 1 : dead / bytes
}
