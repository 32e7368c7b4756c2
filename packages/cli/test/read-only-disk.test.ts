import { spawnSync } from "node:child_process"
import { appendFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Recorder } from "@orangebox/recorder"
import { expect, onTestFinished, test } from "vitest"
import { jsonOf, orangebox, orangeboxHere } from "./command.js"

/** A folder that can be written, and the same as evidence is handed on: read-only. Undefined where nothing may be mounted. */
function evidenceDisk(): { readonly written: string; readonly data: string } | undefined {
  const folder = mkdtempSync(join(tmpdir(), "orangebox-read-only-"))
  const [source, target] = [join(folder, "source"), join(folder, "evidence")]
  for (const path of [source, target]) mkdirSync(path, { mode: 0o700 })
  const mount = (...args: string[]): boolean => spawnSync("mount", args).status === 0
  const isBound = mount("--bind", source, target)
  onTestFinished(() => {
    if (isBound) spawnSync("umount", ["-l", target])
    rmSync(folder, { recursive: true, force: true })
  })
  if (!isBound || !mount("-o", "remount,bind,ro", target)) return undefined
  return { written: join(source, "data"), data: join(target, "data") }
}

async function record(folder: string): Promise<void> {
  const recorder = Recorder.open({ app: "evidence", folder })
  const run = recorder.startRun({ entrypoint: "fix", input: "fix the leap year" })
  await run.tool({ name: "Bash", args: { command: "rm -rf build" } }, () => "gone")
  run.complete({ output: "done" })
  recorder.close()
}

test("[O-01] a store on a read-only disk is read, verified and checked as it is; what would have to write says so", async (context) => {
  const disk = evidenceDisk()
  if (disk === undefined) return context.skip("mounting needs root")
  await record(disk.written)
  await orangeboxHere(["runs", "--data", disk.written])
  const here = (...args: string[]) => orangeboxHere([...args, "--data", disk.data])
  expect((await here("show", "last")).stdout).toContain("rm -rf build")
  expect((await here("search", "leap")).stdout).toContain("fix the leap year")
  expect(jsonOf(await here("verify", "--json"))).toMatchObject({ ok: true })
  expect(await orangebox(["sql", "SELECT 1 FROM runs", "--data", disk.data])).toMatchObject({ exitCode: 0 })
  expect(await here("replay", "last")).toMatchObject({ exitCode: 0 })
  const checked = await here("check", "last", "--rule", "commands.deny rm", "--record")
  expect([checked.exitCode, checked.stderr]).toEqual([3, expect.stringContaining("the disk can only be read")])
  expect((await here("check", "last", "--rule", "commands.deny rm")).exitCode).toBe(1)
  const pruned = await here("prune")
  expect([pruned.exitCode, pruned.stderr]).toEqual([3, expect.stringContaining("nothing can be written to the disk")])
})

test("[O-01] journals that nobody collected before the disk became read-only are counted as behind", async (context) => {
  const disk = evidenceDisk()
  if (disk === undefined) return context.skip("mounting needs root")
  await record(disk.written)
  await orangeboxHere(["runs", "--data", disk.written])
  await record(disk.written)
  const { stdout, stderr } = await orangeboxHere(["runs", "--data", disk.data])
  expect(stderr).toMatch(/behind by .* of journal: nothing can be written to this disk/)
  expect(stdout).toContain("1 run")
})

test("[O-01] a store that was copied in use, its log beside it, is refused on a read-only disk and not read without it", async (context) => {
  const disk = evidenceDisk()
  if (disk === undefined) return context.skip("mounting needs root")
  await record(disk.written)
  await orangeboxHere(["runs", "--data", disk.written])
  appendFileSync(join(disk.written, "store/trace.db-wal"), "what was not written back")
  const { exitCode, stderr } = await orangeboxHere(["runs", "--data", disk.data])
  expect([exitCode, stderr]).toEqual([3, expect.stringContaining("its log cannot be read")])
})
