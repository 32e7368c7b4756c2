import type { Block, ChunkCatalogue } from "../bodies/chunk-catalogue.js"
import type { PackEnd } from "../bodies/pack-writer.js"
import { decodeLengths, encodeLengths } from "../bodies/varint.js"
import { type Prepared, prepareAll, type SqliteDatabase, type SqliteRow } from "./driver.js"

const SQL = {
  find: "SELECT chunk FROM chunk_rows WHERE hash = ?",
  addChunk: "INSERT INTO chunk_rows (hash, chunk) VALUES (?, ?) ON CONFLICT DO NOTHING",
  addBlock: "INSERT INTO block_rows (first_chunk, pack, start, size, lengths, is_settled) VALUES (?, ?, ?, ?, ?, ?)",
  blockOf:
    "SELECT first_chunk, pack, start, size, lengths FROM block_rows WHERE first_chunk <= ? ORDER BY first_chunk DESC LIMIT 1",
  nextChunk: "SELECT value FROM meta WHERE name = 'next_chunk'",
  setNextChunk: "INSERT OR REPLACE INTO meta (name, value) VALUES ('next_chunk', ?)",
}

/** Which chunk is where, as rows that commit together with the bodies that use them. */
export class SqlChunkCatalogue implements ChunkCatalogue {
  readonly #database: SqliteDatabase
  readonly #sql: Prepared<typeof SQL>
  #generation = 0

  constructor(database: SqliteDatabase) {
    this.#database = database
    this.#sql = prepareAll(database, SQL)
  }

  get generation(): number {
    return this.#generation
  }

  find(hash: Buffer): number | undefined {
    const row = this.#sql.find.get(hash)
    return row && Number(row["chunk"])
  }

  /** Kept as a number of its own: ids of blocks that were pruned are never handed out again. */
  nextChunkId(): number {
    return Number(this.#sql.nextChunk.get()?.["value"] ?? 1)
  }

  addBlock(block: Block, hashes: readonly (Buffer | undefined)[]): void {
    this.#insert(block, false)
    hashes.forEach((hash, index) => {
      if (hash !== undefined) this.#sql.addChunk.run(hash, block.firstChunk + index)
    })
    this.#sql.setNextChunk.run(block.firstChunk + block.lengths.length)
  }

  blockOf(chunk: number): Block | undefined {
    const row = this.#sql.blockOf.get(chunk)
    return row && toBlock(row)
  }

  /** Puts rewritten blocks in the place of the ones they were made from. */
  replaceBlocks(old: readonly Block[], written: readonly Block[]): void {
    const remove = this.#database.prepare("DELETE FROM block_rows WHERE first_chunk = ?")
    for (const block of old) remove.run(block.firstChunk)
    for (const block of written) this.#insert(block, true)
  }

  freshBlocks(): Block[] {
    return this.#database
      .prepare(
        "SELECT first_chunk, pack, start, size, lengths FROM block_rows WHERE is_settled = 0 ORDER BY first_chunk",
      )
      .all()
      .map(toBlock)
  }

  freshBytes(): number {
    const row = this.#database
      .prepare("SELECT coalesce(sum(size), 0) AS size FROM block_rows WHERE is_settled = 0")
      .get()
    return Number(row?.["size"])
  }

  blocksOfPack(pack: number): Block[] {
    return this.#database
      .prepare("SELECT first_chunk, pack, start, size, lengths FROM block_rows WHERE pack = ? ORDER BY first_chunk")
      .all(pack)
      .map(toBlock)
  }

  /** All packs that rows name, with the bytes their blocks take. */
  packs(): ReadonlyMap<number, number> {
    const rows = this.#database.prepare("SELECT pack, sum(size) AS size FROM block_rows GROUP BY pack").all()
    return new Map(rows.map((row) => [Number(row["pack"]), Number(row["size"])]))
  }

  /** Where the last block of the newest fresh or settled pack ends: the file is good up to there. */
  lastEnd(isSettled: boolean): PackEnd | undefined {
    const row = this.#database
      .prepare(
        "SELECT pack, start + size AS end FROM block_rows WHERE is_settled = ? ORDER BY pack DESC, start DESC LIMIT 1",
      )
      .get(isSettled ? 1 : 0)
    return row && { pack: Number(row["pack"]), end: Number(row["end"]) }
  }

  /** After this no new body builds on these chunks. */
  forgetChunks(isDead: (chunk: number) => boolean): number {
    const remove = this.#database.prepare("DELETE FROM chunk_rows WHERE hash = ?")
    const dead: Uint8Array[] = []
    for (const row of this.#database.prepare("SELECT hash, chunk FROM chunk_rows").iterate()) {
      if (isDead(Number(row["chunk"]))) dead.push(row["hash"] as Uint8Array)
    }
    for (const hash of dead) remove.run(hash)
    this.#generation++
    return dead.length
  }

  #insert(block: Block, isSettled: boolean): void {
    const { firstChunk, pack, start, size, lengths } = block
    this.#sql.addBlock.run(firstChunk, pack, start, size, encodeLengths(lengths), isSettled ? 1 : 0)
  }
}

function toBlock(row: SqliteRow): Block {
  return {
    firstChunk: Number(row["first_chunk"]),
    pack: Number(row["pack"]),
    start: Number(row["start"]),
    size: Number(row["size"]),
    lengths: decodeLengths(row["lengths"] as Uint8Array),
  }
}
