// How fast the store takes events, against inserting the very same rows with the same driver, schema, indexes and key order and doing
// nothing else. Bodies are left out on both sides.
import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { openStore } from "@orangebox/store"
import { row, times } from "./measure.mjs"
import { recordedRuns } from "./recorded-runs.mjs"

export const title = "Collector ingest, everything but bodies"

const BATCH = 2_000

export async function run() {
  const { events } = recordedRuns(2_500)
  const rounds = []
  for (let round = 0; round < 3; round++) rounds.push(await oneRound(events))
  const best = (key) => Math.min(...rounds.map((entry) => entry[key]))
  const ours = best("ours")
  const bare = best("bare")
  const perSecond = (seconds) => `${Math.round(events.length / seconds).toLocaleString("en")} events/s`
  return [
    row("events", events.length.toLocaleString("en")),
    row("bare inserts of the same rows", perSecond(bare)),
    row("orangebox: store.commit", perSecond(ours)),
    row("database bytes per event", `${Math.round(rounds[0].bytes / events.length)}`),
    row("orangebox : bare inserts", times(bare / ours), "≥ 0.4 ×", bare / ours >= 0.4),
  ]
}

async function oneRound(events) {
  const folder = mkdtempSync(join(tmpdir(), "orangebox-bench-"))
  const { store } = openStore(join(folder, "store"))
  let start = process.hrtime.bigint()
  for (let i = 0; i < events.length; i += BATCH) {
    await store.commit({
      events: events.slice(i, i + BATCH).map((event) => ({ event, writerId: "bench" })),
      offsets: [{ file: "bench.ndjson", offset: i }],
    })
  }
  const ours = Number(process.hrtime.bigint() - start) / 1e9
  const { databaseBytes } = await store.status()
  await store.close()

  const { DatabaseSync } = loadDriver()
  const file = join(
    folder,
    "store",
    readdirSync(join(folder, "store")).find((name) => name.endsWith(".db") || name.endsWith(".sqlite")),
  )
  const { schema, tables } = readRows(new DatabaseSync(file, { readOnly: true }))
  const target = new DatabaseSync(join(folder, "bare.db"))
  target.exec("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL")
  for (const sql of schema) target.exec(sql)
  const inserts = tables.map(({ name, columns, rows }) => ({
    rows,
    statement: target.prepare(
      `INSERT INTO "${name}" (${columns.map((c) => `"${c}"`).join(",")}) VALUES (${columns.map(() => "?").join(",")})`,
    ),
  }))
  const batches = Math.ceil(events.length / BATCH)
  start = process.hrtime.bigint()
  for (let batch = 0; batch < batches; batch++) {
    target.exec("BEGIN")
    for (const { rows, statement } of inserts) {
      const from = Math.floor((rows.length * batch) / batches)
      const to = Math.floor((rows.length * (batch + 1)) / batches)
      for (let i = from; i < to; i++) statement.run(...rows[i])
    }
    target.exec("COMMIT")
  }
  const bare = Number(process.hrtime.bigint() - start) / 1e9
  target.close()
  rmSync(folder, { recursive: true, force: true })
  return { ours, bare, bytes: databaseBytes }
}

/** Every ordinary table with its rows in key order; the index of the full-text search counts as the plain tables it is kept in. */
function readRows(source) {
  const virtual = source
    .prepare("SELECT name FROM sqlite_master WHERE type='table' AND sql LIKE 'CREATE VIRTUAL%'")
    .all()
    .map(({ name }) => name)
  const objects = source
    .prepare("SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL AND type IN ('table','index')")
    .all()
  const ordinary = objects.filter(
    ({ name, type }) => type === "table" && !virtual.includes(name) && !name.startsWith("sqlite_"),
  )
  const schema = objects
    .filter(
      ({ name, type }) =>
        !virtual.includes(name) && !name.startsWith("sqlite_") && (type === "table" || type === "index"),
    )
    .map(({ sql }) => sql.replace(/^CREATE TABLE '([^']+)'/, 'CREATE TABLE "$1"'))
  const tables = ordinary
    .map(({ name }) => {
      const rows = source.prepare(`SELECT * FROM "${name}"`).all()
      const columns = source
        .prepare(`SELECT name FROM pragma_table_info('${name}')`)
        .all()
        .map((column) => column.name)
      return { name, columns, rows: rows.map((entry) => columns.map((column) => entry[column])) }
    })
    .filter(({ rows }) => rows.length > 0)
  source.close()
  return { schema, tables }
}

function loadDriver() {
  const require = createRequire(import.meta.url)
  try {
    const builtIn = require("node:sqlite")
    const version = new builtIn.DatabaseSync(":memory:").prepare("SELECT sqlite_version() AS v").get().v
    if (version >= "3.51.3") return builtIn
  } catch {}
  return require("@photostructure/sqlite")
}
