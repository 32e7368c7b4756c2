// A watching collector that for a while has not one file descriptor left: node starved.mjs <data folder>
import { closeSync, openSync } from "node:fs"
import { watch } from "@orangebox/collector"

const abort = new AbortController()
process.on("SIGTERM", () => abort.abort())
const taken = []
await watch({
  dataFolder: process.argv[2],
  signal: abort.signal,
  intervalMs: 20,
  onStatus: ({ kind }) => {
    if (kind !== "pruned" || taken.length > 0) return
    takeAll()
    process.stdout.write("starved\n")
    setTimeout(() => {
      for (const fd of taken) closeSync(fd)
      process.stdout.write("fed\n")
    }, 200)
  },
})

function takeAll() {
  try {
    for (;;) taken.push(openSync("/dev/null"))
  } catch {
    // All of them.
  }
}
