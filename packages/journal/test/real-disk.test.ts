import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { listJournals, readReserve } from "@orangebox/journal"
import { describe, expect, onTestFinished, test } from "vitest"
import { childScript, event, numbersOf, openTestJournal, readFolder, temporaryFolder, upTo } from "./journal-kit.js"

// Faults of a real kernel, where this machine lets us cause them.

function mountTmpfs(options: string): string | undefined {
  const folder = join(temporaryFolder(), "mnt")
  mkdirSync(folder)
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", folder])
  if (mounted.status !== 0) return undefined
  onTestFinished(() => void spawnSync("umount", ["-l", folder]))
  return folder
}

describe("a full disk", () => {
  test("[J-04] [J-08] 64 KiB of tmpfs: every acknowledged record is there, drops are told, and room brings recording back", async (context) => {
    const mount = mountTmpfs("size=64k,mode=0700")
    if (mount === undefined) return context.skip("mounting a tmpfs needs root")
    const filler = join(mount, "filler")
    writeFileSync(filler, Buffer.alloc(20_000))
    const { journal, folder, warnings } = openTestJournal({ folder: join(mount, "journal") })
    const acknowledged: number[] = []
    for (let i = 0; i < 400; i++) if (journal.append(event(i, [], "x".repeat(i % 500))).written) acknowledged.push(i)
    expect(acknowledged.length).toBeGreaterThan(20)
    expect(acknowledged.length).toBeLessThan(400)
    expect(numbersOf(readFolder(folder).events)).toEqual(acknowledged)
    expect(warnings.map((warning) => warning.code)).toEqual(["JOURNAL_WRITE"])

    journal.lastWords("no room")
    const reserve = readReserve(listJournals(folder)[0]!.reservePath)
    expect(reserve).toMatchObject({ recordsDropped: 400 - acknowledged.length, lastWords: { text: "no room" } })
    expect(() => journal.appendDurable(event(400, [Buffer.alloc(30_000)]))).toThrow(/SHORT_WRITE|ENOSPC/)

    rmSync(filler)
    await expect.poll(() => readFolder(folder).gaps.length, { timeout: 10_000 }).toBe(1)
    expect(journal.append(event(401)).written).toBe(true)
    const { events, gaps } = readFolder(folder)
    expect(numbersOf(events)).toEqual([...acknowledged, 401])
    expect(gaps).toMatchObject([{ reason: "write_failed", records: 401 - acknowledged.length }])
    expect(warnings).toHaveLength(1)
  })

  test("[J-04] a read-only file system is refused in clear words, and accepted once it is writable", async (context) => {
    const mount = mountTmpfs("size=1m,mode=0700")
    if (mount === undefined) return context.skip("mounting a tmpfs needs root")
    const remount = (how: string) => spawnSync("mount", ["-o", `remount,${how}`, mount]).status === 0
    expect(remount("ro")).toBe(true)
    expect(() => openTestJournal({ folder: join(mount, "journal") })).toThrow(/cannot be created \(EROFS\)/)
    expect(remount("rw")).toBe(true)
    expect(openTestJournal({ folder: join(mount, "journal") }).journal.append(event(0)).written).toBe(true)
  })
})

async function runSlowAppender(
  command: string[],
  beforeStart: (announced: { pid: number; path: string }) => Promise<void> = async () => {},
): Promise<{ folder: string; acknowledged: number[]; dropped: number }> {
  const folder = join(temporaryFolder(), "journal")
  const [program, ...args] = [...command, process.execPath, childScript("slow-appender.mjs"), folder]
  const child: ChildProcessWithoutNullStreams = spawn(program!, args)
  let text = ""
  child.stdout.on("data", (bytes) => {
    text += bytes
  })
  await once(child.stdout, "data")
  const announced = JSON.parse(text)
  text = ""
  await beforeStart(announced)
  child.stdin.write("go\n")
  const [code] = await once(child, "close")
  expect(code).toBe(0)
  const { acknowledged, stats } = JSON.parse(text)
  return { folder, acknowledged, dropped: stats.recordsDropped }
}

/** Puts strace on the process, so that writes to the file go wrong as told; false where strace is missing or forbidden. */
async function injectFault(pid: number, path: string, fault: string): Promise<boolean> {
  const strace = spawn("strace", ["-f", "-p", String(pid), "-P", path, "-e", `inject=write:${fault}`], {
    stdio: ["ignore", "ignore", "pipe"],
  })
  onTestFinished(() => void strace.kill("SIGKILL"))
  return new Promise((resolve) => {
    strace.on("error", () => resolve(false))
    strace.on("close", () => resolve(false))
    strace.stderr.on("data", (bytes: Buffer) => {
      if (bytes.includes("attached")) resolve(true)
    })
  })
}

describe("faults put in by strace", () => {
  test.for([
    ["ENOSPC now and then", "error=ENOSPC:when=5+11"],
    ["EDQUOT now and then", "error=EDQUOT:when=3+7"],
    ["EIO", "error=EIO:when=9"],
    ["a kernel that says it took nothing, three times", "retval=0:when=4..6"],
  ] as const)(
    "[J-04] %s: what was acknowledged is there, once, and the rest is in a gap",
    async ([, fault], context) => {
      let injected = false
      const { folder, acknowledged, dropped } = await runSlowAppender([], async ({ pid, path }) => {
        injected = await injectFault(pid, path, fault)
      })
      if (!injected) return context.skip("strace is missing or may not attach")
      const { events, gaps } = readFolder(folder)
      expect(numbersOf(events)).toEqual(acknowledged)
      expect(gaps.reduce((count, gap) => count + gap.records, 0)).toBe(dropped)
      expect(acknowledged.length + dropped).toBe(150)
    },
  )
})

test("[J-04] a limit on file size (EFBIG) leads from file to file, and the process lives", async (context) => {
  if (spawnSync("prlimit", ["--version"]).error !== undefined) return context.skip("prlimit is not installed")
  const { folder, acknowledged, dropped } = await runSlowAppender(["prlimit", "--fsize=32768"])
  const { events, gaps } = readFolder(folder)
  expect(numbersOf(events)).toEqual(acknowledged)
  expect(listJournals(folder).length).toBeGreaterThan(2)
  expect(listJournals(folder).every((file) => statSync(file.path).size <= 32_768)).toBe(true)
  expect(dropped).toBeGreaterThan(0)
  const missing = upTo(150).filter((i) => !acknowledged.includes(i))
  expect(gaps.reduce((count, gap) => count + gap.records, 0)).toBe(missing.length)
})
