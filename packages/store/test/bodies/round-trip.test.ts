import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import { BodyReader } from "../../src/bodies/body-reader.js"
import { BodyWriter } from "../../src/bodies/body-writer.js"
import { PackReader } from "../../src/bodies/pack-reader.js"
import { PackWriter } from "../../src/bodies/pack-writer.js"
import { MemoryCatalogue } from "./memory-catalogue.js"
import { generatedSession } from "./session-corpus.js"

test("[S-01] every body of a session reads back byte for byte", () => {
  const folder = mkdtempSync(join(tmpdir(), "orangebox-bodies-"))
  try {
    const catalogue = new MemoryCatalogue()
    const packs = PackWriter.open({ folder })
    const writer = new BodyWriter({ catalogue, packs })
    const session = generatedSession({ seed: 3, calls: 40, bytesPerCall: 1500, style: "anthropic" })
    const stored = session.map((body) => writer.write(body))
    writer.flush()
    packs.sync()
    const reader = new BodyReader({ catalogue, packs: new PackReader({ folder }) })
    stored.forEach(({ recipe, hash }, index) => {
      expect(reader.read(recipe, hash).bytes?.equals(session[index]!)).toBe(true)
    })
    packs.close()
  } finally {
    rmSync(folder, { recursive: true })
  }
})
