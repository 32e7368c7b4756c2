// Several writers in one process, one per thread, and their own in the main thread: node many.mjs <folder> <records> <threads>
import { isMainThread, Worker, workerData } from "node:worker_threads"
import { openJournal } from "@orangebox/journal"

const [folder, records, threads] = isMainThread ? process.argv.slice(2) : workerData
const journal = openJournal({ folder, appId: "many", recorderVersion: "0", maxFileBytes: 200_000, fsync: "never" })
if (isMainThread) {
  for (let i = 0; i < Number(threads); i++) new Worker(new URL(import.meta.url), { workerData: [folder, records, 0] })
}
const runId = `run_${journal.writerId}`
for (let i = 0; i < Number(records); i++) {
  const json = JSON.stringify({ i, writer: journal.writerId, filler: "x".repeat(i % 300) })
  if (!journal.append({ json, runId, sequenceNo: i, bodies: [] }).written) throw new Error("dropped")
}
journal.close({ exitCode: 0, reason: "exit" })
