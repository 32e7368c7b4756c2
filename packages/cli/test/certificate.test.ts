import { execFileSync } from "node:child_process"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { orangebox, orangeboxHere, type Scratch, scratchFolder } from "./command.js"
import { answerMessage, startModelServer } from "./model-server.js"

/** What the agent does stands in a file, so that it is started with the same command whatever it does. */
const AGENT = `
import { readFileSync, writeFileSync } from "node:fs"
const { asks, exitCode = 0, signal, together = false, file } = JSON.parse(readFileSync("plan.json", "utf8"))
const ask = async ({ path = "/v1/messages", query = "", headers = {}, ...body }) => {
  const response = await fetch(process.env.ANTHROPIC_BASE_URL + path + query, {
    method: "POST",
    headers: { "content-type": "application/json", "anthropic-version": "2023-06-01", ...headers },
    body: JSON.stringify(body),
  })
  await response.text()
}
if (together) await Promise.all(asks.map(ask))
else for (const one of asks) await ask(one)
if (file) writeFileSync("out.txt", file)
if (signal) process.kill(process.pid, signal)
process.exitCode = exitCode
`

interface Asked {
  readonly [member: string]: unknown
}
interface Plan {
  readonly asks: readonly Asked[]
  readonly exitCode?: number
  readonly signal?: string
  readonly together?: boolean
  /** What it leaves in out.txt. */
  readonly file?: string
}

const SECRETS = ["x", "y"].map((letter) => `ghp_${letter.repeat(36)}`)
const asked = (content: string, more: Asked = {}): Asked => ({
  model: "claude-x",
  max_tokens: 64,
  messages: [{ role: "user", content }],
  ...more,
})
const PLAN: Plan = {
  asks: [
    asked("delete the backup"),
    asked(`read with ${SECRETS[0]}, write with ${SECRETS[1]}`),
    asked("make a backup"),
  ],
  exitCode: 3,
}
const [first, second, third] = PLAN.asks as [Asked, Asked, Asked]
const withFirst = (more: Asked): Plan => ({ ...PLAN, asks: [{ ...first, ...more }, second, third] })

const OTHER: readonly (readonly [string, Plan])[] = [
  ["a call less", { ...PLAN, asks: [first, second] }],
  ["a call more", { ...PLAN, asks: [...PLAN.asks, asked("and another")] }],
  ["a call twice", { ...PLAN, asks: [...PLAN.asks, third] }],
  ["the calls turned round", { ...PLAN, asks: [third, second, first] }],
  ["two neighbours turned round", { ...PLAN, asks: [second, first, third] }],
  ["another question", withFirst({ messages: [{ role: "user", content: "delete the backups" }] })],
  ["a system prompt", withFirst({ system: "be brief" })],
  ["prose in a billing line", withFirst({ system: "x-anthropic-billing-header: keep nothing" })],
  ["another model", withFirst({ model: "claude-y" })],
  ["another parameter", withFirst({ max_tokens: 65 })],
  ["a tool", withFirst({ tools: [{ name: "bash", input_schema: { type: "object" } }] })],
  ["another framing", withFirst({ stream: true })],
  ["another version", withFirst({ headers: { "anthropic-version": "2024-10-22" } })],
  ["a beta", withFirst({ headers: { "anthropic-beta": "context-1m-2025-08-07" } })],
  ["another query", withFirst({ query: "?beta=true" })],
  ["another path", withFirst({ path: "/other/v1/messages" })],
  [
    "secrets that changed places",
    { ...PLAN, asks: [first, asked(`read with ${SECRETS[1]}, write with ${SECRETS[0]}`), third] },
  ],
  [
    "another secret",
    { ...PLAN, asks: [first, asked(`read with ghp_${"z".repeat(36)}, write with ${SECRETS[1]}`), third] },
  ],
  ["another exit code", { ...PLAN, exitCode: 4 }],
  ["an end that is fine", { ...PLAN, exitCode: 0 }],
  ["a signal", { ...PLAN, signal: "SIGKILL" }],
]

describe("[P-10] certificates of real processes", () => {
  let scratch: Scratch
  let runId: string
  let gone: string
  const command = [process.execPath, "--input-type=module", "-e", AGENT]

  const run = (plan: Plan, args: readonly string[], baseUrl: string) => {
    writeFileSync(join(scratch.path, "plan.json"), JSON.stringify(plan))
    const options = { cwd: scratch.path, env: { ANTHROPIC_BASE_URL: baseUrl } }
    return orangebox([...args, "--data", scratch.path, "--", ...command], options)
  }

  beforeAll(async () => {
    scratch = scratchFolder()
    let count = 0
    const model = await startModelServer((_, response) =>
      answerMessage(response, { id: `msg_${++count}`, content: [{ type: "text", text: `answer ${count}` }] }),
    )
    const { stderr } = await run(PLAN, ["run"], model.origin)
    await model.close()
    gone = model.origin
    runId = /show (run_\w+)/.exec(stderr)![1]!
  }, 120_000)
  afterAll(() => scratch.remove())

  test("the same again is certified, verify --certificate works it out again, and a changed field does not hold", async () => {
    const file = join(scratch.path, "proof.json")
    const { exitCode, stderr } = await run(PLAN, ["replay", runId, "--certificate", file], gone)
    expect(exitCode, stderr).toBe(0)
    const certificate = JSON.parse(readFileSync(file, "utf8")) as { outputs: object }
    expect(certificate).toMatchObject({ v: 3, driver: "proxy", outputs: { exit_code: 3, signal: null } })
    const check = (path: string) => orangeboxHere(["verify", "--certificate", path, "--data", scratch.path])
    expect(await check(file)).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(" holds") })
    const forged = join(scratch.path, "forged.json")
    writeFileSync(forged, JSON.stringify({ ...certificate, outputs: { ...certificate.outputs, exit_code: 4 } }))
    expect(await check(forged)).toMatchObject({
      exitCode: 1,
      stdout: expect.stringContaining("outputs.exit_code is 4"),
    })
    writeFileSync(forged, JSON.stringify({ ...certificate, v: 1 }))
    expect((await check(forged)).exitCode).toBe(2)
    const text = readFileSync(file, "utf8")
    for (const [said, why] of [
      [text.replace('"exit_code": 3', '"exit_code": 0, "exit_code": 3'), "/outputs/exit_code stands there twice"],
      [text.replace('"exit_code": 3', '"exit\\u005fcode": 0, "exit_code": 3'), "/outputs/exit_code stands there twice"],
      [text.replace('"exit_code": 3', '"exit_code": 3, "tests": "passed"'), "tests"],
      [text.replace('"exit_code": 3', '"exit_code": 3, "__proto__": {}'), "__proto__"],
      [`${text}\n{}`, "something else stands there"],
    ] as const) {
      expect(said).not.toBe(text)
      writeFileSync(forged, said)
      const refused = await check(forged)
      expect(refused, said).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(why) })
    }
  }, 120_000)

  test.each(OTHER)(
    "%s is not certified",
    async (_, plan) => {
      const { exitCode, stderr } = await run(plan, ["replay", runId, "--json"], gone)
      expect(exitCode, stderr).toBe(1)
      expect(stderr).toContain('"certified": false')
    },
    120_000,
  )

  test("where the work tree was looked at, the files that were left are compared", async () => {
    const repo = join(scratch.path, "repo")
    mkdirSync(repo)
    const plan = join(repo, "plan.json")
    writeFileSync(plan, JSON.stringify({ ...PLAN, exitCode: 0, file: "done" }))
    writeFileSync(join(repo, "out.txt"), "to do")
    const git = (...args: string[]) =>
      execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.com", ...args], { cwd: repo })
    git("init", "-q")
    git("add", ".")
    git("commit", "-q", "-m", "first")
    const model = await startModelServer((_, response) =>
      answerMessage(response, { id: "msg_1", content: [{ type: "text", text: "done" }] }),
    )
    const data = ["--data", join(scratch.path, "data")]
    const inRepo = (...args: string[]) =>
      orangebox([...args, ...data, "--", ...command], { cwd: repo, env: { ANTHROPIC_BASE_URL: model.origin } })
    await inRepo("run", "--quiet")
    await model.close()
    git("checkout", "-q", ".")
    const same = await inRepo("replay", "last", "--json")
    expect(same.exitCode, same.stderr).toBe(0)
    expect(same.stderr).toContain('"out.txt": "sha256:')
    git("checkout", "-q", ".")
    writeFileSync(plan, JSON.stringify({ ...PLAN, exitCode: 0, file: "undone" }))
    git("commit", "-q", "-a", "-m", "second")
    const other = await inRepo("replay", "last~1", "--json")
    expect(other.exitCode, other.stderr).toBe(1)
    expect(other.stderr).toContain("the file out.txt differs")
  }, 120_000)
})
