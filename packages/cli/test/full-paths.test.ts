import { execFileSync } from "node:child_process"
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { delimiter, join } from "node:path"
import { afterEach, expect, test } from "vitest"
import { type Finished, jsonOf, orangebox, orangeboxHere, type Scratch, scratchFolder } from "./command.js"
import { type ScriptLine, shellAgent, startScriptedModel } from "./shell-agent.js"

let scratch: Scratch
const repo = (): string => join(scratch.path, "repo")
/** Inside of the work tree, where it is by default. */
const data = (): string => join(repo(), ".orangebox")
const file = (): string => join(repo(), "a.txt")
afterEach(() => scratch.remove())

function repository(): void {
  scratch = scratchFolder()
  mkdirSync(repo())
  const git = (...args: string[]): void =>
    void execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.com", ...args], { cwd: repo() })
  git("init", "-q", "-b", "main")
  writeFileSync(file(), "one\n")
  git("add", ".")
  git("commit", "-q", "-m", "first")
}

async function record(script: readonly ScriptLine[], options: { readonly env?: Record<string, string> } = {}) {
  const model = await startScriptedModel(script, options.env ? undefined : data())
  const finished = await orangebox(["run", "--quiet", "--", ...shellAgent], {
    cwd: repo(),
    env: { ANTHROPIC_BASE_URL: model.origin, ...options.env },
  })
  await model.close()
  expect(finished.exitCode, finished.stderr).toBe(0)
}

const lastRun = async (): Promise<string> =>
  jsonOf<{ runs: { run_id: string }[] }>(await orangeboxHere(["runs", "--json", "--data", data()])).runs[0]!.run_id

async function forkAt(nth: number, script: readonly ScriptLine[], env: Record<string, string> = {}) {
  const source = await lastRun()
  const { rows } = jsonOf<{ rows: { type: string; n: number; kind: string }[] }>(
    await orangeboxHere(["show", source, "--json", "--data", data()]),
  )
  const at = rows.filter(({ type, kind }) => type === "step" && kind === "model")[nth - 1]!.n
  const model = await startScriptedModel([...Array(nth - 1).fill("exit 7"), ...script])
  const finished: Finished = await orangebox(
    ["fork", source, "--at", `#${at}`, "--allow-effects", "bash", "--", ...shellAgent],
    { cwd: repo(), env: { ANTHROPIC_BASE_URL: model.origin, ...env } },
  )
  await model.close()
  return { ...finished, heard: model.heard }
}

test("[P-11] an agent whose tools name full paths forks in a copy: it finds the files of then, and the original stays", async () => {
  repository()
  await record([`echo two >> ${file()}`, `cat ${file()}; pwd`, { says: "done" }])
  writeFileSync(file(), "another day\n")
  const { exitCode, stderr, heard } = await forkAt(3, [
    `cat ${file()}; git -C ${repo()} log --format=%s; git status --porcelain; echo made > ${repo()}/made.txt; ls -a`,
  ])
  expect(stderr).toContain("it runs in a copy of the work tree")
  expect(heard[0]).toBe(`one\ntwo\n${repo()}\n`)
  expect(heard.at(-1)).toBe("one\ntwo\nfirst\n M a.txt\n.\n..\n.git\n.orangebox\na.txt\nmade.txt\n")
  expect([exitCode, readFileSync(file(), "utf8")]).toEqual([0, "another day\n"])
  expect(existsSync(join(repo(), "made.txt"))).toBe(false)
  // A run in the copy is recorded where all runs are, and its tree is the one the agent saw.
  const { stdout } = await orangeboxHere(["show", "last", "--data", data()])
  expect(stdout).toContain("1 file changed")
})

test("[P-11] and replays in a copy, certified, with what its prompts say of the folder", async () => {
  repository()
  await record([`sed -i s/one/two/ ${file()}; pwd`, `cat ${file()}`, { says: "done" }])
  writeFileSync(file(), "another day\n")
  const { exitCode, stdout, stderr } = await orangebox(
    ["replay", await lastRun(), "--workspace", "--allow-tool-exec", "--", ...shellAgent],
    { cwd: repo(), env: { ANTHROPIC_BASE_URL: "http://127.0.0.1:9" } },
  )
  expect(stderr).toContain("certificate: issued")
  expect([exitCode, stdout, readFileSync(file(), "utf8")]).toEqual([0, "done\n", "another day\n"])
})

test("[P-11] a fork at a call that nobody looked at does not undo what the agent did before it", async () => {
  repository()
  // A git that takes longer than a call waits: no look is ever finished, but for those before and after.
  const slow = join(scratch.path, "slow")
  mkdirSync(slow)
  const real = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim()
  writeFileSync(
    join(slow, "git"),
    `#!/bin/sh\nfor word do [ "$word" = status ] && sleep 1.5; done\nexec ${real} "$@"\n`,
  )
  chmodSync(join(slow, "git"), 0o755)
  await record([`echo two >> ${file()}`, "cat a.txt", { says: "done" }], {
    env: { PATH: `${slow}${delimiter}${process.env["PATH"]}` },
  })
  const { exitCode, stderr, heard } = await forkAt(2, ["cat a.txt"])
  expect(heard.at(-1)).toBe("one\ntwo\n")
  expect(stderr).toContain("nobody looked at the files when the call was asked")
  expect(exitCode).toBe(0)
})

/** Neither `unshare` nor `bwrap` is found, so the trial fails as it does where there are no namespaces. */
function withoutNamespaces(): { readonly PATH: string } {
  const bare = join(scratch.path, "bare")
  mkdirSync(bare)
  for (const name of ["git", "sh", "cat", "sed", "mkfifo"])
    execFileSync("ln", ["-s", execFileSync("sh", ["-c", `command -v ${name}`], { encoding: "utf8" }).trim(), bare])
  return { PATH: bare }
}

test("[P-11] where no copy can be shown in the place of the original, full paths are rewritten, and that is said", async () => {
  repository()
  await record([`echo two >> ${file()}`, `cat ${file()}; pwd`, { says: "done" }])
  writeFileSync(file(), "another day\n")
  const bare = withoutNamespaces()
  const { exitCode, stderr, heard } = await forkAt(3, [`cat ${file()}x`], bare)
  expect(stderr).toContain(`this system cannot show the copy at ${repo()}`)
  const [, copy] = /written as (\/\S+)\. /.exec(stderr)!
  // The model that is asked live hears of the copy, which is where the agent is.
  expect(heard[0]).toBe(`one\ntwo\n${copy}\n`)
  expect([exitCode, readFileSync(file(), "utf8")]).toEqual([0, "another day\n"])
  expect(readdirSync(repo()).sort()).toEqual([".git", ".orangebox", "a.txt"])

  const source = jsonOf<{ runs: { run_id: string }[] }>(await orangeboxHere(["runs", "--json", "--data", data()])).runs
  const replayed = await orangebox(
    ["replay", source.at(-1)!.run_id, "--workspace", "--allow-tool-exec", "--json", "--", ...shellAgent],
    { cwd: repo(), env: { ANTHROPIC_BASE_URL: "http://127.0.0.1:9", ...bare } },
  )
  const { report, blocking } = JSON.parse(replayed.stderr.slice(replayed.stderr.indexOf("\n{\n"))) as {
    readonly report: { readonly masks: readonly string[]; readonly counts: object }
    readonly blocking: readonly { readonly condition: string; readonly reason: string }[]
  }
  expect(report).toMatchObject({ masks: ["workspace:path"], counts: { asked: 3, missed: 0, unconsumed: 0 } })
  // What the agent was told is not what was recorded, and the reason says so.
  expect(blocking.map(({ condition }) => condition)).toEqual(["fingerprint", "acceptance"])
  expect(blocking[1]!.reason).toContain("could not be shown at the path of the work tree")
  expect([replayed.exitCode, replayed.stdout, readFileSync(file(), "utf8")]).toEqual([1, "done\n", "another day\n"])
})
