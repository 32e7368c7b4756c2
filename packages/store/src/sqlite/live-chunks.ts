import type { BodyProblem } from "../bodies/body-problem.js"
import { BODY } from "../codes.js"
import type { BodyStorageReader } from "./body-storage.js"
import type { SqliteDatabase } from "./driver.js"

/**
 * For every chunk the highest rank among the bodies that need it; 0 where none does. With rank 1 for all bodies this is the mark phase
 * of a collection; with the age of the run as rank it tells what evicting the oldest runs would free.
 */
export function rankChunks(
  database: SqliteDatabase,
  storage: BodyStorageReader,
  rankOf: (body: number) => number,
): { ranks: Uint32Array; problem: BodyProblem | undefined } {
  const ranks = new Uint32Array(storage.catalogue.nextChunkId())
  const bodies = database.prepare(`SELECT key, recipe FROM body_rows WHERE state = ${BODY.here}`).iterate()
  for (const row of bodies) {
    const rank = rankOf(Number(row["key"]))
    const runs = storage.chunkRuns(row["recipe"] as Uint8Array)
    for (;;) {
      const next = runs.next()
      if (next.done) {
        if (next.value !== undefined) return { ranks, problem: next.value }
        break
      }
      for (let chunk = next.value.first, end = chunk + next.value.count; chunk < end; chunk++) {
        if (ranks[chunk]! < rank) ranks[chunk] = rank
      }
    }
  }
  return { ranks, problem: undefined }
}

/** What all blocks take on disk. */
export function bodyBytesOnDisk(database: SqliteDatabase): number {
  return Number(database.prepare("SELECT coalesce(sum(size), 0) AS size FROM block_rows").get()?.["size"])
}
