// Writes some records, then dies in the way it is told: node die.mjs <folder> <way>
import { writeSync } from "node:fs"
import { openJournal } from "@orangebox/journal"

const [folder, way] = process.argv.slice(2)
const journal = openJournal({ folder, appId: "die", recorderVersion: "0" })
const append = (i) => journal.append({ json: JSON.stringify({ i }), runId: "run_x", sequenceNo: i, bodies: [] })

for (let i = 0; i < 500; i++) append(i)
writeSync(1, "500")

const ways = {
  exit: () => process.exit(0),
  abort: () => process.abort(),
  "uncaught exception": () => {
    throw new Error("nobody catches this")
  },
  "unhandled rejection": () => Promise.reject(new Error("nobody awaits this")),
  "stack overflow": function overflow() {
    return overflow() + 1
  },
  "out of memory": () => {
    const hoard = []
    for (;;) hoard.push(new Array(100_000).fill(hoard.length))
  },
}
ways[way]()
