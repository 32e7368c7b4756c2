// Stores a large body that is never whole in memory, reads it back in pieces, and says how much memory that took.
import { createHash } from "node:crypto"
import { BodyReader } from "../../../dist/bodies/body-reader.js"
import { BodyWriter } from "../../../dist/bodies/body-writer.js"
import { PackReader } from "../../../dist/bodies/pack-reader.js"
import { PackWriter } from "../../../dist/bodies/pack-writer.js"

const [folder, megabytes] = process.argv.slice(2)
const ids = new Map()
const blocks = []
const catalogue = {
  generation: 0,
  find: (hash) => ids.get(hash.toString("latin1")),
  nextChunkId: () => (blocks.length === 0 ? 1 : blocks.at(-1).firstChunk + blocks.at(-1).lengths.length),
  addBlock(block, hashes) {
    blocks.push(block)
    for (const [index, hash] of hashes.entries()) if (hash) ids.set(hash.toString("latin1"), block.firstChunk + index)
  },
  blockOf: (chunk) => blocks.findLast((block) => block.firstChunk <= chunk),
}

function* pieces() {
  let state = 1
  for (let megabyte = 0; megabyte < Number(megabytes); megabyte++) {
    const piece = Buffer.allocUnsafe(1024 * 1024)
    for (let at = 0; at < piece.length; at += 4) {
      state = (Math.imul(state, 1664525) + 1013904223) | 0
      piece.writeInt32LE(state & 0x1f1f1f1f, at)
    }
    yield piece
  }
}

const before = process.memoryUsage().rss
const packs = PackWriter.open({ folder })
const writer = new BodyWriter({ catalogue, packs, quality: 1 })
const stored = writer.writePieces(pieces())
writer.flush()
packs.sync()
const hash = createHash("sha256")
const reader = new BodyReader({ catalogue, packs: new PackReader({ folder }) })
for (const piece of reader.pieces(stored.recipe)) hash.update(piece)
console.log(
  JSON.stringify({
    isWhole: `sha256:${hash.digest("hex")}` === stored.hash,
    bytes: stored.bytes,
    recipeBytes: stored.recipe.length,
    grownMegabytes: process.resourceUsage().maxRSS / 1024 - before / 1024 / 1024,
  }),
)
