// How fast a ClickHouse takes events through the store, against the bare client inserting the very same rows of the same tables in blocks of the same size,
// and beside the embedded store. Bodies are left out on all sides.
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createClient } from "@clickhouse/client"
import { ClickhouseStore, openStore } from "@orangebox/store"
import { startServer } from "../packages/store/test/fleet/start-server.mjs"
import { median, row, times } from "./measure.mjs"
import { recordedRuns } from "./recorded-runs.mjs"

export const title = "ClickHouse as the store, everything but bodies"

const BATCH = 5_000
const TABLES = ["event_rows", "step_rows", "run_rows", "id_rows", "ref_rows", "text_rows", "text_runs", "body_rows"]

export async function run() {
  const server = await startServer()
  if (server === undefined) return [row("ClickHouse", "not installed: scripts/install-clickhouse.sh")]
  const folder = mkdtempSync(join(tmpdir(), "orangebox-bench-"))
  try {
    return await measured(server, folder)
  } finally {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function measured(server, folder) {
  const { events } = recordedRuns(900)
  const settings = { url: server.url, database: "bench", collectorId: "bench", host: "bench" }
  const cluster = new ClickhouseStore(settings)
  await cluster.migrate()
  const ours = await ingest(cluster, events)
  const { store: embedded } = openStore(join(folder, "store"))
  const sqlite = await ingest(embedded, events)
  const bare = await bareInserts(server)

  const runId = events.find(({ run_id }) => run_id !== null).run_id
  const skeleton = (store) =>
    timed(async () => [await store.getRun(runId), await store.stepsOf(runId), await store.eventsOf(runId)])
  const small = await medianOf(() => skeleton(cluster))
  const more = recordedRuns(5_000, { seed: 10_000, startAtMs: Date.UTC(2026, 1, 1) }).events
  await ingest(cluster, more)
  await server.query("OPTIMIZE TABLE bench.event_rows FINAL")
  const large = await medianOf(() => skeleton(cluster))

  const bytes = async (tables, column = "data_compressed_bytes") =>
    Number(
      await server.query(
        `SELECT sum(${column}) FROM system.parts WHERE active AND database = 'bench' AND table IN (${tables.map((name) => `'${name}'`).join(", ")})`,
      ),
    )
  const all = events.length + more.length
  const eventBytes = (await bytes(["event_rows"])) / all
  const [total, texts] = [
    await bytes(TABLES, "bytes_on_disk"),
    await bytes(["text_rows", "text_runs"], "bytes_on_disk"),
  ]
  const { databaseBytes } = await embedded.status()
  const parts = Number(
    await server.query(
      "SELECT max(n) FROM (SELECT count() AS n FROM system.parts WHERE active AND database = 'bench' GROUP BY table, partition)",
    ),
  )
  await cluster.close()
  await embedded.close()
  const rate = (seconds, count) => `${Math.round(count / seconds).toLocaleString("en")} events/s`
  return [
    row("events", events.length.toLocaleString("en")),
    row("bare client.insert of the same rows", rate(bare, events.length)),
    row("orangebox: store.commit", rate(ours, events.length)),
    row("the embedded store, beside it", rate(sqlite, events.length)),
    row("orangebox : bare inserts", times(bare / ours), "≥ 0.4 ×", bare / ours >= 0.4),
    row("bytes of event rows an event", eventBytes.toFixed(0)),
    row("bytes of all tables an event", (total / all).toFixed(0)),
    row("of that, search", (texts / all).toFixed(0)),
    row("the embedded store's bytes an event, search included", (databaseBytes / events.length).toFixed(0)),
    row(`run, steps and events of one run, of ${events.length.toLocaleString("en")} events`, `${small.toFixed(0)} ms`),
    row(
      `the same, of ${all.toLocaleString("en")}`,
      `${large.toFixed(0)} ms`,
      "≤ 1.5 ×, < 150 ms",
      large <= small * 1.5 && large < 150,
    ),
    row("parts in the fullest partition", String(parts), "< 300", parts < 300),
  ]
}

async function ingest(store, events) {
  return (
    (await timed(async () => {
      for (let at = 0; at < events.length; at += BATCH)
        await store.commit({
          events: events.slice(at, at + BATCH).map((event) => ({ event, writerId: "bench" })),
          offsets: [{ file: "bench.ndjson", offset: at }],
        })
    })) / 1000
  )
}

/** The rows that the store wrote, into empty tables like them. */
async function bareInserts(server) {
  const client = createClient({ url: server.url, database: "bench" })
  const blocks = []
  for (const table of TABLES) {
    await client.command({ query: `CREATE TABLE bare_${table} AS ${table}` })
    const result = await client.query({ query: `SELECT * FROM ${table}`, format: "JSONEachRow" })
    const rows = await result.json()
    for (let at = 0; at < rows.length; at += BATCH) blocks.push([`bare_${table}`, rows.slice(at, at + BATCH)])
  }
  const seconds =
    (await timed(async () => {
      for (const [table, values] of blocks) await client.insert({ table, values, format: "JSONEachRow" })
    })) / 1000
  await client.close()
  return seconds
}

async function timed(work) {
  const start = performance.now()
  await work()
  return performance.now() - start
}

async function medianOf(measure) {
  const all = []
  for (let round = 0; round < 9; round++) all.push(await measure())
  return median(all)
}
