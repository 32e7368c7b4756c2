import { execFileSync } from "node:child_process"
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { type Finished, jsonOf, orangebox, orangeboxHere, scratchFolder } from "./command.js"
import { shellAgent, startScriptedModel } from "./shell-agent.js"

const scratch = scratchFolder()
const repo = join(scratch.path, "repo")
const data = join(scratch.path, "data")
const file = join(repo, "a.txt")
let source: string

afterAll(() => scratch.remove())

beforeAll(async () => {
  mkdirSync(repo)
  const git = (...args: string[]): string =>
    execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.com", ...args], {
      cwd: repo,
      encoding: "utf8",
    })
  git("init", "-q", "-b", "main")
  writeFileSync(file, "one\n")
  git("add", ".")
  git("commit", "-q", "-m", "first")
  const model = await startScriptedModel(["cat a.txt", "sed -i s/one/two/ a.txt", { says: "changed" }], data)
  const args = ["run", "--quiet", "--data", data, "--", ...shellAgent]
  await orangebox(args, { cwd: repo, env: { ANTHROPIC_BASE_URL: model.origin } })
  await model.close()
  source = jsonOf<{ runs: { run_id: string }[] }>(await orangeboxHere(["runs", "--json", "--data", data])).runs[0]!
    .run_id
  // Where an agent has been, its work is done: run again there, it would find other files.
  writeFileSync(file, "another day\n")
})

const replay = (...more: readonly string[]): Promise<Finished> =>
  orangebox(["replay", source, "--data", data, "--allow-tool-exec", ...more, "--", ...shellAgent], {
    cwd: repo,
    env: { ANTHROPIC_BASE_URL: "http://127.0.0.1:9" },
  })

test("[P-07] replay --workspace runs an agent's tools on the files of then, in a copy; the tree itself is not touched", async () => {
  const replayed = await replay("--workspace")
  expect(replayed.stderr).toContain("it runs in a copy of the work tree")
  expect(replayed.stderr).toContain("certificate: issued")
  expect([replayed.stdout, replayed.exitCode]).toEqual(["changed\n", 0])
  expect(readFileSync(file, "utf8")).toBe("another day\n")
  const diff = await orangeboxHere(["diff", "last~1", "last", "--data", data])
  expect([diff.stdout.split("\n")[0], diff.exitCode]).toEqual([expect.stringContaining(" same "), 0])
})

test("[P-07] without it the files are those of today, and what tools find in them diverges", async () => {
  const replayed = await replay("--on-drift", "halt")
  expect([replayed.exitCode, replayed.stderr.includes("certificate: not issued")]).toEqual([1, true])
  expect(replayed.stderr).toMatch(/recorded "one"\s+now "another day"/)
})

test("[P-07] a copy that is kept is where the command says, with what the agent did", async () => {
  const { stderr } = await replay("--workspace", "--keep-workspace")
  const [, kept] = /the copy of the work tree is in (\S+)/.exec(stderr) ?? []
  if (kept === undefined) throw new Error(stderr)
  expect(dirname(dirname(kept))).toBe(tmpdir())
  const left = readFileSync(join(kept, "a.txt"), "utf8")
  rmSync(dirname(kept), { recursive: true })
  expect(left).toBe("two\n")
})

test("[P-07] a run without a recorded work tree is not run elsewhere instead", async () => {
  const here = scratchFolder()
  try {
    const model = await startScriptedModel([{ says: "nothing to do" }])
    const env = { ANTHROPIC_BASE_URL: model.origin }
    await orangebox(["run", "--quiet", "--no-workspace", "--data", here.path, "--", ...shellAgent], { cwd: repo, env })
    await model.close()
    const args = ["replay", "last", "--data", here.path, "--workspace", "--", ...shellAgent]
    const { exitCode, stderr } = await orangebox(args, { cwd: repo, env })
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining("no work tree was recorded")])
  } finally {
    here.remove()
  }
})
