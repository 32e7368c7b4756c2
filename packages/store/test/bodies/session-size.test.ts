import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { generatedSession, type Session, trajectorySessions } from "../../../../bench/sessions.mjs"
import type { Block } from "../../src/bodies/chunk-catalogue.js"
import { PackWriter } from "../../src/bodies/pack-writer.js"
import { rewriteBlocks } from "../../src/bodies/rewrite-blocks.js"
import { encodeLengths } from "../../src/bodies/varint.js"
import { openBodyStoreForTest } from "./body-store.js"

/** Measured with dbstat on SQLite tables of these shapes, indexes and half-empty pages included; lengths and recipes come on top. */
const CHUNK_ROW_BYTES = 36
const BLOCK_ROW_BYTES = 41

const hasZstd = spawnSync("zstd", ["--version"]).status === 0
const trajectories = join(import.meta.dirname, "../../../../../shared/corpora/trajectories")

/** Packs, chunk tables and recipes after a session was committed call by call: fresh, and settled. */
async function storedBytes(session: Session): Promise<{ fresh: number; settled: number }> {
  const store = openBodyStoreForTest()
  const recipes = new Map<string, number>()
  session.forEach((body, index) => {
    const { hash, recipe } = store.writer.write(body)
    recipes.set(hash, recipe.length)
    if (index % 4 === 3) store.commit()
  })
  store.commit()
  const recipeBytes = [...recipes.values()].reduce((sum, length) => sum + length, 0)
  const rows = (blocks: readonly Block[]) =>
    blocks.reduce((sum, block) => sum + block.size + encodeLengths(block.lengths).length + BLOCK_ROW_BYTES, 0) +
    store.catalogue.chunks.size * CHUNK_ROW_BYTES +
    recipeBytes
  const to = PackWriter.open({ folder: store.folder })
  const { written } = await rewriteBlocks({ blocks: store.catalogue.blocks, from: store.packReader, to })
  to.close()
  return { fresh: rows(store.catalogue.blocks), settled: rows(written) }
}

function totalBytes(session: Session): number {
  return session.reduce((sum, body) => sum + body.length, 0)
}

function zstdBytes(session: Session): number {
  return spawnSync("zstd", ["-19", "--long=31", "-c", "-q"], { input: Buffer.concat(session), maxBuffer: 2 ** 30 })
    .stdout.length
}

describe("the size of long sessions", () => {
  test("[S-02] twice the calls with the same new text each take about twice the bytes, not four times", async () => {
    const short = await storedBytes(generatedSession({ seed: 9, calls: 60, bytesPerCall: 1300, style: "anthropic" }))
    const long = await storedBytes(generatedSession({ seed: 9, calls: 120, bytesPerCall: 1300, style: "anthropic" }))
    expect(long.settled).toBeLessThan(2.4 * short.settled)
    expect(long.fresh).toBeLessThan(2.4 * short.fresh)
  })

  for (const style of ["anthropic", "openai", "spaced"] as const) {
    test.skipIf(!hasZstd)(
      `[S-02] a session in the ${style} style is within twice zstd -19 --long=31 and 2 % of raw (skipped without zstd)`,
      async () => {
        const session = generatedSession({ seed: 7, calls: 100, bytesPerCall: 1300, style })
        const { fresh, settled } = await storedBytes(session)
        expect(settled).toBeLessThan(2 * zstdBytes(session))
        expect(settled).toBeLessThan(0.02 * totalBytes(session))
        expect(fresh).toBeLessThan(0.03 * totalBytes(session))
      },
    )
  }

  const recorded = trajectorySessions(trajectories).filter(({ session }) => session.length > 300)
  test.skipIf(!hasZstd || recorded.length === 0)(
    "[S-02] so are recorded sessions (skipped without the corpus or zstd)",
    async () => {
      const { session } = recorded[0]!
      const { settled } = await storedBytes(session)
      expect(settled).toBeLessThan(2 * zstdBytes(session))
      expect(settled).toBeLessThan(0.02 * totalBytes(session))
    },
  )
})
