import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { runDigest } from "@orangebox/contract"
import { Recorder } from "@orangebox/recorder"
import { querySql } from "@orangebox/store"
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest"
import { noServer, TestServer } from "../../../store/test/fleet/server.js"
import { backUp, copyToCluster, migrateCluster, readStore } from "../../src/index.js"

describe.skipIf(noServer !== undefined)("collectors of many machines", () => {
  let server: TestServer
  let folder: string
  let database: string
  beforeAll(async () => {
    server = await TestServer.start()
  })
  afterAll(() => server?.stop())
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "orangebox-fleet-"))
    const settings = server.settings()
    database = settings.database
    configure({
      engine: "clickhouse",
      url: settings.url,
      database,
      ...(settings.user === undefined ? {} : { user: settings.user }),
    })
    vi.stubEnv("ORANGEBOX_CLICKHOUSE_PASSWORD", settings.password ?? "")
  })
  afterEach(() => {
    vi.unstubAllEnvs()
    rmSync(folder, { recursive: true, force: true })
  })

  const configure = (store: object | undefined): void => {
    const path = join(folder, "user.json")
    writeFileSync(path, JSON.stringify(store === undefined ? {} : { store }))
    vi.stubEnv("ORANGEBOX_CONFIG", path)
  }
  const machine = (name: string): string => join(folder, name, ".orangebox")
  /** A run that a real recorder wrote into the journals of a machine. */
  const record = (data: string, entrypoint: string): string => {
    const recorder = Recorder.open({ app: "fleet", folder: data })
    const run = recorder.startRun({ entrypoint, input: `please ${entrypoint}` })
    run.step("look").log.info(`the walrus of ${entrypoint}`)
    run.complete({ output: "done" })
    recorder.close()
    return run.runId
  }
  const runsAt = (data: string) =>
    readStore({ data }, async ({ store }) => (await store.listRuns()).rows.map(({ runId }) => runId).sort())

  test("[Z-01] [Z-03] two machines write to one database, each reads the runs of both, and each is told apart", async () => {
    const [one, two] = [machine("one"), machine("two")]
    const runs = [record(one, "first")]
    await migrateCluster({ data: one })
    expect(await runsAt(one)).toEqual(runs)
    runs.push(record(two, "second"))
    // Another key would make equal secrets look different: the second machine is told what to do, and its journals wait.
    await expect(runsAt(two)).rejects.toMatchObject({ code: "STORE_KEY" })
    copyFileSync(join(one, "store.key"), join(two, "store.key"))
    expect(await runsAt(two)).toEqual([...runs].sort())
    expect(await runsAt(one)).toEqual([...runs].sort())
    await readStore({ data: one }, async ({ store }) => {
      const hosts = await store.hosts()
      expect(hosts.map(({ runs: count, isSelf }) => [count, isSelf]).sort()).toEqual([
        [1, false],
        [1, true],
      ])
      expect((await store.listRuns({ host: hosts[0]!.host })).total).toBe(2)
      expect((await store.listRuns({ host: "nowhere" })).total).toBe(0)
      expect((await store.search({ text: "the walrus of second" })).hits).toMatchObject([{ runId: runs[1] }])
    })
    expect(
      (await querySql(join(two, "store"), "SELECT count() AS n FROM runs WHERE status = 'completed'", 10)).rows,
    ).toEqual([{ n: 2 }])
  })

  test("[Z-01] while the cluster is away recording goes on, and everything is there when it is back", async () => {
    const data = machine("one")
    const runs = [record(data, "before")]
    await migrateCluster({ data })
    expect(await runsAt(data)).toEqual(runs)
    await server.kill()
    runs.push(record(data, "meanwhile"))
    await expect(runsAt(data)).rejects.toMatchObject({ code: "STORE_AWAY" })
    runs.push(record(data, "still"))
    await server.launch()
    expect(await runsAt(data)).toEqual([...runs].sort())
  })

  test("[Z-01] a folder's own recordings are copied, read back by their digests and only then switched over", async () => {
    const data = machine("one")
    configure(undefined)
    const runs = [record(data, "old"), record(data, "older")].sort()
    expect(await runsAt(data)).toEqual(runs)
    const digest = () => readStore({ data }, async ({ store }) => runDigest((await store.eventsOf(runs[0]!)).events))
    const before = await digest()
    const { url } = server.settings()
    configure({ engine: "clickhouse", url, database })
    // Neither read over nor read past: the folder's own recordings would be gone from every answer.
    await expect(runsAt(data)).rejects.toMatchObject({ code: "STORE_TWO" })
    await migrateCluster({ data })
    expect(await copyToCluster({ data })).toMatchObject({
      runs: 2,
      runsThere: 0,
      different: [],
      setAside: expect.any(String),
    })
    expect(await runsAt(data)).toEqual(runs)
    expect(await digest()).toBe(before)
    const later = record(data, "new")
    expect(await runsAt(data)).toEqual([...runs, later].sort())
    await expect(copyToCluster({ data })).rejects.toMatchObject({ code: "NOTHING_TO_COPY" })
    await expect(backUp({ data }, join(folder, "backup"))).rejects.toMatchObject({ code: "STORE_CLUSTER" })
    // The folder remembers: a command that cannot see the setting does not read the journals into a store of its own.
    configure(undefined)
    expect(await runsAt(data)).toHaveLength(3)
    configure({ engine: "clickhouse", url, database: "elsewhere" })
    await expect(runsAt(data)).rejects.toMatchObject({ code: "STORE_BOUND" })
  })
})
