import { catchUp, collectorStatus, rebuildStore } from "@orangebox/collector"
import { acquireStoreLock } from "@orangebox/store"
import { expect, onTestFinished, test } from "vitest"
import { ended, killed, startCollector, startWriter } from "./child-processes.js"
import { dataFolder, openWriter, readRun, recordRun, storeFolderOf } from "./collector-kit.js"

function holdLock(folder: string): { release(): void } {
  const lock = acquireStoreLock(storeFolderOf(folder))
  if (!lock.isHeld) throw new Error("the lock should be free")
  onTestFinished(() => lock.release())
  return lock
}

test("[L-05] a reader that meets another collector waits for it, then says by how much it is behind and who holds the store", async () => {
  const folder = dataFolder()
  recordRun(openWriter(folder))
  const lock = holdLock(folder)

  const report = await catchUp({ dataFolder: folder, waitMs: 100 })
  expect(report.behindBytes).toBeGreaterThan(500)
  expect(report.heldBy?.pid).toBe(process.pid)
  expect(await collectorStatus(folder)).toMatchObject({
    lagBytes: report.behindBytes,
    lagRecords: 6,
    isLagExact: true,
    lockHolder: { pid: process.pid },
  })
  await expect(rebuildStore({ dataFolder: folder })).rejects.toMatchObject({ code: "COLLECTOR_RUNNING" })

  lock.release()
  expect(await catchUp({ dataFolder: folder, waitMs: 100 })).toMatchObject({ behindBytes: 0, events: 5 })
  expect(await collectorStatus(folder)).toMatchObject({ lagBytes: 0, lagRecords: 0, lockHolder: undefined })
})

test("[L-05] a reader beside a working collector finds what was written before it asked", async () => {
  const folder = dataFolder()
  const collector = await startCollector(folder)
  const run = recordRun(openWriter(folder), 50)

  expect(await catchUp({ dataFolder: folder, waitMs: 20_000 })).toMatchObject({ behindBytes: 0 })
  expect((await readRun(folder, run.runId)).messages).toHaveLength(50)

  collector.kill("SIGTERM")
  await ended(collector)
})

test("[L-05] a stopped collector keeps the store; when it is killed, the one that waited takes over (fault 35)", async () => {
  const folder = dataFolder()
  const first = await startCollector(folder)
  first.kill("SIGSTOP")
  const run = recordRun(openWriter(folder))
  expect(await catchUp({ dataFolder: folder, waitMs: 300 })).toMatchObject({ heldBy: { pid: first.pid } })

  const second = startCollector(folder)
  await killed(first)
  await second
  expect(await catchUp({ dataFolder: folder, waitMs: 20_000 })).toMatchObject({ behindBytes: 0 })
  expect((await readRun(folder, run.runId)).messages).toHaveLength(3)
})

test("[L-05] a collector that is told to end drains the journals first", async () => {
  const folder = dataFolder()
  const collector = await startCollector(folder)
  const writer = await startWriter(folder, "open")
  collector.kill("SIGTERM")
  await ended(collector)

  expect(collector.exitCode).toBe(0)
  expect((await readRun(folder, writer.runId)).types).toEqual(["run_started", "step_started"])
})
