// Appends and tells, record by record, what is acknowledged and what is synced: node synced-appender.mjs <folder> <fsync policy>
// Writes pairs of 32-bit numbers: how many records are acknowledged, and how many of them a power cut must not take.
import * as fs from "node:fs"
import { openJournal } from "@orangebox/journal"

const [folder, fsync] = process.argv.slice(2)
const words = Buffer.alloc(8)
let acknowledged = 0
let synced = 0
let syncing = 0

// Syncs of the interval policy follow each other, so the beginning of one says that the one before is through.
const watched = {
  ...fs,
  fdatasync: (fd, done) => {
    synced = syncing
    syncing = acknowledged
    fs.fdatasync(fd, done)
  },
}
const journal = openJournal({ folder, appId: "synced", recorderVersion: "0", fsync, fs: watched, slowWriteMs: 1e9 })

for (let i = 0; ; i++) {
  const json = JSON.stringify({ i, filler: "x".repeat((i * 37) % 900) })
  if (!journal.append({ json, runId: "run_x", sequenceNo: i, bodies: [] }).written) throw new Error("dropped")
  acknowledged = i + 1
  words.writeUInt32LE(acknowledged, 0)
  words.writeUInt32LE(fsync === "always" ? acknowledged : synced, 4)
  fs.writeSync(1, words)
  // Slow enough that the image is still small after some seconds.
  if (i % 10 === 0) await new Promise((resolve) => setTimeout(resolve, 5))
}
