import { execFile, execFileSync } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { afterEach, beforeEach, expect, test } from "vitest"
import { type Finished, jsonOf, orangebox, orangeboxHere, type Scratch, scratchFolder } from "./command.js"
import { answerMessage, startModelServer } from "./model-server.js"

const AGENT = fileURLToPath(new URL("./children/sdk-agent.mjs", import.meta.url))
const agent = [process.execPath, AGENT]
let scratch: Scratch
const repo = (): string => join(scratch.path, "repo")
const data = (): string => join(scratch.path, "data")
const file = (): string => join(repo(), "a.txt")
afterEach(() => scratch.remove())

beforeEach(() => {
  scratch = scratchFolder()
  mkdirSync(repo())
  const git = (...args: string[]): void =>
    void execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.com", ...args], { cwd: repo() })
  git("init", "-q", "-b", "main")
  writeFileSync(file(), "one\n")
  git("add", ".")
  git("commit", "-q", "-m", "first")
})

/** A model that thinks for a while, as a real one does: time for a look at the work tree. */
const startModel = (word: string) =>
  startModelServer(async (body, response) => {
    const { messages } = JSON.parse(String(body)) as { messages: { content: string }[] }
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    const text = `${word} ${messages.at(-1)!.content.split(" ")[0]}`
    answerMessage(response, { id: "msg_1", model: "claude-x", content: [{ type: "text", text }] })
  })

const env = (more: Record<string, string> = {}): Record<string, string> => ({
  AGENT_FILE: file(),
  ANTHROPIC_BASE_URL: "http://127.0.0.1:9",
  ...more,
})

/** Records the agent, with `orangebox run` around it or by itself. */
async function record(how: "run" | "alone"): Promise<void> {
  const model = await startModel("two")
  const around = env({ ANTHROPIC_BASE_URL: model.origin, ORANGEBOX_HOME: data() })
  if (how === "alone")
    await promisify(execFile)(process.execPath, [AGENT], { cwd: repo(), env: { ...process.env, ...around } })
  else await orangebox(["run", "--quiet", "--data", data(), "--", ...agent], { cwd: repo(), env: around })
  await model.close()
  expect(readFileSync(file(), "utf8")).toBe("one\ntwo what\n")
}

const replay = (more: Record<string, string> = {}, ...options: string[]): Promise<Finished> =>
  orangebox(["replay", "last", "--data", data(), "--json", ...options, "--", ...agent], { cwd: repo(), env: env(more) })

interface ReplayDocument {
  readonly run: string
  readonly certified: boolean
  readonly certificate: {
    readonly driver: string
    readonly scope: { hermetic: boolean; tools_executed: number }
  } | null
  readonly blocking: readonly { readonly reason: string }[]
  readonly report: { readonly counts: Record<string, number>; readonly divergences: readonly { code: string }[] }
}

const documentOf = ({ stderr }: Finished): ReplayDocument => {
  const at = stderr.indexOf("{\n")
  if (at < 0) throw new Error(stderr)
  return JSON.parse(stderr.slice(at)) as ReplayDocument
}

test.each(["run", "alone"] as const)(
  "[P-12] an SDK agent recorded by %s replays without a change: its tools are answered, and it is certified hermetic",
  async (how) => {
    await record(how)
    const replayed = await replay()
    const document = documentOf(replayed)
    expect(document.blocking).toEqual([])
    expect([replayed.exitCode, replayed.stdout]).toEqual([0, "two wrote\n"])
    expect(document.certificate).toMatchObject({ driver: "sdk", scope: { hermetic: true, tools_executed: 0 } })
    // The tool was answered and not run.
    expect(readFileSync(file(), "utf8")).toBe("one\ntwo what\n")
    expect(document.report.counts).toMatchObject({ asked: 3, missed: 0, unconsumed: 0 })
  },
)

test("[P-12] an SDK agent that asks something else diverges, and its tools do not run", async () => {
  await record("run")
  const replayed = await replay({ AGENT_ASKS: "something else?" })
  const document = documentOf(replayed)
  expect([replayed.exitCode, document.certified]).toEqual([1, false])
  expect(document.report.divergences.map(({ code }) => code)).toContain("REQ_CHANGED")
  expect(readFileSync(file(), "utf8")).toBe("one\ntwo what\n")
})

test("[P-12] under orangebox run the agent's run is part of the command's: last is the one, and its work tree is looked at", async () => {
  await record("run")
  const { runs } = jsonOf<{ runs: { run_id: string; app: string }[] }>(
    await orangeboxHere(["runs", "--json", "--data", data()]),
  )
  expect(runs.map(({ app }) => app)).toEqual(["node"])
  const looks = await orangeboxHere(["show", "last", "--data", data()])
  // The tool's change is seen at the call that follows it.
  expect(looks.stdout.startsWith(runs[0]!.run_id)).toBe(true)
  expect(looks.stdout).toContain("1 file changed")
})

test("[P-12] a fork drives an SDK agent: what came before is answered, the files are those of the step, and the rest is asked", async () => {
  await record("run")
  writeFileSync(file(), "another day\n")
  const { runs } = jsonOf<{ runs: { run_id: string; app: string }[] }>(
    await orangeboxHere(["runs", "--all", "--json", "--data", data()]),
  )
  const own = runs.find(({ app }) => app === "sdk-agent")!.run_id
  const { rows } = jsonOf<{ rows: { type: string; kind: string; step_id: string }[] }>(
    await orangeboxHere(["show", own, "--json", "--data", data()]),
  )
  const step = rows.filter(({ type, kind }) => type === "step" && kind === "model").at(-1)!.step_id
  const model = await startModel("three")
  const forked = await orangebox(
    ["fork", "last", "--at", step, "--set", "max_tokens=32", "--json", "--data", data(), "--", ...agent],
    { cwd: repo(), env: env({ ANTHROPIC_BASE_URL: model.origin, AGENT_SHOWS: "files" }) },
  )
  await model.close()
  expect([forked.exitCode, forked.stdout], forked.stderr).toEqual([0, "three wrote\none\ntwo what\n"])
  expect(readFileSync(file(), "utf8")).toBe("another day\n")
})

test("[P-12] a program that is to be answered from a recording that is gone does not start doing things", async () => {
  rmSync(file())
  const around = { ...process.env, ...env({ ORANGEBOX_HOME: data(), ORANGEBOX_TAPE: join(scratch.path, "gone.json") }) }
  expect(() => execFileSync(process.execPath, [AGENT], { cwd: repo(), env: around, stdio: "pipe" })).toThrow(
    /ORANGEBOX_TAPE is set/,
  )
  expect(existsSync(file())).toBe(false)
})
