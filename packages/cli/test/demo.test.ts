import { existsSync, readdirSync, readFileSync, renameSync } from "node:fs"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { type Finished, jsonOf, orangebox, orangeboxHere, type Scratch, scratchFolder } from "./command.js"

interface DemoJson {
  readonly data_folder: string
  readonly runs: readonly { run_id: string; status: string; digest: string; events: number }[]
  readonly clocked: { run_id: string; status: string; finding: { detector: string; kind: string; cause_step: number } }
  readonly crash: {
    finding: { detector: string; cause_step: number }
    run_id: string
    n: number
    pid: number
    acknowledged_bytes: number
    stored_bytes: number
  }
  readonly test_exit_codes: readonly number[]
  readonly lost: number
}

describe("orangebox demo", () => {
  let scratch: Scratch
  let finished: Finished
  let demo: DemoJson
  const read = (...args: string[]) => orangeboxHere([...args, "--data", demo.data_folder])

  beforeAll(async () => {
    scratch = scratchFolder()
    // No proxy and no key in sight: everything it needs it brings along.
    const env = { TMPDIR: scratch.path, ANTHROPIC_API_KEY: "", HTTPS_PROXY: "http://127.0.0.1:9", HTTP_PROXY: "" }
    finished = await orangebox(["demo", "--json"], { cwd: scratch.path, env })
    demo = JSON.parse(finished.stdout) as DemoJson
  })
  afterAll(() => scratch.remove())

  test("[O-01] one command shows a run that went through and one that was killed", () => {
    expect(finished.exitCode).toBe(0)
    expect(demo.runs.map(({ status }) => status)).toEqual(["completed", "crashed"])
    expect(demo.test_exit_codes).toEqual([1, 0])
    expect(demo.lost).toBe(0)
  })

  test("[G-04] it ends with what is broken: where the killed run stood, and what broke the cache of another", () => {
    expect(demo.crash.finding).toMatchObject({ detector: "crash", cause_step: demo.crash.n })
    expect(demo.clocked.status).toBe("completed")
    expect(demo.clocked.finding).toMatchObject({ detector: "cache_bust", kind: "volatile_value", cause_step: 6 })
  })

  test("[O-01] the demo cleans up its processes and its project, and leaves only the records", () => {
    expect(readdirSync(scratch.path)).toEqual([demo.data_folder.split("/").at(-1)])
    expect(() => process.kill(demo.crash.pid, 0)).toThrow(/ESRCH/)
  })

  test("[L-03] the killed run names the step that was under way, a model call, and keeps every acknowledged byte of its answer", async () => {
    expect(demo.crash.acknowledged_bytes).toBeGreaterThan(1000)
    expect(demo.crash.stored_bytes).toBe(demo.crash.acknowledged_bytes)
    const { step } = jsonOf<{ step: { kind: string; status: string } }>(
      await read("step", `${demo.crash.run_id}#${demo.crash.n}`, "--json"),
    )
    expect(step).toMatchObject({ kind: "model", status: "crashed" })
  })

  test("[Q-02] the half answer can be read, as it came, by the address the demo names", async () => {
    const body = jsonOf<{ text: string; is_partial: boolean; total: number }>(
      await read("step", `${demo.crash.run_id}#${demo.crash.n}`, "--body", "response", "--bytes", "100000", "--json"),
    )
    expect(body.is_partial).toBe(true)
    expect(body.total).toBe(demo.crash.stored_bytes)
    expect(body.text).toMatch(/^event: message_start\n/)
    expect(body.text).not.toContain("message_stop")
  })

  test("[P-03] the engine replays the run that went through, certified; of the killed one it says where the recording ends", async () => {
    const whole = await read("replay", demo.runs[0]!.run_id, "--json")
    expect(whole.exitCode).toBe(0)
    expect(jsonOf(whole)).toMatchObject({ certified: true, certificate: { source_digest: demo.runs[0]!.digest } })
    const killed = await read("replay", demo.crash.run_id)
    expect(killed.exitCode).toBe(1)
    expect(killed.stderr).toContain(`#${demo.crash.n} cannot be replayed: RECORDING_ENDS`)
  })

  test("what the agent did is on record: files read, a file edited with a diff, tests run twice, tokens counted", async () => {
    const tools = `SELECT name || ' ' || status || coalesce(' ' || exit_code, '') FROM tool_calls WHERE run_id = '${demo.runs[0]?.run_id}' ORDER BY no`
    const edits =
      "SELECT payload ->> '$.artifact_type' || ' ' || (payload ->> '$.path') || ' +' || (payload ->> '$.lines_added') FROM events WHERE payload ->> '$.artifact_type' = 'file_edit'"
    const usage =
      "SELECT count(*) || ' answers, ' || count(prompt_tokens) || ' counted' FROM model_calls WHERE status = 'success'"
    const { rows } = jsonOf<{ rows: string[][] }>(
      await orangebox([
        ...["sql", `SELECT * FROM (${tools}) UNION ALL SELECT * FROM (${edits}) UNION ALL ${usage}`],
        ...["--json", "--data", demo.data_folder],
      ]),
    )
    expect(rows.flat()).toEqual([
      "read_file success",
      "read_file success",
      "edit_file success",
      "run_tests error 1",
      "edit_file success",
      "edit_file success",
      "run_tests success 0",
      "file_edit src/days.js +1",
      "file_edit src/days.js +2",
      "file_edit package.json +2",
      "10 answers, 10 counted",
    ])
  })

  test("[M-05] its first prompt is compiled: context names the note that would have spared it the mistake, and why it was left out", async () => {
    const { stdout, exitCode } = await read("context", `${demo.runs[0]!.run_id}#4`)
    expect(exitCode).toBe(0)
    expect(stdout).toContain("the request holds the prompt byte for byte")
    const leftOut = stdout.slice(stdout.lastIndexOf("left out"))
    expect(leftOut).toMatch(/notes\/leap-years\.md.*budget_limit/)
    expect(leftOut).toMatch(/notes\/releases\.md.*score_below_threshold/)
  })

  test("[E-06] of the rules it was started with it breaks two, and check and report show exactly these", async () => {
    const { run_id } = demo.runs[0]!
    const check = await orangebox(["check", run_id, "--json", "--data", demo.data_folder], { cwd: scratch.path })
    expect(check.exitCode).toBe(1)
    const { runs } = jsonOf<{ runs: { results: { id: string; status: string }[] }[] }>(check)
    expect(runs[0]!.results.map(({ id, status }) => `${id} ${status}`)).toEqual([
      "src-only fail",
      "no-emoji fail",
      "green pass",
      "no-push pass",
    ])
    const report = jsonOf<{ summary: object; violations: { id: string; severity: string }[] }>(
      await read("report", run_id, "--json"),
    )
    expect(report.violations.map(({ id, severity }) => `${id} ${severity}`).sort()).toEqual([
      "constraint.no-emoji fail",
      "constraint.src-only fail",
    ])
    expect(report.summary).toMatchObject({
      verdict: "fail",
      last_test_outcome: "passed",
      observability_failures: 0,
      bypasses: 0,
    })
  })

  test("[O-09] the digest it prints is the one that verify proves", async () => {
    const [first] = demo.runs
    const good = await read("verify", first!.run_id, "--digest", first!.digest)
    expect(good).toMatchObject({ exitCode: 0 })
    expect(good.stdout).toContain("the digest is the same")
  })

  test("[C-03] its runs keep the contract, and the crashed one counts as open, not as corrupt", async () => {
    const verdict = jsonOf<{ ok: boolean; runs: { findings: unknown[]; open: unknown[] }[] }>(
      await read("verify", "--json"),
    )
    expect(verdict.ok).toBe(true)
    expect(verdict.runs.flatMap(({ findings }) => findings)).toEqual([])
    expect(verdict.runs.map(({ open }) => open.length > 0).sort()).toEqual([false, false, true])
  })

  test("in words it names both runs, the crashed step and commands that work as they are printed", async () => {
    const folder = `${scratch.path}/in words`
    const { stdout, exitCode } = await orangebox(["demo", "--data", "in words"], {
      cwd: scratch.path,
      env: { TMPDIR: scratch.path },
    })
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/was killed in step #\d+/)
    expect(stdout).toContain("CRASHED")
    const search = /orangebox (search .*)/.exec(stdout)?.[1]
    expect(search).toContain("'")
    const words = search!.split(" --data ")[0]!.split(" ")
    expect(existsSync(folder)).toBe(true)
    expect((await orangeboxHere([...words, "--data", folder])).stdout).toMatch(/run_\w{26}#\d+ {2}/)

    // The README goes on from its demo with commands that find what the demo left.
    const readme = readFileSync(new URL("../../../README.md", import.meta.url), "utf8")
    const [, commands = ""] = /From there[^\n]*\n\n```\n(.*?)```/s.exec(readme) ?? []
    renameSync(folder, `${scratch.path}/demo-data`)
    const lines = commands
      .trim()
      .split("\n")
      .map((line) => line.replace(/\s+# .*/, ""))
    expect(lines.length).toBeGreaterThan(3)
    for (const line of lines) {
      const args = [...line.replace("npx orangebox ", "").matchAll(/"([^"]*)"|(\S+)/g)].map(([, a, b]) => a ?? b ?? "")
      expect(await orangebox(args, { cwd: scratch.path }), line).toMatchObject({ exitCode: 0 })
    }
  })
})

test("a demo that is stopped before its agent has said a word was interrupted, and leaves nothing behind", async () => {
  const scratch = scratchFolder()
  try {
    const env = { TMPDIR: scratch.path }
    const stopped = await orangebox(["demo"], { cwd: scratch.path, env, stopAfter: /an agent in its own process/ })
    expect(stopped).toMatchObject({ stdout: "", exitCode: 130 })
    expect(stopped.stderr).toContain("orangebox: interrupted")
    expect(readdirSync(scratch.path)).toEqual([])
  } finally {
    scratch.remove()
  }
})
