import { chmodSync, existsSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { isAbsent, openReadOnlySql, openStore, openStoreReader } from "@orangebox/store"
import { describe, expect, test } from "vitest"
import { openForWriting } from "../src/sqlite/connection.js"
import { chooseDriver, type SqliteModule, sqliteDriver } from "../src/sqlite/driver.js"
import { MIGRATIONS, migrate } from "../src/sqlite/schema.js"
import { runChild } from "./children/run-child.js"
import { ordinaryRun, RecordedRun, redactBody, T0 } from "./recorded.js"
import { temporaryFolder } from "./temporary-folder.js"

describe("files", () => {
  test("[S-01] database, WAL, packs and tombstones are for their owner alone, whatever the umask", async () => {
    const folder = join(temporaryFolder(), "store")
    const before = process.umask(0)
    try {
      const { store } = openStore(folder, { now: () => T0 })
      await store.commit(ordinaryRun({ startedAtMs: T0 - 1e9 }).batch())
      await store.prune({ maxAgeMs: -1 })
      await store.commit(ordinaryRun({ no: 2 }).batch())
      const names = readdirSync(folder, { recursive: true, withFileTypes: true })
      expect(names.map((entry) => entry.name)).toEqual(
        expect.arrayContaining(["trace.db", "trace.db-wal", "trace.db-shm", "tombstones.ndjson"]),
      )
      for (const entry of names) {
        const mode = statSync(join(entry.parentPath, entry.name)).mode & 0o777
        expect([entry.name, mode.toString(8)]).toEqual([entry.name, entry.isDirectory() ? "700" : "600"])
      }
      expect((statSync(folder).mode & 0o777).toString(8)).toBe("700")
      await store.close()
    } finally {
      process.umask(before)
    }
  })

  test("a folder that was left open to others is closed to them", async () => {
    const folder = temporaryFolder()
    chmodSync(folder, 0o755)
    await openStore(folder).store.close()
    expect((statSync(folder).mode & 0o777).toString(8)).toBe("700")
  })

  test("[S-04] no value in any row is over 64 KiB, and a list of runs reads no body", async () => {
    const folder = temporaryFolder()
    const { store } = openStore(folder)
    const run = new RecordedRun()
    const root = run.start()
    const long = { text: "x".repeat(200_000) }
    run.model(root, JSON.stringify({ content: "word ".repeat(100_000) }), "y".repeat(300_000))
    run.emit("log", { level: "info", message: "m" }, { stepId: root, parentId: null, attributes: long })
    const event = run.events[1]!.event
    await store.commit(
      run.batch({
        streams: [
          {
            streamId: "s",
            runId: run.runId,
            stepId: root,
            role: "r",
            chunks: [{ offset: 0, bytes: Buffer.alloc(200_000, 7), atMicros: 0 }],
          },
        ],
        gaps: [{ code: "c", reason: "r".repeat(100_000), runIds: Array.from({ length: 10_000 }, () => run.runId) }],
        problems: [{ code: "c", severity: "error", subject: "s".repeat(100_000), field: "", reason: "" }],
        writers: [{ writerId: "w", identity: long }],
        exits: [{ writerId: "w", atMs: T0, exit: long }],
      }),
    )
    await store.commit({ events: [{ event: { ...event, attributes: long } as typeof event, writerId: null }] })
    expect(await store.conflictsOf(run.runId)).toMatchObject([{ event: { attributes: long } }])
    expect(Buffer.from((await store.readPartialStream("s"))!)).toEqual(Buffer.alloc(200_000, 7))
    await store.close()

    const database = openForWriting(join(folder, "trace.db"))
    const tables = database
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'")
      .all()
    for (const { name } of tables) {
      const columns = database.prepare(`PRAGMA table_info(${String(name)})`).all()
      for (const { name: column } of columns) {
        const longest = database
          .prepare(`SELECT max(length(CAST("${String(column)}" AS BLOB))) AS bytes FROM "${String(name)}"`)
          .get()
        expect([name, column, Number(longest?.["bytes"] ?? 0) <= 65_536]).toEqual([name, column, true])
      }
    }
    database.close()
    const packs = join(folder, "packs")
    for (const pack of readdirSync(packs)) truncateSync(join(packs, pack), 0)
    const reader = openStoreReader(folder)
    expect((await reader.listRuns()).total).toBe(1)
    expect(await reader.readBody(run.bodies[0]!.hash)).toMatchObject({ absent: "lost" })
    await reader.close()
  })

  test("the WAL is folded into the database, and a long reader only delays that", async () => {
    const folder = temporaryFolder()
    const { store } = openStore(folder)
    await store.commit(ordinaryRun().batch())
    const reader = sqliteDriver().open(join(folder, "trace.db"), { readOnly: true })
    reader.exec("BEGIN")
    reader.prepare("SELECT count(*) FROM run_rows").get()
    const fill = async (no: number): Promise<void> => {
      const run = new RecordedRun({ no })
      const root = run.start()
      for (let index = 0; index < 500; index++) {
        run.emit(
          "log",
          { level: "info", message: `m${index}` },
          { stepId: root, parentId: null, attributes: { filler: `${no} ${index} `.repeat(2500) } },
        )
      }
      await store.commit({ events: run.events })
    }
    for (let no = 2; no < 5; no++) await fill(no)
    expect((await store.status()).walBytes).toBeGreaterThan(16 * 1024 * 1024)
    reader.exec("COMMIT")
    reader.close()
    await fill(9)
    expect((await store.status()).walBytes).toBeLessThan(16 * 1024 * 1024)
    await store.close()
  })

  test("a database that somebody else holds is waited for; when that takes too long, nothing was taken", async () => {
    const folder = temporaryFolder()
    const { store } = openStore(folder, { busyMs: 300 })
    const other = sqliteDriver().open(join(folder, "trace.db"))
    other.exec("BEGIN IMMEDIATE")
    const run = ordinaryRun()
    await expect(store.commit(run.batch({ offsets: [{ file: "a", offset: 1 }] }))).rejects.toMatchObject({
      code: "STORE_BUSY",
    })
    expect((await store.offsets()).size).toBe(0)
    other.exec("ROLLBACK")
    expect(await store.commit(run.batch({ offsets: [{ file: "a", offset: 1 }] }))).toMatchObject({
      events: 7,
      newBodies: 4,
    })
    for (const body of run.bodies) expect(isAbsent(await store.readBody(body.hash))).toBe(false)
    expect(await store.integrity({ bodies: "all" })).toEqual([])
    await store.close()

    // With patience enough for the slowest machine.
    const { store: patient } = openStore(folder, { busyMs: 30_000 })
    other.exec("BEGIN IMMEDIATE")
    setTimeout(() => other.exec("ROLLBACK"), 50)
    expect(await patient.commit(ordinaryRun({ no: 2 }).batch())).toMatchObject({ events: 7 })
    other.close()
    await patient.close()
  })
})

describe("damage", () => {
  const damages: [string, (path: string) => void][] = [
    ["a file that is no database", (path) => writeFileSync(path, "not a database ".repeat(1000))],
    ["a broken header", (path) => overwrite(path, 0, Buffer.alloc(100, 0x41))],
    ["a broken schema page", (path) => overwrite(path, 100, Buffer.alloc(3900, 0xff))],
  ]
  test.for(damages)(
    "%s is set aside and told; the journals fill a fresh one, but for what was pruned",
    async ([, damage]) => {
      const folder = temporaryFolder()
      let now = T0
      const { store } = openStore(folder, { now: () => now })
      const [old, kept] = [ordinaryRun({ no: 1 }), ordinaryRun({ no: 2, startedAtMs: T0 + 1e10 })]
      await store.commit(old.batch({ offsets: [{ file: "j", offset: 1 }] }))
      now = T0 + 1e10
      await store.commit(kept.batch())
      await redactBody(store, kept.bodies[3]!.hash)
      await store.prune({ maxAgeMs: 1e9 })
      await store.close()
      damage(join(folder, "trace.db"))

      const opened = openStore(folder, { now: () => now })
      expect(opened).toMatchObject({ isFresh: true, setAside: { path: expect.stringContaining("trace.db.corrupt-") } })
      expect(existsSync(opened.setAside!.path)).toBe(true)
      expect((await opened.store.offsets()).size).toBe(0)
      await opened.store.commit(old.batch())
      await opened.store.commit(kept.batch())
      expect((await opened.store.listRuns()).rows.map((row) => row.runId)).toEqual([kept.runId])
      expect(await opened.store.readBody(kept.bodies[3]!.hash)).toMatchObject({ absent: "redacted_later" })
      expect(isAbsent(await opened.store.readBody(kept.bodies[0]!.hash))).toBe(false)
      expect(await opened.store.integrity({ bodies: "all" })).toEqual([])
      await opened.store.close()
      expect(openStore(folder).setAside).toBeUndefined()
    },
  )

  test("damage met in the middle of the work is reported, and the next open sets the file aside", async () => {
    const folder = temporaryFolder()
    const { store } = openStore(folder)
    for (let no = 1; no <= 40; no++) await store.commit(ordinaryRun({ no }).batch())
    await store.close()
    const path = join(folder, "trace.db")
    const database = openForWriting(path)
    const pages = database.prepare("SELECT pageno FROM dbstat WHERE name = 'refs_by_event'").all()
    database.close()
    for (const { pageno } of pages) overwrite(path, (Number(pageno) - 1) * 4096, Buffer.alloc(4096, 0x5a))
    const damaged = openStore(folder)
    expect(damaged.setAside).toBeUndefined()
    await expect(
      (async () => {
        for (let no = 1; no <= 80; no++) await damaged.store.commit(ordinaryRun({ no }).batch())
      })(),
    ).rejects.toMatchObject({ code: "STORE_CORRUPT" })
    await damaged.store.close()
    const fresh = openStore(folder)
    expect(fresh.setAside).toBeDefined()
    expect(await fresh.store.commit(ordinaryRun().batch())).toMatchObject({ events: 7 })
    await fresh.store.close()
  })

  test("[S-01] a flipped byte in a pack is noticed, and only its bodies are lost", async () => {
    const folder = temporaryFolder()
    const { store } = openStore(folder)
    const run = ordinaryRun()
    await store.commit(run.batch())
    await store.close()
    const pack = join(folder, "packs", readdirSync(join(folder, "packs"))[0]!)
    const bytes = readFileSync(pack)
    overwrite(pack, bytes.length - 5, Buffer.from([bytes[bytes.length - 5]! ^ 1]))
    const again = openStore(folder).store
    expect(await again.readBody(run.bodies[0]!.hash)).toMatchObject({ absent: "lost" })
    expect((await again.integrity({ bodies: "all" })).length).toBeGreaterThan(0)
    expect(await again.commit(ordinaryRun({ no: 2 }).batch())).toMatchObject({ events: 7 })
    expect(await again.search({ text: "leap years" })).toMatchObject({
      hits: [{ runId: ordinaryRun({ no: 2 }).runId }],
    })
    await again.close()
  })
})

describe("schema", () => {
  test("[S-05] a store of a newer build is refused, by name, for reading and for writing", async () => {
    const folder = temporaryFolder()
    await openStore(folder).store.close()
    const database = sqliteDriver().open(join(folder, "trace.db"))
    database.exec("PRAGMA user_version = 99")
    database.close()
    for (const open of [() => openStore(folder), () => openStoreReader(folder), () => openReadOnlySql(folder)]) {
      expect(open).toThrow(/schema 99.*up to 8.*Upgrade/)
    }
  })

  test("[Q-09] ids that stores of before did not keep are found in what they hold", async () => {
    const folder = temporaryFolder()
    const { store } = openStore(folder)
    const run = new RecordedRun({ conversationId: "chat-a" })
    const root = run.start()
    const links = [{ kind: "caused_by" as const, run_id: "run_00000000000000000000000009" }]
    const attributes = { message_id: "m-1", target_conversation_id: "chat-b", conversation_id_count: 1 }
    run.emit("log", { level: "info", message: "m" }, { stepId: root, parentId: null, attributes, links })
    run.emit("link_added", { link: { kind: "mentions", step_id: root } }, { stepId: root, parentId: null })
    run.model(root, "question", "answer", { prompt: 1, completion: 1, laneId: "lane-1" })
    await store.commit(run.batch())
    await store.close()
    const database = openForWriting(join(folder, "trace.db"))
    const ids = () => database.prepare("SELECT * FROM id_rows").all()
    const recorded = ids()
    database.exec("DELETE FROM id_rows WHERE kind >= 5")
    expect(ids().length).toBe(recorded.length - 4)
    for (const statement of MIGRATIONS[4]!.statements) if (statement.includes("INTO id_rows")) database.exec(statement)
    expect(ids()).toEqual(recorded)
    database.close()
  })

  test("[S-05] killed at any statement of a migration, the schema is the one before or the one after", async () => {
    const count = MIGRATIONS[0]!.statements.length
    const points = [0, Math.floor(count / 2), count - 1].map((index) => `migration:1:${index}`)
    for (const point of [...points, "migration:1:commit"]) {
      const folder = temporaryFolder()
      expect(await runChild("migrate-store.mjs", [folder], point)).toMatchObject({ signal: "SIGKILL" })
      const { store } = openStore(folder)
      expect(await store.commit(ordinaryRun().batch())).toMatchObject({ events: 7 })
      await store.close()
    }
  })

  test("[S-05] a store of the first schema is brought to this one, and reads as before", async () => {
    const folder = temporaryFolder()
    const { store: old } = openStore(folder)
    const run = ordinaryRun()
    await old.commit(run.batch())
    await old.close()
    const database = sqliteDriver().open(join(folder, "trace.db"))
    backToSchema2(database)
    database.exec("DROP TABLE redacted_events")
    database.exec("PRAGMA user_version = 1")
    database.close()
    const reader = openStoreReader(folder)
    expect(await reader.redactionsOf(run.runId)).toEqual([])
    await reader.close()
    const { store } = openStore(folder)
    expect((await store.eventsOf(run.runId)).events).toEqual(run.events.map(({ event }) => event))
    expect(await store.redactionsOf(run.runId)).toEqual([])
    await store.close()
  })

  test("[S-05] [Q-08] a store of the second schema reads as before, and a run that lost events is numbered as every reader numbers it", async () => {
    const folder = temporaryFolder()
    const { store: old } = openStore(folder)
    const run = ordinaryRun()
    const damaged = ordinaryRun()
    await old.commit(run.batch())
    const left = damaged.events.filter(({ event }) => event.event_type !== "step_started")
    await old.commit({ events: left })
    const before = await Promise.all(
      [run, damaged].map(({ runId }) => Promise.all([old.getRun(runId), old.stepsOf(runId)])),
    )
    await old.close()
    const database = sqliteDriver().open(join(folder, "trace.db"))
    // The second schema gave a step whose opening was lost its number only when it closed.
    database.exec(`UPDATE step_rows SET key = key + 10 WHERE opened IS NULL`)
    backToSchema2(database)
    database.close()
    const reader = openStoreReader(folder)
    expect(await reader.getRun(run.runId)).toMatchObject({ events: 7, steps: before[0]![0]!.steps })
    await reader.close()
    const { store } = openStore(folder)
    const after = await Promise.all(
      [run, damaged].map(({ runId }) => Promise.all([store.getRun(runId), store.stepsOf(runId)])),
    )
    expect(after).toEqual(before)
    await store.rebuild()
    expect(await store.stepsOf(damaged.runId)).toEqual(before[1]![1])
    await store.close()
  })

  test("[S-05] [R-17] a store of the fourth schema keeps its sums, learns what its events say, and finds what it found", async () => {
    const folder = temporaryFolder()
    const { store: old } = openStore(folder)
    const run = ordinaryRun()
    await old.commit(run.batch())
    const before = await old.rollups({ by: "day" })
    await old.close()
    const database = sqliteDriver().open(join(folder, "trace.db"))
    backToSchema4(database)
    // What retention had taken: ten calls, two of them failed, one that never ended.
    database.exec(
      "INSERT INTO rollup_rows VALUES (100, 2, 'grep', '', 'fixer', 1, 10, 2, 0, 1, 5000, 900, NULL, NULL, NULL, NULL, NULL)",
    )
    database.close()
    const { store } = openStore(folder)
    const [kept, ...rest] = await store.rollups({ by: "day" })
    expect(kept).toMatchObject({
      kind: "tool",
      name: "grep",
      count: 10,
      errors: 2,
      open: 1,
      durationMsSum: 5,
      durationMsMax: 0.9,
    })
    expect(rest).toEqual(before)
    expect((await store.search({ text: "leap years" })).hits).toMatchObject([{ runId: run.runId }])
    await store.close()
  })

  test("[S-05] views of before do not stand in the way of a migration", async () => {
    const folder = temporaryFolder()
    const path = join(folder, "trace.db")
    const database = sqliteDriver().open(path)
    migrate(database, path, MIGRATIONS.slice(0, -1))
    database.exec("DROP VIEW rollups")
    database.exec("CREATE VIEW rollups AS SELECT count, day FROM rollup_rows")
    database.close()
    const { store, setAside } = openStore(folder)
    expect(setAside).toBeUndefined()
    expect(await store.rollups({ by: "day" })).toEqual([])
    await store.close()
  })

  test("[S-05] a migration that fails at any statement changes nothing", () => {
    const statements = [
      "CREATE TABLE one (a)",
      "INSERT INTO one VALUES (1)",
      "ALTER TABLE one ADD COLUMN b",
      "UPDATE one SET b = 2",
    ]
    for (let broken = 0; broken <= statements.length; broken++) {
      const database = sqliteDriver().open(join(temporaryFolder(), "x.db"))
      const migration = {
        version: MIGRATIONS.length + 1,
        title: "broken",
        statements: [...statements.slice(0, broken), "NONSENSE", ...statements.slice(broken)],
      }
      migrate(database, "x.db", MIGRATIONS)
      const before = database.prepare("SELECT sql FROM sqlite_schema ORDER BY name").all()
      expect(() => migrate(database, "x.db", [...MIGRATIONS, migration])).toThrow()
      expect(database.prepare("SELECT sql FROM sqlite_schema ORDER BY name").all()).toEqual(before)
      expect(database.prepare("PRAGMA user_version").get()).toMatchObject({ user_version: MIGRATIONS.length })
      migrate(database, "x.db", [...MIGRATIONS, { ...migration, statements }])
      expect(database.prepare("SELECT b FROM one").get()).toMatchObject({ b: 2 })
      database.close()
    }
  })
})

describe("driver", () => {
  const real = sqliteDriver()
  const module: SqliteModule = {
    DatabaseSync: class {
      constructor(path: string) {
        // biome-ignore lint/correctness/noConstructorReturn: the real database stands in for the class under test.
        return real.open(path) as never
      }
    } as never,
  }

  test("the first candidate that can do everything is taken; without any, the error says what each lacks", () => {
    const missing = { name: "built-in", load: () => undefined }
    const broken = {
      name: "package",
      load: () => {
        throw new Error("no binary for this platform")
      },
    }
    expect(chooseDriver([missing, broken, { name: "good", load: () => module }]).name).toBe("good")
    expect(() => chooseDriver([missing, broken])).toThrow(/built-in: not there; package: no binary for this platform/)
  })
})

describe("read-only SQL", () => {
  test("the documented views answer with text ids and UTC times", async () => {
    const folder = temporaryFolder()
    const { store } = openStore(folder)
    const run = ordinaryRun()
    await store.commit(run.batch())
    const sql = openReadOnlySql(folder)
    expect(sql.query("SELECT run_id, status, started_at, duration_ms FROM runs").rows).toEqual([
      { run_id: run.runId, status: "completed", started_at: "2026-03-02T10:00:00.010Z", duration_ms: 60 },
    ])
    expect(sql.query("SELECT no, kind, name, step_id FROM steps WHERE run_id = ?", [run.runId]).rows[1]).toEqual({
      no: 2,
      kind: "model",
      name: "claude-x",
      step_id: "0000000100000002",
    })
    const events = sql.query("SELECT event_id, event_type, sequence_no, timestamp_utc, source FROM events").rows
    expect(events[6]).toEqual({
      event_id: run.events[6]!.event.event_id,
      event_type: "run_completed",
      sequence_no: 6,
      timestamp_utc: "2026-03-02T10:00:00.070Z",
      source: "app",
    })
    expect(sql.query("SELECT request_hash, prompt_tokens FROM model_calls").rows).toEqual([
      { request_hash: run.bodies[0]!.hash, prompt_tokens: 100 },
    ])
    expect(sql.query("SELECT name, tool_call_id FROM tool_calls").rows).toHaveLength(1)
    expect(sql.query("SELECT hash, state FROM bodies").rows).toHaveLength(4)
    expect(sql.query("SELECT * FROM events", [], { limit: 3 })).toMatchObject({ hasMore: true, rows: { length: 3 } })
    const plan = sql
      .query("EXPLAIN QUERY PLAN SELECT * FROM events WHERE run_id = 'x'")
      .rows.map((row) => row["detail"])
    expect(plan.join("\n")).toMatch(/SEARCH event_rows USING INTEGER PRIMARY KEY/)
    sql.close()
    await store.close()
  })

  test("nothing but reading passes", async () => {
    const folder = temporaryFolder()
    const { store } = openStore(folder)
    await store.commit(ordinaryRun().batch())
    const sql = openReadOnlySql(folder)
    for (const statement of [
      "DELETE FROM run_rows",
      "WITH x AS (SELECT 1) DELETE FROM run_rows",
      "SELECT 1; DELETE FROM run_rows",
      "ATTACH ':memory:' AS other",
      "PRAGMA query_only = OFF",
      "EXPLAIN PRAGMA query_only = OFF",
      "explain query plan pragma query_only = OFF",
      "PRAGMA/**/main . query_only(0)",
      'PRAGMA "query_only" = OFF',
      "PRAGMA query_only /* */ = OFF /* */ . table_info",
      "PRAGMA writable_schema = ON",
      "pragma journal_mode = delete",
      "VACUUM INTO '/tmp/copy.db'",
      "CREATE TEMP TABLE t (a)",
      "SELECT load_extension('x')",
      "BEGIN",
      "EXPLAIN",
      "/* SELECT */ UPDATE run_rows SET app = 1",
      "",
    ]) {
      const result = (() => {
        try {
          sql.query(statement)
          return "ran"
        } catch (error) {
          return (error as { code?: string }).code
        }
      })()
      // A second statement behind the first is never run.
      expect([statement, result]).toEqual([
        statement,
        statement.startsWith("SELECT 1;") ? expect.stringMatching(/ran|SQL/) : "SQL",
      ])
    }
    expect(sql.query("SELECT count(*) AS n FROM runs").rows).toEqual([{ n: 1 }])
    expect(sql.query("PRAGMA main.table_info(run_rows)").rows.length).toBeGreaterThan(0)
    sql.close()
    await store.close()
  })
})

function overwrite(path: string, at: number, bytes: Uint8Array): void {
  const whole = readFileSync(path)
  Buffer.from(bytes).copy(whole, at)
  writeFileSync(path, whole)
}

function backToSchema4(database: ReturnType<ReturnType<typeof sqliteDriver>["open"]>): void {
  for (const { name } of database.prepare("SELECT name FROM sqlite_schema WHERE type = 'view'").all())
    database.exec(`DROP VIEW ${name}`)
  database.exec("ALTER TABLE text_runs RENAME TO new_texts")
  for (const table of ["rollup_rows", "contributor_rows", "rollup_blocks", "contributor_blocks", "open_blocks"])
    database.exec(`DROP TABLE ${table}`)
  database.exec("DROP INDEX text_runs_by_text")
  for (const statement of MIGRATIONS[0]!.statements)
    if (/ (?:text_runs|rollup_rows|text_runs_by_text) /.test(statement.slice(0, 40))) database.exec(statement)
  database.exec("INSERT OR IGNORE INTO text_runs SELECT run, class, text, event FROM new_texts")
  database.exec("DROP TABLE new_texts")
  for (const [table, column] of MIGRATIONS.slice(4)
    .flatMap(({ statements }) => statements)
    .flatMap((statement) => {
      const match = /^ALTER TABLE (\w+) ADD COLUMN (\w+)/.exec(statement)
      return match ? [[match[1]!, match[2]!]] : []
    }))
    database.exec(`ALTER TABLE ${table} DROP COLUMN ${column}`)
  database.exec("PRAGMA user_version = 4")
}

function backToSchema2(database: ReturnType<ReturnType<typeof sqliteDriver>["open"]>): void {
  backToSchema4(database)
  database.exec("UPDATE run_rows SET events = events + annotations")
  database.exec("ALTER TABLE run_rows DROP COLUMN annotations")
  database.exec("ALTER TABLE run_rows DROP COLUMN duration")
  database.exec("ALTER TABLE step_rows DROP COLUMN parent")
  database.exec("DROP TABLE runs_to_fold")
  database.exec("PRAGMA user_version = 2")
}
