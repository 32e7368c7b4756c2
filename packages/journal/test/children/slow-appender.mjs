// Appends 150 records, slowly enough for a back-off to pass, and tells which were acknowledged: node slow-appender.mjs <folder>
// Says its pid and file first and waits for a line, so that a tracer can be put in place.
import { once } from "node:events"
import { writeSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import { listJournals, openJournal } from "@orangebox/journal"

const [folder] = process.argv.slice(2)
const journal = openJournal({ folder, appId: "slow", recorderVersion: "0", fsync: "never" })
writeSync(1, `${JSON.stringify({ pid: process.pid, path: listJournals(folder)[0].path })}\n`)
await once(process.stdin, "data")
process.stdin.destroy()

const acknowledged = []
for (let i = 0; i < 150; i++) {
  const json = JSON.stringify({ i, filler: "x".repeat(1000) })
  if (journal.append({ json, runId: "run_x", sequenceNo: i, bodies: [] }).written) acknowledged.push(i)
  await sleep(4)
}
journal.close({ exitCode: 0, reason: "exit" })
writeSync(1, JSON.stringify({ acknowledged, stats: journal.stats() }))
