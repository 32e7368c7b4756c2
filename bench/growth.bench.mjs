// What reading costs as the store grows. One store is filled step by step; at each size the same questions are asked of random runs.
// `npm run bench -- growth` stops at a million events; `--events 10000000` goes on to ten.
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { bodyHash } from "@orangebox/contract"
import { skeletonText, viewRun } from "@orangebox/query"
import { openStore } from "@orangebox/store"
import { median, row } from "./measure.mjs"
import { recordedRuns } from "./recorded-runs.mjs"

export const title = "Reading as the store grows"

const RUNS_PER_ROUND = 500

export async function run() {
  const largest = Number(process.argv[process.argv.indexOf("--events") + 1]) || 1_000_000
  const sizes = [10_000, 100_000, 1_000_000, 10_000_000].filter((size) => size <= largest)
  const folder = mkdtempSync(join(tmpdir(), "orangebox-bench-"))
  const { store } = openStore(join(folder, "store"))
  const runIds = []
  const hashes = []
  const rows = []
  const skeletons = new Map()
  let events = 0
  let round = 0
  for (const size of sizes) {
    const start = Date.now()
    const from = events
    while (events < size) {
      const batch = recordedRuns(RUNS_PER_ROUND, {
        seed: round * RUNS_PER_ROUND,
        startAtMs: Date.UTC(2026, 0, 1) + round * 60_000,
      })
      round++
      await store.commit(batchOf(batch, events))
      events += batch.events.length
      const ids = [...new Set(batch.events.map((event) => event.run_id))].filter((id) => id !== null)
      runIds.push(ids[round % ids.length], ids[(round * 7) % ids.length])
      hashes.push(bodyHash(Buffer.from(`request ${round * RUNS_PER_ROUND - 1}.0`)))
      if (process.stderr.isTTY) process.stderr.write(`\r  ${events.toLocaleString("en")} events `)
    }
    if (process.stderr.isTTY) process.stderr.write("\r\x1b[K")
    const perSecond = Math.round((events - from) / ((Date.now() - start) / 1000))
    const { databaseBytes } = await store.status()
    const skeleton = await medianOf(runIds, (id) => readSkeleton(store, id))
    const body = await medianOf(hashes, (hash) => store.readBody(hash))
    const word = await medianOf(words(round), (text) => store.search({ text, limit: 20 }))
    const part = await medianOf(
      words(round).map((text) => text.slice(2, -1)),
      (text) => store.search({ text, limit: 20 }),
    )
    const list = await medianOf(runIds, () => store.listRuns({ limit: 50 }))
    skeletons.set(size, skeleton)
    rows.push(
      row(
        `${size.toLocaleString("en")} events (${(databaseBytes / 1e6).toFixed(0)} MB, filled at ${perSecond.toLocaleString("en")}/s)`,
        "",
      ),
      row("  skeleton of one run", ms(skeleton), "< 50 ms", skeleton < 50),
      row("  body read", ms(body)),
      row("  search, a whole word", ms(word)),
      row("  search, a part of a word", ms(part)),
      row("  list of 50 runs", ms(list)),
    )
  }
  await store.close()
  rmSync(folder, { recursive: true, force: true })
  const large = skeletons.get(sizes.at(-1))
  const small = skeletons.get(100_000)
  if (small !== undefined && large !== small) {
    rows.push(
      row(
        `skeleton at ${sizes.at(-1).toLocaleString("en")} : at 100,000 events`,
        `${(large / small).toFixed(2)} ×`,
        "≤ 1.5 ×",
        large / small <= 1.5,
      ),
    )
  }
  return rows
}

function batchOf(sink, offset) {
  return {
    events: sink.events.map((event) => ({ event, writerId: "bench" })),
    bodies: [...sink.bodies].map(([hash, bytes]) => ({ hash, bytes, byteSize: bytes.length, mime: "text/plain" })),
    offsets: [{ file: "bench.ndjson", offset }],
  }
}

async function readSkeleton(store, runId) {
  const { events } = await store.eventsOf(runId)
  return skeletonText(viewRun({ events: [...events, ...(await store.annotationsOf(runId))] }))
}

const words = (round) =>
  Array.from({ length: 9 }, (_, i) => `request ${Math.floor((round * RUNS_PER_ROUND * (i + 1)) / 10)}.1`)

async function medianOf(inputs, work) {
  const sample =
    inputs.length > 41 ? Array.from({ length: 41 }, (_, i) => inputs[Math.floor((i * inputs.length) / 41)]) : inputs
  for (const input of sample.slice(0, 5)) await work(input)
  const times = []
  for (const input of sample) {
    const start = performance.now()
    await work(input)
    times.push(performance.now() - start)
  }
  return median(times)
}

const ms = (value) => `${value < 10 ? value.toFixed(2) : value.toFixed(0)} ms`
