// Commits the batches of a file to a store, each with its number as offset, beginning behind the last committed one.
import { readFileSync } from "node:fs"
import { openStore } from "@orangebox/store"

const [folder, batchFile] = process.argv.slice(2)
const batches = JSON.parse(readFileSync(batchFile, "utf8"))
const { store } = openStore(folder)
const done = (await store.offsets()).get("journal") ?? 0
for (let index = done; index < batches.length; index++) {
  const { events, bodies } = batches[index]
  await store.commit({
    events,
    bodies: bodies.map((body) => ({ ...body, bytes: Buffer.from(body.bytes, "base64") })),
    offsets: [{ file: "journal", offset: index + 1 }],
  })
}
await store.close()
