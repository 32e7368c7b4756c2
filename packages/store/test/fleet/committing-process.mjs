// Commits batches out of a file into a ClickHouse, from the offset that is stored there on. Killed by ORANGEBOX_FAILPOINT, or to its end.
import { readFileSync } from "node:fs"
import { ClickhouseStore } from "../../bundle/index.js"

const [settings, file, nowMs] = process.argv.slice(2)
const batches = JSON.parse(readFileSync(file, "utf8"))
const store = new ClickhouseStore(JSON.parse(settings), { now: () => Number(nowMs) })
const from = (await store.offsets()).get("journal") ?? 0
for (let at = from; at < batches.length; at++) {
  const { events, bodies } = batches[at]
  await store.commit({
    events,
    bodies: bodies.map((body) => ({ ...body, bytes: Buffer.from(body.bytes, "base64") })),
    writers: [{ writerId: "writer-1", records: events.length }],
    offsets: [{ file: "journal", offset: at + 1 }],
  })
}
await store.close()
