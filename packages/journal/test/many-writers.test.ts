import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { listJournals, livenessOf, readProcessLine } from "@orangebox/journal"
import { expect, test } from "vitest"
import { childScript, numbersOf, readFile, temporaryFolder, upTo } from "./journal-kit.js"

test("[J-01] processes and threads that share a folder each write files of their own, and totals are exact", async () => {
  const folder = join(temporaryFolder(), "journal")
  const [processes, threads, records] = [3, 2, 1500]
  const script = childScript("many.mjs")
  const children = Array.from({ length: processes }, () =>
    spawn(process.execPath, [script, folder, String(records), String(threads)], { stdio: "inherit" }),
  )
  for (const [code] of await Promise.all(children.map((child) => once(child, "close")))) expect(code).toBe(0)

  const byWriter = new Map<string, number[]>()
  const threadsSeen = new Set<string>()
  for (const file of listJournals(folder)) {
    const { events, problems, end } = readFile(file.path)
    expect(problems).toEqual([])
    expect(end.tornBytes).toBe(0)
    byWriter.set(file.writerId, [...(byWriter.get(file.writerId) ?? []), ...numbersOf(events)])
    const identity = readProcessLine(file.path)?.process
    threadsSeen.add(`${identity?.pid}/${identity?.threadId}`)
  }
  expect(byWriter.size).toBe(processes * (threads + 1))
  expect(threadsSeen.size).toBe(processes * (threads + 1))
  for (const numbers of byWriter.values()) expect(numbers).toEqual(upTo(records))
})

test("[J-01] cluster workers and a forked child write files of their own beside their parent's", () => {
  const folder = join(temporaryFolder(), "journal")
  const family = spawnSync(process.execPath, [childScript("family.mjs"), folder, "300"], { encoding: "utf8" })
  expect(family).toMatchObject({ status: 0, stderr: "" })
  const files = listJournals(folder)
  expect(files).toHaveLength(4)
  expect(new Set(files.map((file) => file.writerId)).size).toBe(4)
  expect(new Set(files.map((file) => readProcessLine(file.path)?.process.pid)).size).toBe(4)
  for (const file of files) {
    const pid = readProcessLine(file.path)?.process.pid
    expect(readFile(file.path)).toMatchObject({ problems: [], events: upTo(300).map((i) => ({ i, pid })) })
  }
})

test("[J-01] two processes that are both pid 1 write files of their own, and neither is taken for dead", async (context) => {
  const unshare = ["--pid", "--fork", "--mount-proc"]
  if (spawnSync("unshare", [...unshare, "true"]).status !== 0) {
    return context.skip("a pid namespace needs unshare and root")
  }
  const folder = join(temporaryFolder(), "journal")
  const script = childScript("many.mjs")
  const containers = [unshare, unshare.slice(0, 2)].map((flags) =>
    spawn("unshare", [...flags, process.execPath, script, folder, "500", "0"], { stdio: "inherit" }),
  )
  for (const [code] of await Promise.all(containers.map((child) => once(child, "close")))) expect(code).toBe(0)
  const files = listJournals(folder)
  expect(new Set(files.map((file) => file.writerId)).size).toBe(2)
  for (const { path } of files) {
    const identity = readProcessLine(path)!.process
    expect(identity.pid).toBe(1)
    expect(livenessOf(identity).state).toBe("silent")
    expect(numbersOf(readFile(path).events)).toEqual(upTo(500))
  }
})

test("[J-05] writers whose clocks are decades apart, or jump as they write, keep every record in order", async (context) => {
  if (spawnSync("faketime", ["--version"]).error !== undefined) {
    return context.skip("faketime is not installed; the jumps of an injected clock are tested in files.test.ts")
  }
  const folder = join(temporaryFolder(), "journal")
  const script = childScript("many.mjs")
  const times = [["2001-01-01 00:00:00"], ["2039-01-01 00:00:00"], ["-f", "@2026-01-01 00:00:00 x100000"]]
  for (const time of times) {
    const writer = spawnSync("faketime", [...time, process.execPath, script, folder, "500", "0"], { stdio: "inherit" })
    expect(writer.status).toBe(0)
  }
  const byWriter = new Map<string, number[]>()
  for (const { path, writerId } of listJournals(folder)) {
    byWriter.set(writerId, [...(byWriter.get(writerId) ?? []), ...numbersOf(readFile(path).events)])
  }
  expect([...byWriter.values()]).toEqual(times.map(() => upTo(500)))
})

test("[J-04] a hundred writers on one processor wait for it, not for the disk: none leaves out a body or declares a gap", (context) => {
  if (spawnSync("taskset", ["-c", "0", "true"]).status !== 0) return context.skip("taskset is not installed")
  const folder = join(temporaryFolder(), "journal")
  const crowd = spawnSync("taskset", ["-c", "0", process.execPath, childScript("crowd.mjs"), folder, "100"], {
    encoding: "utf8",
  })
  expect(crowd).toMatchObject({ status: 0, stdout: "", stderr: "" })
  const files = listJournals(folder).map(({ path }) => readFile(path))
  expect(files).toHaveLength(100)
  expect(files.flatMap(({ gaps, problems }) => [...gaps, ...problems])).toEqual([])
}, 180_000)
