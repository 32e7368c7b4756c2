// Stores bodies for ever, committing after each few, and says on stdout what is committed: what a database would know.

import { writeSync } from "node:fs"
import { BodyWriter } from "../../../dist/bodies/body-writer.js"
import { PackWriter } from "../../../dist/bodies/pack-writer.js"

const [folder, resume] = process.argv.slice(2)
const { end, nextChunk } = JSON.parse(resume)
const ids = new Map()
let added = []
let next = nextChunk
const catalogue = {
  generation: 0,
  find: (hash) => ids.get(hash.toString("hex")),
  nextChunkId: () => next,
  addBlock(block, hashes) {
    added.push(block)
    next = block.firstChunk + block.lengths.length
    for (const [index, hash] of hashes.entries()) if (hash) ids.set(hash.toString("hex"), block.firstChunk + index)
  },
  blockOf: () => undefined,
}
const packs = PackWriter.open({ folder, packBytes: 300_000, ...(end === null ? {} : { resume: end }) })
const writer = new BodyWriter({ catalogue, packs, blockBytes: 60_000 })

for (let turn = 0; ; turn++) {
  const bodies = [1, 2, 3].map((part) => {
    const body = Buffer.from(`${process.pid} ${turn} ${part} `.repeat(2000 * part))
    return {
      recipe: writer.write(body).recipe.toString("hex"),
      text: `${process.pid} ${turn} ${part} `,
      times: 2000 * part,
    }
  })
  writer.flush()
  packs.sync()
  writeSync(1, `${JSON.stringify({ blocks: added, bodies, end: packs.end })}\n`)
  added = []
}
