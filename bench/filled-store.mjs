// Stores that are large and the same every time, filled once and kept in an ignored folder: filling takes longer than everything asked of them.
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { MemorySink, Recorder } from "@orangebox/recorder"
import { openStore, openStoreReader } from "@orangebox/store"
import { DatabaseSync } from "@photostructure/sqlite"

const KEPT = new URL("./.stores/", import.meta.url).pathname
const RUNS_PER_BATCH = 500
const TOOLS = ["read_file", "write_file", "run_tests", "search", "browse"]
const MODELS = ["claude-sonnet-4-5", "gpt-4o", "unpriced-model"]
const DAY_MS = 86_400_000

/** So many events are recorded and committed; of more there are copies, row by row, under keys and ids of their own. */
const RECORDED = 100_000
/** What an event's key is of its run's. */
const PLACES = 2 ** 26

/**
 * A store of at least so many events, and the ids of some of its runs. A run has 5 model and 5 tool calls, 11 steps. There is one day for every hundred
 * thousand events; or runs of so many days come in mixed, as when the journals of many machines are imported.
 */
export async function filledStore(events, { mixedDays = 1 } = {}) {
  const name = (count) => (mixedDays === 1 ? `${count}` : `${count}-of-${mixedDays}-mixed-days`)
  const folder = join(KEPT, name(events))
  const filled = join(folder, "filled")
  if (!existsSync(filled)) {
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    if (events <= RECORDED) await fill(folder, events, mixedDays)
    else {
      ;(await filledStore(RECORDED, { mixedDays })).store.close()
      cpSync(join(KEPT, name(RECORDED), "store"), join(folder, "store"), { recursive: true })
      multiply(join(folder, "store", "trace.db"), Math.ceil(events / RECORDED), mixedDays === 1 ? DAY_MS : 0)
      await fill(folder, 1, mixedDays)
    }
    writeFileSync(filled, "")
  }
  const store = openStoreReader(join(folder, "store"))
  const { total } = await store.listRuns({ limit: 1 })
  const ids = (await store.listRuns({ limit: 41 })).rows.map(({ runId }) => runId)
  return { store, ids, runs: total, status: await store.status() }
}

/** Copies every run with its events, steps, ids and sums, each copy so much later. What is committed next adds the sums up. */
function multiply(path, times, laterMs) {
  const database = new DatabaseSync(path)
  database.exec("PRAGMA synchronous = OFF")
  const { runs } = database.prepare("SELECT max(key) AS runs FROM run_rows").get()
  const later = (column) => `${column} + ? / ${runs} * ${laterMs}`
  const dayLater = `day + ? / ${runs} * ${laterMs / DAY_MS}`
  const shift = (columns) => Object.fromEntries(columns.map((name) => [name, `${name} + ? * ${PLACES}`]))
  const changes = {
    run_rows: {
      key: "key + ?",
      run_id: "substr(run_id, 1, 22) || printf('%08d', ? % 100000000)",
      trace_id: "lower(hex(randomblob(16)))",
      ...Object.fromEntries(["started_at", "ended_at", "last_at"].map((name) => [name, later(name)])),
    },
    event_rows: { ...shift(["key"]), event_id: "randomblob(16)", at: later("at") },
    step_rows: { ...shift(["key", "opened", "closed"]), step_id: "randomblob(8)", opened_at: later("opened_at") },
    body_refs: shift(["event"]),
    id_rows: shift(["event"]),
    rollup_rows: { run: "run + ?", day: dayLater },
    contributor_rows: { run: "run + ?", day: dayLater },
  }
  for (const [table, changed] of Object.entries(changes)) {
    const columns = database
      .prepare(`SELECT name FROM pragma_table_info('${table}')`)
      .all()
      .map(({ name }) => name)
    const values = columns.map((name) => changed[name] ?? name)
    const own = {
      run_rows: `key <= ${runs}`,
      rollup_rows: `run BETWEEN 1 AND ${runs}`,
      contributor_rows: `run BETWEEN 1 AND ${runs}`,
    }[table]
    const range =
      own ?? `${columns.includes("event") ? "event" : "key"} BETWEEN ${PLACES} AND ${(runs + 1) * PLACES - 1}`
    const copy = database.prepare(
      `INSERT INTO ${table} (${columns.join(", ")}) SELECT ${values.join(", ")} FROM ${table} WHERE ${range}`,
    )
    const places = values.join("").split("?").length - 1
    database.exec("BEGIN")
    for (let n = 1; n < times; n++) copy.run(...Array.from({ length: places }, () => n * runs))
    database.exec("COMMIT")
  }
  // The migration that brings a store to the present schema opens all its blocks.
  database.exec("PRAGMA user_version = 7")
  database.close()
}

async function fill(folder, wanted, days) {
  const { store } = openStore(join(folder, "store"))
  for (let events = 0, batch = 0; events < wanted; batch++) {
    const sink = recorded(batch * RUNS_PER_BATCH + (wanted === 1 ? 1_000_000 : 0), days)
    await store.commit({
      events: sink.events.map((event) => ({ event: withoutPieces(event), writerId: "bench" })),
      bodies: [...sink.bodies].map(([hash, bytes]) => ({ hash, bytes, byteSize: bytes.length, mime: "text/plain" })),
      offsets: [{ file: "bench.ndjson", offset: events }],
    })
    events += sink.events.length
    if (process.stderr.isTTY) process.stderr.write(`\r  filling: ${events.toLocaleString("en")} events `)
  }
  if (process.stderr.isTTY) process.stderr.write("\r\x1b[K")
  await store.close()
}

/** Prompts name their pieces, as those that are read off the wire do, and do not hold them again. */
function withoutPieces(event) {
  if (event.event_type !== "prompt_assembled") return event
  const segments = event.payload.segments.map(({ content_ref: _ref, ...segment }) => segment)
  return { ...event, artifact_refs: [], payload: { ...event.payload, segments } }
}

function recorded(first, days) {
  const sink = new MemorySink()
  let atMs = 0
  let monoUs = 0
  const recorder = Recorder.open({
    app: "bench",
    cwd: "/",
    sink,
    agentVersion: `1.${Math.floor(first / 20_000)}`,
    now: () => {
      atMs += 3
      monoUs += 2_700
      return { wallMs: atMs, monoUs }
    },
  })
  for (let n = first; n < first + RUNS_PER_BATCH; n++) {
    atMs = Date.UTC(2026, 0, 1) + (n % days) * DAY_MS + (n % 80_000) * 1000
    recordOne(recorder, n)
  }
  recorder.close()
  return sink
}

function recordOne(recorder, n) {
  const run = recorder.startRun({ entrypoint: "fix-issue", input: `Fix issue ${n % 1000}` })
  for (let turn = 0; turn < 5; turn++) {
    const model = run.startModel({ provider: "someone", model: MODELS[n % 3], request: `request ${n % 1000}` })
    model.promptAssembled({
      segments: [
        ...TOOLS.map((tool) => ({ contributor: `tool:${tool}`, kind: "tool-def", content: tool })),
        { contributor: "persona", kind: "persona", role: "system", content: "You fix issues." },
        { contributor: "history", kind: "history", role: "user", content: "Fix the issue." },
      ],
    })
    const tool = TOOLS[(n + turn) % 4]
    model.endModel({
      finishReason: "tool_use",
      usage: { prompt: 4000 + turn, completion: 200, cache_read: 3000 },
      requestedTools: [tool],
    })
    const call = run.startTool({ name: tool, args: "{}" })
    call.endTool(turn === 4 && n % 10 === 0 ? { err: new Error("test failed") } : { result: "ok" })
  }
  run.complete({ output: "done" })
}
