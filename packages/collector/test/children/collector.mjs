// A watching collector that keeps no journal longer than it must: node collector.mjs <data folder>
import { watch } from "@orangebox/collector"

const abort = new AbortController()
process.on("SIGTERM", () => abort.abort())
await watch({
  dataFolder: process.argv[2],
  signal: abort.signal,
  intervalMs: 20,
  onStatus: ({ kind }) => {
    if (kind === "opened") process.stdout.write("open\n")
  },
  keep: { ageMs: 0, bytes: 0, files: 0 },
})
