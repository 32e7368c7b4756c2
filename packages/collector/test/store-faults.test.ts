import { execFileSync } from "node:child_process"
import { once } from "node:events"
import { appendFileSync, existsSync, openSync, readdirSync, rmSync, writeSync } from "node:fs"
import { join } from "node:path"
import { catchUp, collectorStatus, rebuildStore, type WatchStatus, watch } from "@orangebox/collector"
import { listJournals } from "@orangebox/journal"
import { expect, onTestFinished, test } from "vitest"
import { collectInChild, ended, startStarvedCollector } from "./child-processes.js"
import {
  dataFolder,
  journalFolderOf,
  openWriter,
  readRun,
  readStore,
  recordedFolder,
  recordRun,
  sayGoodbye,
  storeFolderOf,
} from "./collector-kit.js"
import { sampleBody } from "./sample-body.mjs"
import { SampleRun } from "./sample-run.mjs"

/** A small disk under the store; undefined where this user may not mount one. */
function smallDisk(folder: string, size: string): { grow(size: string): void } | undefined {
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${size},mode=0700`, "tmpfs", folder], { stdio: "ignore" })
  } catch {
    return undefined
  }
  onTestFinished(() => void execFileSync("umount", ["-l", folder]))
  return { grow: (to) => void execFileSync("mount", ["-o", `remount,size=${to}`, folder]) }
}

test("a full disk under the store rolls the batch back, keeps the journals, says so, and all is well once there is room (fault 38)", async (context) => {
  const folder = dataFolder()
  const disk = smallDisk(storeFolderOf(folder), "1500k")
  if (disk === undefined) return context.skip("mounting a small disk needs root")
  const journal = openWriter(folder)
  const run = new SampleRun(journal)
  run.start()
  for (let i = 0; i < 40; i++) run.log(`${i}`, [sampleBody(39 * i)])
  sayGoodbye(journal)

  const report = await catchUp({ dataFolder: folder })
  expect(report.failure).toMatchObject({ code: "STORE_FULL" })
  expect(report.behindBytes).toBeGreaterThan(0)

  const abort = new AbortController()
  const statuses: WatchStatus[] = []
  await watch({
    dataFolder: folder,
    signal: abort.signal,
    intervalMs: 20,
    onStatus: (status) => {
      statuses.push(status)
      if (status.kind === "failing") disk.grow("64m")
      if (status.kind === "collected") abort.abort()
    },
  })

  expect(statuses.map((status) => status.kind)).toContain("failing")
  expect((await readRun(folder, run.runId)).messages).toEqual(Array.from({ length: 40 }, (_, i) => `${i}`))
  expect(await readStore(folder).integrity({ bodies: "all" })).toEqual([])
})

test("a damaged database is put aside, and what the journals still hold is read into a fresh one (fault 40)", async () => {
  const { folder, run } = recordedFolder(20)
  await catchUp({ dataFolder: folder })
  const fd = openSync(join(storeFolderOf(folder), "trace.db"), "r+")
  writeSync(fd, Buffer.alloc(4096, "not a database "), 0, 4096, 0)

  const report = await catchUp({ dataFolder: folder })

  expect(report).toMatchObject({ events: 22, setAside: { path: expect.stringContaining("corrupt") } })
  expect(existsSync(report.setAside!.path)).toBe(true)
  expect((await readRun(folder, run.runId)).messages).toHaveLength(20)
})

test("a collector without a file descriptor left waits until it has some, and misses nothing (fault 49)", async (context) => {
  if (process.platform === "win32") return context.skip("needs ulimit")
  const folder = dataFolder()
  const journal = openWriter(folder, { maxFileBytes: 4096 })
  recordRun(journal)
  const collector = await startStarvedCollector(folder)
  const run = new SampleRun(journal)
  run.start()
  for (let i = 0; i < 50; i++) run.log(`${i}`, i % 10 === 0 ? [Buffer.alloc(5000, `${i}`)] : [])
  await once(collector.stdout!, "data")
  collector.kill("SIGTERM")
  await ended(collector)

  expect(collector.exitCode).toBe(0)
  expect((await readRun(folder, run.runId)).messages).toEqual(Array.from({ length: 50 }, (_, i) => `${i}`))
  expect(await readStore(folder).problems()).toEqual([])
})

test("a file deleted before it was read to its end is a gap (fault 9)", async () => {
  const folder = dataFolder()
  const journal = openWriter(folder)
  const run = new SampleRun(journal)
  run.start()
  const [file] = listJournals(journalFolderOf(folder))
  appendFileSync(file!.path, '{"crc":"half a li')
  const abort = new AbortController()
  let passes = 0
  await watch({
    dataFolder: folder,
    signal: abort.signal,
    intervalMs: 10,
    onStatus: ({ kind }) => {
      if (kind !== "collected") return
      passes++
      if (passes === 1) rmSync(file!.path)
      else abort.abort()
    },
  })

  expect((await readStore(folder).status()).gaps).toBe(1)
})

test("a body far larger than a batch is taken in pieces: memory stays that of a batch (faults 20, 48)", async () => {
  const folder = dataFolder()
  const journal = openWriter(folder)
  const run = new SampleRun(journal)
  run.start()
  const { event } = run.log("with a large body", [Buffer.alloc(256 * 1024 * 1024, "the same words over and over ")])
  sayGoodbye(journal)

  const { maxRssBytes } = await collectInChild(folder)

  expect(maxRssBytes).toBeLessThan(320 * 1024 * 1024)
  expect(await readStore(folder).bodyInfo(event.payload.body_ref)).toMatchObject({ byteSize: 256 * 1024 * 1024 })
})

test("[L-06] a watching collector prunes when it starts and on a cadence, with the policy it was given", async () => {
  const { folder, run } = recordedFolder()
  await catchUp({ dataFolder: folder })

  const abort = new AbortController()
  const pruned: WatchStatus[] = []
  await watch({
    dataFolder: folder,
    signal: abort.signal,
    intervalMs: 5,
    pruneEveryMs: 10,
    retention: { maxAgeMs: -1000 },
    onStatus: (status) => {
      if (status.kind === "pruned") pruned.push(status)
      if (pruned.length === 3) abort.abort()
    },
  })

  expect(pruned[0]).toMatchObject({ report: { runsPruned: 1 } })
  expect(await readStore(folder).getRun(run.runId)).toBeUndefined()
})

test("what retention took does not come back when its journal is read again (S-03)", async () => {
  const { folder, run } = recordedFolder()
  await catchUp({ dataFolder: folder })
  const abort = new AbortController()
  await watch({
    dataFolder: folder,
    signal: abort.signal,
    retention: { maxAgeMs: -1000 },
    onStatus: ({ kind }) => kind === "pruned" && abort.abort(),
  })
  const fd = openSync(join(storeFolderOf(folder), "trace.db"), "r+")
  writeSync(fd, Buffer.alloc(4096, "not a database "), 0, 4096, 0)

  expect(await catchUp({ dataFolder: folder })).toMatchObject({ buried: 5, events: 0 })
  expect(await readStore(folder).getRun(run.runId)).toBeUndefined()
})

test("[L-02] a living writer's lines are readable while a collector watches, and its status says how it stands", async () => {
  const folder = dataFolder()
  const journal = openWriter(folder)
  const run = new SampleRun(journal)
  run.start()
  const abort = new AbortController()
  const seen: number[] = []
  const watching = watch({
    dataFolder: folder,
    signal: abort.signal,
    intervalMs: 10,
    onStatus: (status) => {
      if (status.kind !== "collected") return
      seen.push(status.report.events)
      if (seen.length < 4) run.log(`line ${seen.length}`)
      else abort.abort()
    },
  })
  await watching

  expect((await readRun(folder, run.runId)).messages).toEqual(["line 1", "line 2", "line 3"])
  expect(await collectorStatus(folder)).toMatchObject({
    lagBytes: 0,
    files: 1,
    writers: [{ writerId: journal.writerId, state: "running", records: 4 }],
    problems: [],
    lockHolder: undefined,
    store: { events: 4 },
  })
})

test("a store is rebuilt from its own events to the same runs", async () => {
  const { folder, run } = recordedFolder()

  const { caughtUp, rebuilt } = await rebuildStore({ dataFolder: folder })

  expect(caughtUp).toMatchObject({ events: 5 })
  expect(rebuilt).toMatchObject({ events: 5, runs: 1 })
  expect(await readRun(folder, run.runId)).toMatchObject({
    status: "completed",
    messages: ["line 0", "line 1", "line 2"],
  })
})

test("a status can be asked for where nothing was recorded yet, and asking changes nothing", async () => {
  const folder = dataFolder()
  const before = readdirSync(folder)
  expect(await collectorStatus(join(folder, "none"))).toMatchObject({ files: 0, lagBytes: 0, store: undefined })
  expect(readdirSync(folder)).toEqual(before)
})
