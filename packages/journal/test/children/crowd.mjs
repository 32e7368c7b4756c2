// A hundred writers that share one processor, each with work of its own between its records: node crowd.mjs <folder> <writers>
import { isMainThread, Worker, workerData } from "node:worker_threads"
import { bodyHash } from "@orangebox/contract"
import { openJournal } from "@orangebox/journal"

const [folder, writers] = isMainThread ? process.argv.slice(2) : workerData
if (isMainThread) {
  for (let i = 1; i < Number(writers); i++) new Worker(new URL(import.meta.url), { workerData: [folder, 0] })
}
const journal = openJournal({ folder, appId: "crowd", recorderVersion: "0", fsync: "never" })
for (let i = 0; i < 8; i++) {
  const until = process.cpuUsage().user + 4000 * Number(writers || 1)
  for (const end = performance.now() + 8; performance.now() < end && process.cpuUsage().user < until; );
  const bytes = Buffer.alloc(20_000, i)
  const body = { hash: bodyHash(bytes), bytes }
  journal.append({
    json: JSON.stringify({ i }),
    runId: "run_a",
    sequenceNo: i,
    bodies: journal.keepsBodies() ? [body] : [],
  })
}
if (!journal.keepsBodies()) console.log("bodies are left out")
journal.close({ exitCode: 0, reason: "exit" })
