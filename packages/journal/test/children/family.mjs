// A primary with two cluster workers and a forked child, each with a writer in the folder: node family.mjs <folder> <records>
import { fork } from "node:child_process"
import cluster from "node:cluster"
import { fileURLToPath } from "node:url"
import { openJournal } from "@orangebox/journal"

const [folder, records, role] = process.argv.slice(2)
const journal = openJournal({ folder, appId: "family", recorderVersion: "0", fsync: "never" })
if (cluster.isPrimary && role === undefined) {
  // The children start while this writer is at work, and inherit its environment and descriptors.
  cluster.setupPrimary({ args: [folder, records, "worker"] })
  cluster.fork()
  cluster.fork()
  fork(fileURLToPath(import.meta.url), [folder, records, "child"])
}
for (let i = 0; i < Number(records); i++) {
  const line = { json: JSON.stringify({ i, pid: process.pid }), runId: "run_x", sequenceNo: i, bodies: [] }
  if (!journal.append(line).written) throw new Error("dropped")
  if (i % 10 === 0) await new Promise(setImmediate)
}
journal.close({ exitCode: 0, reason: "exit" })
cluster.worker?.disconnect()
