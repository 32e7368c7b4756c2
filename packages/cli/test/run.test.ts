import { execFileSync } from "node:child_process"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { orangebox, scratchFolder } from "./command.js"
import { type ModelServer, startModelServer } from "./model-server.js"

/** A model server that streams the same answer to everybody, over the Messages API. */
let upstream: ModelServer
beforeAll(async () => {
  upstream = await startModelServer((_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" })
    const frame = (type: string, more: object) =>
      response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`)
    frame("message_start", {
      message: {
        id: "msg_1",
        type: "message",
        role: "assistant",
        model: "claude-x",
        content: [],
        usage: { input_tokens: 12, output_tokens: 1 },
      },
    })
    frame("content_block_start", { index: 0, content_block: { type: "text", text: "" } })
    frame("content_block_delta", { index: 0, delta: { type: "text_delta", text: "all is well" } })
    frame("content_block_stop", { index: 0 })
    frame("message_delta", { delta: { stop_reason: "end_turn" }, usage: { output_tokens: 3 } })
    frame("message_stop", {})
    response.end()
  })
})
afterAll(() => upstream.close())

const AGENT = `
const response = await fetch(process.env.ANTHROPIC_BASE_URL + "/v1/messages", {
  method: "POST",
  headers: { "content-type": "application/json", "x-api-key": "sk-canary-" + "0123456789" },
  body: JSON.stringify({ model: "claude-x", max_tokens: 9, stream: true, messages: [{ role: "user", content: "how is it?" }] }),
})
console.log((await response.text()).length > 0 ? "agent: answered" : "agent: nothing")
process.exit(Number(process.argv[1] ?? 0))
`

const agent = (exitCode: number): string[] => [process.execPath, "--input-type=module", "-e", AGENT, String(exitCode)]

describe("orangebox run", () => {
  test("[K-08] a command nobody instrumented is recorded, its output and exit code are its own, and the verdict names the run", async () => {
    const folder = scratchFolder()
    const env = { ANTHROPIC_BASE_URL: upstream.origin }
    const { stdout, stderr, exitCode } = await orangebox(["run", "--data", folder.path, "--", ...agent(7)], { env })
    expect(exitCode).toBe(7)
    expect(stdout).toBe("agent: answered\n")
    expect(stderr).toMatch(/exited with 7/)
    expect(stderr).toMatch(/1 model call · 0 errors/)
    expect(stderr).toMatch(/12 in → 3 out/)
    expect(stderr).toMatch(/lost: 0/)
    const runId = /show (run_\w+)/.exec(stderr)![1]!
    const digest = /sha256:[0-9a-f]{64}/.exec(stderr)![0]

    const shown = await orangebox(["show", runId, "--data", folder.path])
    expect(shown.stdout).toContain("claude-x 12 → 3")
    expect(shown.stdout).toContain("all is well")
    const verified = await orangebox(["verify", runId, "--digest", digest, "--data", folder.path])
    expect(verified.exitCode).toBe(0)
    folder.remove()
  })

  test("[R-17] three runs of a client that goes on with its session share one conversation, and say which code ran", async () => {
    const folder = scratchFolder()
    const work = scratchFolder()
    const git = (...args: string[]): string =>
      execFileSync("git", ["-C", work.path, "-c", "user.name=t", "-c", "user.email=t@example.org", ...args], {
        encoding: "utf8",
      }).trim()
    git("init", "-q", "-b", "main")
    writeFileSync(join(work.path, "agent.txt"), "one")
    git("add", ".")
    git("commit", "-q", "-m", "first")
    const session = "0199b3c2-7d1e-7f00-8a3b-5c6d7e8f9a0b"
    const client = AGENT.replace(
      "max_tokens: 9,",
      `max_tokens: 9, metadata: { user_id: "user_a_account__session_${session}" },`,
    )
    const env = { ANTHROPIC_BASE_URL: upstream.origin }
    for (const capture of ["redacted", "redacted", "hashed"]) {
      const command = [process.execPath, "--input-type=module", "-e", client]
      await orangebox(["run", "--capture", capture, "--data", folder.path, "--", ...command], { env, cwd: work.path })
      writeFileSync(join(work.path, "agent.txt"), "two")
    }
    const shown = await orangebox(["show", session, "--json", "--data", folder.path])
    const { runs } = JSON.parse(shown.stdout) as { runs: { run_id: string; commit: string; is_dirty: boolean }[] }
    expect(runs.map(({ commit, is_dirty }) => [commit, is_dirty])).toEqual([
      [git("rev-parse", "HEAD"), false],
      [git("rev-parse", "HEAD"), true],
      [git("rev-parse", "HEAD"), true],
    ])
    const { stdout } = await orangebox(["step", `${runs[1]!.run_id}#1`, "--data", folder.path])
    expect(stdout).toMatch(new RegExp(`commit +${git("rev-parse", "HEAD")}\\n +is_dirty +true`))
    folder.remove()
    work.remove()
  })

  test("[K-08] nothing captured is said loudly with the variables that were set; --require-capture makes it an error", async () => {
    const folder = scratchFolder()
    const quiet = [process.execPath, "-e", "0"]
    const plain = await orangebox(["run", "--data", folder.path, "--", ...quiet])
    expect(plain.exitCode).toBe(0)
    expect(plain.stderr).toMatch(/NOTHING WAS CAPTURED/)
    expect(plain.stderr).toMatch(/ANTHROPIC_BASE_URL=http:\/\/127\.0\.0\.1/)
    const strict = await orangebox(["run", "--require-capture", "--json", "--data", folder.path, "--", ...quiet])
    expect(strict.exitCode).toBe(1)
    expect(JSON.parse(strict.stderr)).toMatchObject({ model_calls: 0, lost: 0, exit_code: 0, usd: null })
    folder.remove()
  })

  test("[O-02] a command that cannot be started, and options that make no sense, are told in one sentence", async () => {
    const folder = scratchFolder()
    const absent = await orangebox(["run", "--data", folder.path, "--", "no-such-command-here"])
    expect(absent.exitCode).not.toBe(0)
    expect(absent.stderr).toMatch(/no-such-command-here cannot be started/)
    expect(absent.stderr).not.toMatch(/ at .*\.js:\d+/)
    const wrong = await orangebox(["run", "--variable", "1X=http://127.0.0.1", "--data", folder.path, "--", "true"])
    expect(wrong.exitCode).toBe(2)
    expect(wrong.stderr).toMatch(/does not begin with the name of a variable/)
    const empty = await orangebox(["run", "--data", folder.path])
    expect(empty.exitCode).toBe(2)
    folder.remove()
  })
})

describe("orangebox proxy", () => {
  test("[K-08] stands alone, prints one base URL for each upstream, and ends in good order", async () => {
    const folder = scratchFolder()
    const { stdout, stderr, exitCode } = await orangebox(
      ["proxy", "--json", "--upstream", `local=${upstream.origin}`, "--data", folder.path],
      { stopAfter: /Ctrl-C ends it/ },
    )
    expect(exitCode).toBe(0)
    const { urls } = JSON.parse(stdout) as { urls: Record<string, string> }
    expect(Object.keys(urls).sort()).toEqual(["anthropic", "gemini", "gemini-code-assist", "local", "openai"])
    expect(stderr).toMatch(/0 model calls recorded/)
    folder.remove()
  })
})

describe("prices", () => {
  test("[Q-06] a price in orangebox.config.json is used by every reader and by the verdict; without one it stays unknown", async () => {
    const folder = scratchFolder()
    const project = scratchFolder()
    const env = { ANTHROPIC_BASE_URL: upstream.origin }
    const unknown = await orangebox(["run", "--data", folder.path, "--", ...agent(0)], { env, cwd: project.path })
    expect(unknown.stderr).toMatch(/money +unknown: no price for claude-x \(prices of \d{4}-\d\d-\d\d\)/)
    expect(unknown.stderr).toContain('"prices": [{ "model": "claude-x", "input": …, "output": … }]')
    const prices = [{ model: "claude-x", input: 1_000_000, output: 2_000_000 }]
    writeFileSync(join(project.path, "orangebox.config.json"), JSON.stringify({ prices }))
    const known = await orangebox(["run", "--data", folder.path, "--", ...agent(0)], { env, cwd: project.path })
    expect(known.stderr).toMatch(/money +\$18\.00/)
    expect((await orangebox(["show", "--data", folder.path], { cwd: project.path })).stdout).toContain("$18.00")
    folder.remove()
    project.remove()
  })
})

describe("[X-10] [X-01] what the configuration and the flags say about a recorded command", () => {
  test("an upstream of the repository's file is used once it is trusted, and not before; --capture decides what is kept", async () => {
    const scratch = scratchFolder()
    try {
      writeFileSync(
        join(scratch.path, "orangebox.config.json"),
        JSON.stringify({ upstreams: { anthropic: upstream.origin } }),
      )
      const env = { XDG_CONFIG_HOME: join(scratch.path, "xdg"), ANTHROPIC_BASE_URL: "" }
      const here = (...args: string[]) => orangebox(args, { cwd: scratch.path, env })
      const variables = "console.log(process.env.ANTHROPIC_BASE_URL)"
      const before = await here("run", "--quiet", "--", process.execPath, "-e", variables)
      expect(before.stderr).toContain("orangebox trust")
      await here("trust", "--yes")
      const after = await here("run", "--capture", "hashed", "--json", "--", ...agent(0))
      expect(after.exitCode).toBe(0)
      expect(after.stdout).toBe("agent: answered\n")
      const shown = await here("show", "last", "--json")
      expect(shown.stdout).not.toContain("all is well")
      expect(shown.stdout).toContain("claude-x")
      await here("run", "--capture", "full", "--allow-full", "--quiet", "--", ...agent(0))
      expect((await here("show", "last")).stdout).toContain("all is well")
    } finally {
      scratch.remove()
    }
  })
})
