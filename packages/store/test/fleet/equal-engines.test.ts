import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { runDigest } from "@orangebox/contract"
import { type Batch, ClickhouseStore, openReadOnlySql, openStore, type TraceStore } from "@orangebox/store"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { RecordedRun, T0 } from "../recorded.js"
import { noServer, TestServer } from "./server.js"

/** 200 is the proof; a few are enough for every change. */
const JOURNALS = Number(process.env["ORANGEBOX_FLEET_JOURNALS"] ?? 12)
const WORDS = ["leap year", "walrus", "Größe", "exit 1", "read_file", "claude-x", "nowhere"]
const VIEWS = {
  runs: "run_id",
  steps: "run_id, no",
  tool_calls: "run_id, no",
  model_calls: "run_id, no",
  links: "run_id, event_id, kind",
  bodies: "hash",
} as const
/** Rows of sums may come in parts: a question adds them up. */
const SUMS =
  "SELECT day, app, kind, name, provider, status, error_class, origin, sum(count), sum(attempts), sum(duration_ms_sum), max(duration_ms_max), sum(prompt_tokens), sum(unpriced_calls) FROM rollups GROUP BY day, app, kind, name, provider, status, error_class, origin"

/** Numbers that depend on nothing but the seed. */
function numbers(seed: number): (below: number) => number {
  let state = (seed * 2654435761) >>> 0 || 1
  return (below) => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % below
  }
}

function randomRun(no: number, next: (below: number) => number): RecordedRun {
  const run = new RecordedRun({
    no,
    startedAtMs: T0 + next(3) * 86_400_000 + no * 1000,
    app: ["fixer", "coder"][next(2)]!,
  })
  const root = run.start()
  const history: string[] = []
  for (let steps = 2 + next(8); steps > 0; steps--) {
    switch (next(5)) {
      case 0:
      case 1:
        history.push(`turn ${history.length}: ${WORDS[next(WORDS.length - 1)]} ${"and so on ".repeat(next(80))}`)
        run.model(root, JSON.stringify({ messages: history }), next(6) === 0 ? null : `answer ${WORDS[next(3)]}`, {
          prompt: 10 + next(500),
          completion: next(90),
        })
        break
      case 2:
        run.tool(
          root,
          ["read_file", "run_tests"][next(2)]!,
          `{"n":${next(3)}}`,
          next(5) === 0 ? null : `exit ${next(2)}`,
          next(3) === 0 ? "error" : "success",
        )
        break
      case 3:
        run.log(root, null, `note ${WORDS[next(WORDS.length - 1)]} ${next(9)}`)
        break
      default:
        run.emit(
          "link_added",
          { link: { kind: "mentions", run_id: `run_${String(1 + next(3)).padStart(26, "0")}` } },
          { stepId: root, parentId: null },
        )
    }
  }
  const end = next(4)
  if (end === 0) run.fail(root, "ToolError")
  else if (end < 3) run.complete(root)
  return run
}

/** The run as a collector might hand it over: in parts, some twice, some late. */
function batchesOf(run: RecordedRun, next: (below: number) => number): Batch[] {
  const events = [...run.events]
  if (next(3) === 0) events.push(...events.splice(next(events.length), 1 + next(3)))
  const batches: Batch[] = []
  for (let at = 0; at < events.length; ) {
    const size = 1 + next(9)
    const some = events.slice(at, at + size)
    batches.push({ events: some, bodies: run.bodies })
    if (next(4) === 0) batches.push({ events: some.slice(0, 2) })
    at += size
  }
  return batches
}

describe.skipIf(noServer !== undefined)("both engines", () => {
  let server: TestServer
  const folder = mkdtempSync(join(tmpdir(), "orangebox-equal-"))
  beforeAll(async () => {
    server = await TestServer.start()
  })
  afterAll(async () => {
    await server?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  test(`[S-08] [Z-01] ${JOURNALS} random journals give the same runs, steps, digests, hits, sums and rows on both engines`, async () => {
    for (let seed = 1; seed <= JOURNALS; seed++) {
      const next = numbers(seed)
      const runs = Array.from({ length: 1 + next(3) }, (_, index) => randomRun(index + 1, next))
      const now = () => T0 + 40 * 86_400_000
      const path = join(folder, String(seed))
      const embedded = openStore(path, { now }).store
      const settings = server.settings()
      const cluster = new ClickhouseStore(settings, { now })
      await cluster.migrate()
      for (const batch of runs.flatMap((run) => batchesOf(run, next))) {
        await embedded.commit(batch)
        await cluster.commit(batch)
      }
      const ids = runs.map(({ runId }) => runId)
      const [one, other] = [await pictureOf(embedded, ids), await pictureOf(cluster, ids)]
      expect({ seed, ...other }).toEqual({ seed, ...one })
      await embedded.close()
      await cluster.close()
      const sql = openReadOnlySql(path)
      const questions = Object.entries(VIEWS).map(([view, order]) => `SELECT * FROM ${view} ORDER BY ${order}`)
      for (const question of [...questions, SUMS]) {
        const { columns, rows } = sql.query(question)
        const here = rows.map((row) => columns.map((name) => plain(row[name])))
        const text = await server.query(
          `${question.replace("FROM ", `FROM ${settings.database}.`)} SETTINGS output_format_json_quote_64bit_integers = 0 FORMAT JSONCompactEachRow`,
        )
        const there = text === "" ? [] : text.split("\n").map((line) => (JSON.parse(line) as unknown[]).map(plain))
        expect({ seed, question, rows: there.map(String).sort() }).toEqual({
          seed,
          question,
          rows: here.map(String).sort(),
        })
      }
      sql.close()
      await server.query(`DROP DATABASE ${settings.database}`)
    }
  })
})

async function pictureOf(store: TraceStore, ids: readonly string[]) {
  const byRun = async <T>(ask: (id: string) => Promise<T>): Promise<T[]> => {
    const all: T[] = []
    for (const id of ids) all.push(await ask(id))
    return all
  }
  const hits = []
  for (const text of WORDS) {
    const page = await store.search({ text, limit: 200 })
    // Of events that came late the embedded store names the one that came first, the cluster the one that was recorded first.
    const told = page.hits.map(({ runId, snippet, placesTotal }) => [runId, snippet, placesTotal].join("|"))
    hits.push([text, page.total, page.places, told.sort()])
  }
  return {
    runs: [...(await store.listRuns()).rows].sort((a, b) => (a.runId < b.runId ? -1 : 1)),
    steps: await byRun((id) => store.stepsOf(id)),
    columns: await byRun((id) => store.stepColumns(id)),
    digests: await byRun(async (id) => runDigest((await store.eventsOf(id)).events)),
    links: await byRun((id) => store.linksTo(id)),
    hits,
    rollups: await store.rollups({ by: "day" }),
    weeks: await store.rollups({ by: "week" }),
    contributors: await store.contributors({ by: "day" }),
    durations: await store
      .durationCounts({ app: "fixer", since: 0 })
      .then((all) => [...all].sort((a, b) => (`${a.kind}${a.name}` < `${b.kind}${b.name}` ? -1 : 1))),
    status: await store
      .status()
      .then(({ runs, events, steps, bodies, bodyBytes }) => ({ runs, events, steps, bodies, bodyBytes })),
  }
}

/** A cell as both say it: JSON with its keys in order, numbers as numbers. */
function plain(value: unknown): unknown {
  if (typeof value === "bigint") return Number(value)
  if (typeof value === "string" && /^[[{]/.test(value)) {
    const parsed = JSON.parse(value) as unknown
    return parsed !== null && typeof parsed === "object" && !Array.isArray(parsed)
      ? JSON.stringify(Object.fromEntries(Object.entries(parsed).sort(([a], [b]) => (a < b ? -1 : 1))))
      : JSON.stringify(parsed)
  }
  return value ?? null
}
