import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { onTestFinished } from "vitest"
import { BodyReader } from "../../src/bodies/body-reader.js"
import { BodyWriter } from "../../src/bodies/body-writer.js"
import { PackReader } from "../../src/bodies/pack-reader.js"
import { PackWriter, type PackWriterOptions } from "../../src/bodies/pack-writer.js"
import { MemoryCatalogue } from "./memory-catalogue.js"

/** A body store in a folder of its own, which is removed when the test is over. */
export function openBodyStore(options: Omit<PackWriterOptions, "folder"> & { blockBytes?: number } = {}) {
  const { blockBytes, ...packOptions } = options
  const folder = mkdtempSync(join(tmpdir(), "orangebox-bodies-"))
  const catalogue = new MemoryCatalogue()
  const packs = PackWriter.open({ folder, now: () => 0, ...packOptions })
  const writer = new BodyWriter({ catalogue, packs, ...(blockBytes === undefined ? {} : { blockBytes }) })
  const packReader = new PackReader({ folder })
  const reader = new BodyReader({ catalogue, packs: packReader })
  const commit = () => {
    writer.flush()
    packs.sync()
  }
  const remove = () => {
    packs.close()
    packReader.close()
    rmSync(folder, { recursive: true })
  }
  return { folder, catalogue, packs, writer, packReader, reader, commit, remove }
}

export function openBodyStoreForTest(options: Parameters<typeof openBodyStore>[0] = {}) {
  const store = openBodyStore(options)
  onTestFinished(store.remove)
  return store
}
