import { execFileSync } from "node:child_process"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { jsonOf, orangebox, orangeboxHere, type Scratch, scratchFolder } from "./command.js"

let scratch: Scratch
beforeEach(() => {
  scratch = scratchFolder()
})
afterEach(() => scratch.remove())

interface ReportJson {
  readonly summary: { readonly files_changed: number; readonly lines_added: number; readonly lines_removed: number }
  readonly artifacts: readonly { readonly type: string; readonly content: string; readonly metadata: object }[]
  readonly observability: { readonly bypasses: readonly { readonly bypass: string; readonly detail: string }[] }
}

const git = (...args: string[]): string =>
  execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.com", ...args], {
    cwd: scratch.path,
    encoding: "utf8",
  })

/** A repository with a committed file, a dirty one and one that git ignores. */
function repository(): void {
  git("init", "-q")
  mkdirSync(join(scratch.path, "src"))
  writeFileSync(join(scratch.path, "src/a.txt"), "one\n")
  writeFileSync(join(scratch.path, "dirty.txt"), "x\n")
  writeFileSync(join(scratch.path, ".gitignore"), "ignored\n.orangebox\n")
  git("add", ".")
  git("commit", "-q", "-m", "first")
  writeFileSync(join(scratch.path, "dirty.txt"), "x\ndirty before\n")
}

const CHANGES = `
const fs = require("node:fs")
const { execFileSync } = require("node:child_process")
fs.appendFileSync("src/a.txt", "two\\n")
fs.writeFileSync("ignored", "secret")
fs.writeFileSync("kept.txt", "committed by the agent\\n")
fs.writeFileSync("picture.bin", Buffer.from([0, 1, 2, 255]))
execFileSync("git", ["add", "kept.txt"])
execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-q", "-m", "second"])
`

const run = (...options: string[]) =>
  orangebox(["run", "--quiet", ...options, "--", process.execPath, "-e", CHANGES], { cwd: scratch.path })
const here = (...args: string[]) => orangeboxHere([...args, "--data", join(scratch.path, ".orangebox")])

test("[D-04] what a command changes in its work tree is recorded as diffs, also what it committed, and not what was there before", async () => {
  repository()
  expect((await run()).exitCode).toBe(0)
  const report = jsonOf<ReportJson>(await here("report", "--json"))
  const diffs = report.artifacts.filter(({ type }) => type === "diff")
  expect(diffs.map(({ metadata }) => metadata)).toMatchObject([
    { path: "kept.txt", lines_added: 1, lines_removed: 0 },
    { path: "picture.bin", lines_added: null, lines_removed: null },
    { path: "src/a.txt", lines_added: 1, lines_removed: 0 },
  ])
  expect(diffs[2]!.content).toBe("--- a/src/a.txt\n+++ b/src/a.txt\n@@ -1 +1,2 @@\n one\n+two\n")
  expect(report.summary).toMatchObject({ files_changed: 3, lines_added: 2, lines_removed: 0 })
  expect((await here("verify")).exitCode).toBe(0)
})

test("[D-07] changes that no recorded action made are reported as a bypass", async () => {
  repository()
  await run()
  const { observability } = jsonOf<ReportJson>(await here("report", "--json"))
  expect(observability.bypasses.map(({ bypass, detail }) => `${bypass}: ${detail}`)).toEqual([
    "workspace_change: kept.txt changed and no action changed it",
    "workspace_change: picture.bin changed and no action changed it",
    "workspace_change: src/a.txt changed and no action changed it",
  ])
  const verified = await here("verify", "last")
  expect(verified.exitCode).toBe(0)
  expect(verified.stdout).toContain("its trail has holes: 0 observability failures and 3 bypasses")
})

test("the index of the repository stays as it is, to the byte", async () => {
  repository()
  const index = join(scratch.path, ".git/index")
  const before = readFileSync(index)
  await orangebox(["run", "--quiet", "--", process.execPath, "-e", "0"], { cwd: scratch.path })
  expect(readFileSync(index).equals(before)).toBe(true)
  const report = jsonOf<ReportJson>(await here("report", "--json"))
  expect(report.artifacts).toEqual([])
  expect(report.observability.bypasses).toEqual([])
})

test("nothing is looked at outside of a work tree, nor with --no-workspace", async () => {
  const artifacts = "SELECT count(*) FROM events WHERE event_type = 'artifact_recorded'"
  const count = async (): Promise<unknown> =>
    jsonOf<{ rows: unknown[][] }>(
      await orangebox(["sql", artifacts, "--json", "--data", join(scratch.path, ".orangebox")]),
    ).rows[0]![0]
  await orangebox(["run", "--quiet", "--", process.execPath, "-e", "0"], { cwd: scratch.path })
  expect(await count()).toBe(0)
  repository()
  await run("--no-workspace")
  expect(await count()).toBe(0)
})
