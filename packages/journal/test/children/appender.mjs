// Appends as fast as it can and says so, record by record, until it is killed: node appender.mjs <folder> <workload>
import { createHash } from "node:crypto"
import { writeSync } from "node:fs"
import { openJournal } from "@orangebox/journal"

const [folder, workload] = process.argv.slice(2)
const journal = openJournal({
  folder,
  appId: "appender",
  recorderVersion: "0",
  ...(workload === "rotating" ? { maxFileBytes: 16 * 1024 } : {}),
})
const ack = Buffer.alloc(4)

/** After the call returned, never before. */
function acknowledge(seq) {
  ack.writeUInt32LE(seq)
  writeSync(1, ack)
}

const event = (i, extra) => ({ json: JSON.stringify({ i, ...extra }), runId: "run_x", sequenceNo: i, bodies: [] })

const workloads = {
  small: (i) => journal.append(event(i, { filler: "x".repeat((i * 37) % 900) })).written,
  rotating: (i) => journal.append(event(i, { filler: "x".repeat((i * 37) % 900) })).written,
  long: (i) => journal.append(event(i, { filler: "y".repeat(4 * 1024 * 1024) })).written,
  bodies: (i) => {
    const bytes = Buffer.alloc(16 * 1024 * 1024, `body ${i} `)
    const hash = `sha256:${createHash("sha256").update(bytes).digest("hex")}`
    return journal.append({ ...event(i), bodies: [{ hash, bytes }] }).written
  },
}

if (workload === "streamed") {
  const stream = journal.openStream({ runId: "run_x", stepId: "step", role: "response" })
  for (let i = 1; ; i++) if (stream.write(chunk(i))) acknowledge(i)
}
for (let i = 0; ; i++) if (workloads[workload](i)) acknowledge(i + 1)

/** Every chunk has another length, below and above the size that goes into the sidecar. */
function chunk(i) {
  return Buffer.alloc(1 + ((i * 211) % 3000), `chunk ${i} `)
}
