import { readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs"
import { describe, expect, test } from "vitest"
import { BodyReader } from "../../src/bodies/body-reader.js"
import { listPacks, packPath, removeUnnamedPacks } from "../../src/bodies/pack-folder.js"
import { PackReader } from "../../src/bodies/pack-reader.js"
import { PackWriter } from "../../src/bodies/pack-writer.js"
import { noise } from "./any-body.js"
import { openBodyStoreForTest } from "./body-store.js"
import { MemoryCatalogue } from "./memory-catalogue.js"

describe("damage", () => {
  test("[S-01] every bit of a pack flipped in turn is noticed by a whole read and by a slice, or does not matter", () => {
    const store = openBodyStoreForTest({ blockBytes: 700 })
    const bodies = [Buffer.from("a small body"), Buffer.from("some text, ".repeat(100)), noise(1, 600)]
    const stored = bodies.map((body) => store.writer.write(body))
    store.commit()
    const path = packPath(store.folder, 1)
    const whole = readFileSync(path)
    expect(store.catalogue.blocks.length).toBeGreaterThan(1)
    for (let bit = 0; bit < whole.length * 8; bit++) {
      const damaged = Buffer.from(whole)
      damaged[bit >> 3]! ^= 1 << (bit & 7)
      writeFileSync(path, damaged)
      const packs = new PackReader({ folder: store.folder })
      const reader = new BodyReader({ catalogue: store.catalogue, packs })
      const readings = stored.map(({ recipe, hash }) => reader.read(recipe, hash))
      const slices = stored.map(({ recipe }) => reader.slice(recipe, 2, 9))
      packs.close()
      readings.forEach((reading, index) => {
        if (reading.problem === undefined) expect(reading.bytes.equals(bodies[index]!)).toBe(true)
      })
      slices.forEach((slice, index) => {
        if (slice.problem === undefined) expect(slice.bytes.equals(bodies[index]!.subarray(2, 9))).toBe(true)
      })
      expect(readings.some((reading) => reading.problem !== undefined)).toBe(true)
    }
  })

  test("a damaged block spoils the bodies that need it and no others", () => {
    const store = openBodyStoreForTest()
    const bodies = [noise(1, 5000), noise(2, 5000)]
    const stored = bodies.map((body) => {
      const answer = store.writer.write(body)
      store.commit()
      return answer
    })
    const path = packPath(store.folder, 1)
    const bytes = readFileSync(path)
    bytes[store.catalogue.blocks[0]!.start + 100]! ^= 1
    writeFileSync(path, bytes)
    expect(store.reader.read(stored[0]!.recipe, stored[0]!.hash).problem).toMatchObject({ code: "block_damaged" })
    expect(store.reader.read(stored[1]!.recipe, stored[1]!.hash).bytes?.equals(bodies[1]!)).toBe(true)
  })

  test("a pack that is missing or cut short is a problem that names the file", () => {
    const store = openBodyStoreForTest()
    const stored = store.writer.write(noise(1, 5000))
    store.commit()
    const path = packPath(store.folder, 1)
    truncateSync(path, statSync(path).size - 1)
    expect(store.reader.read(stored.recipe, stored.hash).problem).toMatchObject({ code: "block_damaged" })
    rmSync(path)
    store.packReader.forget(1)
    expect(store.reader.read(stored.recipe, stored.hash).problem).toMatchObject({ code: "pack_missing", where: path })
    writeFileSync(path, "")
    expect(store.reader.read(stored.recipe, stored.hash).problem).toMatchObject({
      code: "pack_unreadable",
      where: path,
    })
  })

  test("a recipe whose chunks are not in the catalogue is a problem", () => {
    const store = openBodyStoreForTest()
    const stored = store.writer.write(noise(1, 5000))
    store.commit()
    const reader = new BodyReader({ catalogue: new MemoryCatalogue(), packs: store.packReader })
    expect(reader.read(stored.recipe, stored.hash).problem).toMatchObject({ code: "chunk_unknown" })
  })
})

describe("going on after a stop", () => {
  test("what was written beyond the last named block is cut off, and the pack goes on from there", () => {
    const store = openBodyStoreForTest()
    const kept = store.writer.write(noise(1, 5000))
    store.commit()
    const end = store.packs.end!
    store.packs.append(noise(2, 333))
    store.packs.close()
    const packs = PackWriter.open({ folder: store.folder, resume: end })
    expect(statSync(packPath(store.folder, end.pack)).size).toBe(end.end)
    expect(packs.append(Buffer.from("next"))).toEqual({ pack: end.pack, start: end.end, size: 4 })
    packs.close()
    expect(store.reader.read(kept.recipe, kept.hash).bytes?.equals(noise(1, 5000))).toBe(true)
  })

  test("a pack that is shorter than the rows say is not written to", () => {
    const store = openBodyStoreForTest()
    store.writer.write(noise(1, 5000))
    store.commit()
    const { pack, end } = store.packs.end!
    expect(() => PackWriter.open({ folder: store.folder, resume: { pack, end: end + 1 } })).toThrow(/PACK|bytes/)
  })

  test("a deleted pack's id is not given to another, so that a reader's cache cannot mistake one for the other", () => {
    const store = openBodyStoreForTest({ now: Date.now })
    store.packs.append(Buffer.from("one"))
    const { pack } = store.packs.end!
    store.packs.close()
    rmSync(packPath(store.folder, pack))
    while (Date.now() === pack);
    store.packs.append(Buffer.from("two"))
    expect(store.packs.end!.pack).toBeGreaterThan(pack)
  })

  test("packs are for their owner's eyes, and those no row names can be swept", () => {
    const store = openBodyStoreForTest({ packBytes: 1000 })
    for (let seed = 1; seed <= 3; seed++) {
      store.writer.write(noise(seed, 5000))
      store.commit()
    }
    expect(listPacks(store.folder)).toEqual([1, 2, 3])
    expect(statSync(packPath(store.folder, 1)).mode & 0o777).toBe(0o600)
    expect(removeUnnamedPacks(store.folder, new Set([2, 3]))).toEqual([1])
    expect(listPacks(store.folder)).toEqual([2, 3])
  })
})
