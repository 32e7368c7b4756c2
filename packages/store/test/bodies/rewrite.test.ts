import { readFileSync, rmSync, writeFileSync } from "node:fs"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { generatedSession } from "../../../../bench/sessions.mjs"
import type { Block } from "../../src/bodies/chunk-catalogue.js"
import { packPath } from "../../src/bodies/pack-folder.js"
import { PackWriter } from "../../src/bodies/pack-writer.js"
import { rewriteBlocks } from "../../src/bodies/rewrite-blocks.js"
import { bodyOfPieces, noise } from "./any-body.js"
import { openBodyStore, openBodyStoreForTest } from "./body-store.js"

type Store = ReturnType<typeof openBodyStore>

/** What a store does: rewrites the blocks, replaces their rows, deletes the packs. */
async function rewrite(
  store: Store,
  options: { keeps?: (chunk: number) => boolean; blockBytes?: number; blocks?: Block[] },
) {
  const { blocks = store.catalogue.blocks, ...rest } = options
  const to = PackWriter.open({ folder: store.folder })
  const answer = await rewriteBlocks({ blocks, from: store.packReader, to, quality: 5, ...rest })
  to.sync()
  to.close()
  const gone = new Set(blocks.filter((block) => !answer.unreadable.some((other) => other.block === block)))
  store.catalogue.blocks = [...store.catalogue.blocks.filter((block) => !gone.has(block)), ...answer.written].sort(
    (one, other) => one.firstChunk - other.firstChunk,
  )
  return answer
}

function liveChunks(store: Store, recipes: readonly Buffer[]): Set<number> {
  const live = new Set<number>()
  for (const recipe of recipes) {
    for (const { first, count } of store.reader.chunkRuns(recipe)) {
      for (let chunk = first; chunk < first + count; chunk++) live.add(chunk)
    }
  }
  return live
}

describe("rewriting packs", () => {
  test("[S-03] any bodies that are kept stay byte for byte the same, the others' chunks are gone, once and again", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(bodyOfPieces, { minLength: 1, maxLength: 12 }), fc.nat(), async (bodies, choice) => {
        const store = openBodyStore({ blockBytes: 10_000, packBytes: 40_000 })
        try {
          let stored = bodies.map((body) => ({ body, ...store.writer.write(body) }))
          store.commit()
          for (const round of [0, 1]) {
            const kept = stored.filter((_, index) => ((choice >> (index + round)) & 1) === 1)
            const live = liveChunks(
              store,
              kept.map(({ recipe }) => recipe),
            )
            await rewrite(store, { keeps: (chunk) => live.has(chunk), blockBytes: 25_000 })
            const bytes = store.catalogue.blocks
              .flatMap(({ lengths }) => lengths)
              .reduce((sum, length) => sum + length, 0)
            expect(bytes).toBeLessThanOrEqual(
              kept.reduce((sum, { body, recipe }) => sum + body.length + recipe.length * 40, 0),
            )
            for (const { recipe, hash, body } of kept)
              expect(store.reader.read(recipe, hash).bytes?.equals(body)).toBe(true)
            stored = kept
          }
        } finally {
          store.remove()
        }
      }),
      { numRuns: 40 },
    )
  })

  test("[S-02] settling joins the small blocks of many commits and makes them much smaller", async () => {
    const store = openBodyStoreForTest()
    const bodies = generatedSession({ seed: 4, calls: 60, bytesPerCall: 1500, style: "anthropic" })
    const stored = bodies.map((body) => {
      const answer = store.writer.write(body)
      store.commit()
      return answer
    })
    const size = () => store.catalogue.blocks.reduce((sum, block) => sum + block.size, 0)
    const before = size()
    await rewrite(store, {})
    expect(store.catalogue.blocks).toHaveLength(1)
    expect(size()).toBeLessThan(before / 2)
    rmSync(packPath(store.folder, 1))
    store.packReader.forget(1)
    stored.forEach(({ recipe, hash }, index) => {
      expect(store.reader.read(recipe, hash).bytes?.equals(bodies[index]!)).toBe(true)
    })
  })

  test("a reader that knew the old place finds the new one when the old pack is gone", async () => {
    const store = openBodyStoreForTest()
    const body = noise(1, 50_000)
    const stored = store.writer.write(body)
    store.commit()
    const old = store.catalogue.blocks
    await rewrite(store, {})
    const moved = store.catalogue.blocks
    rmSync(packPath(store.folder, 1))
    store.packReader.forget(1)
    let asked = 0
    store.catalogue.blockOf = () => (asked++ === 0 ? old[0] : moved[0])
    expect(store.reader.read(stored.recipe, stored.hash).bytes?.equals(body)).toBe(true)
    expect(asked).toBe(2)
  })

  test("a block that cannot be read is left where it is and reported", async () => {
    const { store, stored } = threeBlocks()
    const damaged = store.catalogue.blocks[1]!
    const bytes = readFileSync(packPath(store.folder, 1))
    bytes[damaged.start + 50]! ^= 1
    writeFileSync(packPath(store.folder, 1), bytes)
    const { unreadable } = await rewrite(store, {})
    expect(unreadable).toMatchObject([{ block: damaged, problem: { code: "block_damaged" } }])
    expect(store.catalogue.blocks).toContain(damaged)
    expect(stored.map(({ recipe, hash }) => store.reader.read(recipe, hash).problem?.code)).toEqual([
      undefined,
      "block_damaged",
      undefined,
    ])
  })

  test("blocks with others between them are not joined across those", async () => {
    const { store, bodies, stored } = threeBlocks()
    const [first, , third] = store.catalogue.blocks
    await rewrite(store, { blocks: [first!, third!] })
    expect(store.catalogue.blocks).toHaveLength(3)
    stored.forEach(({ recipe, hash }, index) => {
      expect(store.reader.read(recipe, hash).bytes?.equals(bodies[index]!)).toBe(true)
    })
  })
})

/** A store of three bodies, each in a block of its own. */
function threeBlocks() {
  const store = openBodyStoreForTest()
  const bodies = [1, 2, 3].map((seed) => noise(seed, 9000))
  const stored = bodies.map((body) => {
    const answer = store.writer.write(body)
    store.commit()
    return answer
  })
  return { store, bodies, stored }
}
