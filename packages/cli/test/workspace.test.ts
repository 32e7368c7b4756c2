import { execFileSync } from "node:child_process"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { jsonOf, orangebox, orangeboxHere, type Scratch, scratchFolder } from "./command.js"
import { type ScriptLine, shellAgent, startScriptedModel } from "./shell-agent.js"

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

interface DecisionsJson {
  readonly decisions: readonly {
    readonly agent_action: {
      readonly action_type: string
      readonly artifacts: readonly { readonly metadata: { readonly path: string | null } }[]
    }
  }[]
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

/** What an agent with a shell leaves behind that does these commands, one for each model call. */
async function runAgent(script: readonly ScriptLine[], ...options: string[]): Promise<void> {
  const model = await startScriptedModel(script, join(scratch.path, ".orangebox"))
  try {
    const args = ["run", "--quiet", ...options, "--", ...shellAgent]
    const { exitCode, stderr } = await orangebox(args, {
      cwd: scratch.path,
      env: { ANTHROPIC_BASE_URL: model.origin },
    })
    if (exitCode !== 0) throw new Error(stderr)
  } finally {
    await model.close()
  }
}

test("[D-04] what a shell command changes is recorded at the model call that follows it, and what changed nothing leaves no diff", async () => {
  repository()
  await runAgent(["echo two >> src/a.txt", "cat src/a.txt", "chmod +x src/a.txt; rm dirty.txt; printf x > new.txt"])
  const { stdout } = await here("show")
  const told = stdout.split("\n").map((line) => line.replace(/^#\d+/, "").trim())
  const lines = told.filter((line) => /tool bash|workspace "\d|artifact diff/.test(line))
  expect(lines.map((line) => line.replace(/^[│├└≈ ]+/, "").replace(/ {2,}.*/, ""))).toEqual([
    'workspace "1 file differs"',
    'tool bash "echo two >> src/a.txt"',
    'workspace "1 file changed"',
    "artifact diff src/a.txt",
    'tool bash "cat src/a.txt"',
    expect.stringContaining("tool bash"),
    'workspace "3 files changed"',
    "artifact diff dirty.txt",
    "artifact diff new.txt",
    "artifact diff src/a.txt",
  ])
  const { artifacts, summary, observability } = jsonOf<ReportJson>(await here("report", "--json"))
  expect(artifacts.filter(({ type }) => type === "diff").map(({ content }) => content)).toEqual([
    "--- a/src/a.txt\n+++ b/src/a.txt\n@@ -1 +1,2 @@\n one\n+two\n",
    "--- a/dirty.txt\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-x\n-dirty before\n",
    "--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n",
    "--- a/src/a.txt\n+++ b/src/a.txt\nold mode 100644\nnew mode 100755\n",
  ])
  expect(summary).toMatchObject({ files_changed: 3 })
  expect(observability.bypasses).toEqual([])
  expect((await here("verify", "last")).exitCode).toBe(0)
  const { decisions } = jsonOf<DecisionsJson>(await here("decisions", "--json"))
  const commands = decisions.filter(({ agent_action }) => agent_action.action_type === "command")
  expect(
    commands.map(({ agent_action: { artifacts } }) => artifacts.flatMap(({ metadata: { path } }) => path ?? [])),
  ).toEqual([["src/a.txt"], [], ["dirty.txt", "new.txt", "src/a.txt"]])
})
