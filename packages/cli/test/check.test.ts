import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { Recorder, type Run } from "@orangebox/recorder"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import {
  type CommandOptions,
  type Finished,
  jsonOf,
  orangebox,
  orangeboxHere,
  type Scratch,
  scratchFolder,
} from "./command.js"

interface CheckJson {
  readonly ok: boolean
  readonly runs: readonly {
    readonly verdict: string
    readonly is_open: boolean
    readonly override: { readonly author: string } | null
    readonly results: readonly {
      readonly id: string
      readonly rule: string
      readonly source: string
      readonly status: string
      readonly unknown: string | null
      readonly violations: readonly { readonly message: string; readonly step_no: number | null }[]
    }[]
  }[]
  readonly problems: readonly { readonly rule: string; readonly position: number; readonly nearest: string | null }[]
}

let scratch: Scratch
let home: string
beforeEach(() => {
  scratch = scratchFolder()
  home = join(scratch.path, "home")
  mkdirSync(home)
})
afterEach(() => scratch.remove())

/** The command as a process of its own, in a workspace of its own, with nobody's user configuration. */
const call = (args: readonly string[], options: CommandOptions = {}): Promise<Finished> =>
  orangebox(args, { cwd: scratch.path, env: { HOME: home, XDG_CONFIG_HOME: join(home, "config"), ...options.env } })

/** The same without a process, for what no configuration decides. */
const callHere = (args: readonly string[]): Promise<Finished> =>
  orangeboxHere([...args, "--data", join(scratch.path, ".orangebox")])

type Checked = CheckJson & { readonly exitCode: number | null; readonly stderr: string }

const checkedBy =
  (run: (args: readonly string[]) => Promise<Finished>) =>
  async (...args: string[]): Promise<Checked> => {
    const finished = await run(["check", ...args, "--json"])
    return { ...jsonOf<CheckJson>(finished), exitCode: finished.exitCode, stderr: finished.stderr }
  }
const checked = checkedBy(call)
const checkedHere = checkedBy(callHere)

const results = ({ runs }: CheckJson): string[] => runs[0]!.results.map(({ id, status }) => `${id} ${status}`)

const configure = (config: object): void =>
  writeFileSync(join(scratch.path, "orangebox.config.json"), JSON.stringify(config))

/** The user's own configuration, which needs no trust. */
function configureUser(config: object): void {
  mkdirSync(join(home, "config", "orangebox"), { recursive: true })
  writeFileSync(join(home, "config", "orangebox", "config.json"), JSON.stringify(config))
}

async function recordRun(options: Partial<Parameters<Recorder["startRun"]>[0]> = {}, isEnded = true): Promise<Run> {
  const recorder = Recorder.open({ app: "fixer", folder: join(scratch.path, ".orangebox"), cwd: scratch.path })
  const run = recorder.startRun({ entrypoint: "fix", input: "Fix the date. Don't touch infra/.", ...options })
  const edit = (path: string) => ({ name: "Edit", args: { file_path: path, old_string: "a", new_string: "b" } })
  await run.tool(edit("src/date.ts"), () => "ok")
  await run.tool(edit(join(scratch.path, "infra/ci.yml")), () => "ok")
  await run.tool({ name: "Bash", args: { command: "npm test", cwd: "." } }, () => "all fine")
  if (isEnded) run.complete({ output: "Done." })
  recorder.close()
  return run
}

describe("orangebox check", () => {
  test("[E-06] a broken rule of the configuration is exit code 1, and the words name the step and the path", async () => {
    configure({ checks: [{ id: "src-only", type: "scope", rule: "paths.only src/**" }] })
    await recordRun()
    const { stdout, exitCode } = await call(["check"])
    expect(exitCode).toBe(1)
    expect(stdout).toContain("✗ fail    src-only")
    expect(stdout).toMatch(/#3 {2}infra\/ci\.yml is outside|#3 {2}\S+infra\/ci\.yml is outside/)
  })

  test("[E-02] rules come from the configuration, the run and, never more than a warning, the words of the request", async () => {
    configure({ checks: [{ id: "no-push", type: "safety", rule: "commands.deny 'git push'" }] })
    await recordRun({ constraints: [{ id: "polite", type: "style", rule: "Be polite to everybody" }] })
    const check = await checked()
    expect(check.exitCode).toBe(0)
    expect(check.runs[0]!.results.map(({ id, source, status }) => [id, source, status])).toEqual([
      ["no-push", "config", "pass"],
      ["polite", "api", "unknown"],
      ["inferred.paths_deny", "inferred", "warn"],
    ])
    expect((await checked("--fail-on", "warn")).exitCode).toBe(1)
    expect((await checked("--no-inferred", "--fail-on", "warn")).exitCode).toBe(0)
    expect((await checked("--no-inferred", "--strict")).exitCode).toBe(1)
  })

  test("[E-06] rules can be given on the command line and in files, and then only they count", async () => {
    configure({ checks: [{ id: "never", type: "other", rule: "steps.max 1" }] })
    await recordRun()
    expect(results(await checked("--rule", "steps.max 10"))).toEqual(["steps.max pass"])
    expect(results(await checkedHere("--rule", "paths.deny src/**", "--rule", "paths.deny docs/**"))).toEqual([
      "paths.deny fail",
      "paths.deny.2 pass",
    ])
    writeFileSync(join(scratch.path, "rules.txt"), "# what holds here\nsteps.max 10\n\noutput.no_emoji\n")
    expect(results(await checkedHere("--rules", join(scratch.path, "rules.txt")))).toEqual([
      "steps.max pass",
      "output.no_emoji pass",
    ])
    const listed = [{ id: "few", type: "other", rule: "steps.max 2", severity: "warn" }]
    writeFileSync(join(scratch.path, "rules.json"), JSON.stringify({ checks: listed }))
    const check = await checkedHere("--rules", join(scratch.path, "rules.json"))
    expect([check.exitCode, results(check)]).toEqual([0, ["few warn"]])
  })

  test.each([
    [["--rule", "path.only src/**"], /there is no rule path\.only \(at 0\)\. Did you mean paths\.only\?/],
    [["--rules", "{scratch}/absent.txt"], /the rules cannot be read/],
    [["--rules", "{scratch}/bad.json"], /the rules are not valid JSON/],
    [["--rules", "/dev/zero"], /the rules are longer than 1048576 bytes/],
    [["--fail-on", "never"], /Allowed choices are fail, warn, unknown/],
    [["run_0000"], /nothing recorded here has the address/],
  ])("[E-06] %s is exit code 2 and says what is wrong", async (args, words) => {
    writeFileSync(join(scratch.path, "bad.json"), "[{")
    await recordRun()
    const finished = await callHere(["check", ...args.map((arg) => arg.replace("{scratch}", scratch.path))])
    expect(finished.exitCode).toBe(2)
    expect(finished.stderr).toMatch(words)
  })

  test("a root that leads in a circle is a place nothing can be looked up in, not an error", async () => {
    symlinkSync("loop", join(scratch.path, "loop"))
    await recordRun()
    const check = await checkedHere("--rule", "paths.only src/**", "--root", join(scratch.path, "loop"))
    expect([check.exitCode, results(check)]).toEqual([1, ["paths.only fail"]])
  })

  test("a gate without any rule has not judged: that is a mistake, not a pass", async () => {
    await recordRun({ input: "Fix the date." })
    const { exitCode, stderr } = await callHere(["check"])
    expect(exitCode).toBe(2)
    expect(stderr).toContain("there is no rule to check by")
  })

  test("a run that goes on is judged for what there is, and says so", async () => {
    const recorder = Recorder.open({ app: "fixer", folder: join(scratch.path, ".orangebox"), cwd: scratch.path })
    try {
      const run = recorder.startRun({ entrypoint: "fix", input: "x" })
      await run.tool({ name: "Bash", args: { command: "git push" } }, () => "pushed")
      const rules = ["--rule", "tests.must_run", "--rule", "commands.deny 'git push'"]
      const { stdout, exitCode } = await call(["check", ...rules])
      expect(stdout).toContain("still in progress; judged for what there is so far")
      expect(exitCode).toBe(1)
      const check = await checkedHere(...rules)
      expect(check.runs[0]).toMatchObject({ is_open: true })
      expect(results(check)).toEqual(["tests.must_run unknown", "commands.deny fail"])
      run.complete()
    } finally {
      recorder.close()
    }
  })

  test("[E-06] JUnit and SARIF hold the same verdicts, one case and one result each", async () => {
    await recordRun()
    const rules = ["--rule", "paths.only src/**", "--rule", "tests.must_pass", "--rule", "output.no_emoji"]
    const { exitCode } = await callHere([
      ...["check", ...rules],
      ...["--junit", join(scratch.path, "checks.xml"), "--sarif", join(scratch.path, "checks.sarif")],
    ])
    expect(exitCode).toBe(1)
    const junit = readFileSync(join(scratch.path, "checks.xml"), "utf8")
    expect(junit).toMatch(/<testsuites name="orangebox check" tests="3" failures="1"/)
    expect(junit).toMatch(/<testcase name="paths\.only"[^>]*>\s*<failure/)
    const sarif = JSON.parse(readFileSync(join(scratch.path, "checks.sarif"), "utf8")) as {
      version: string
      runs: { results: { ruleId: string; level: string }[] }[]
    }
    expect(sarif.version).toBe("2.1.0")
    expect(sarif.runs[0]!.results.map(({ ruleId, level }) => [ruleId, level])).toEqual([["paths.only", "error"]])
  })

  test("several runs are one gate: the worst of them decides", async () => {
    const good = await recordRun()
    const bad = await recordRun({ entrypoint: "again" })
    const check = await checkedHere(good.runId, bad.runId, "--rule", "paths.only src/**")
    expect(check.runs).toHaveLength(2)
    expect(check.exitCode).toBe(1)
  })

  test("[X-01] of a run kept as hashes a later check says unknown, not pass", async () => {
    const recorder = Recorder.open({ app: "f", folder: join(scratch.path, ".orangebox"), capture: "hashed" })
    const run = recorder.startRun({ entrypoint: "x", input: "x" })
    await run.tool({ name: "Bash", args: { command: "git push" } }, () => "pushed")
    run.complete()
    recorder.close()
    const check = await checkedHere("--rule", "commands.deny 'git push'")
    expect([check.exitCode, results(check)]).toEqual([0, ["commands.deny unknown"]])
    expect((await checkedHere("--strict", "--rule", "commands.deny 'git push'")).exitCode).toBe(1)
  })
})

describe("[E-07] judges", () => {
  const JUDGE = fileURLToPath(new URL("children/judge.mjs", import.meta.url))
  const judge = (habit: string, timeoutMs?: number) => ({
    command: [process.execPath, JUDGE, habit, join(scratch.path, "pids")],
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  })
  const ask = async (habit: string, timeoutMs?: number) => {
    configureUser({ judges: { reviewer: judge(habit, timeoutMs) } })
    await recordRun({ input: "x" })
    const check = await checked("--rule", 'judge:reviewer "It is right."')
    return { check, result: check.runs[0]!.results[0]! }
  }

  test("a judge's answer has the shape of every other verdict, with its violations at their steps", async () => {
    const { check, result } = await ask("answers")
    expect(check.exitCode).toBe(1)
    expect(result).toMatchObject({
      status: "fail",
      violations: [{ message: expect.stringContaining("not convinced by message") as string, step_no: 1 }],
    })
    expect((await ask("agrees")).result.status).toBe("pass")
  })

  test.each([
    ["rambles", /its answer is not JSON/],
    ["floods", /it wrote more than 1000000 bytes/],
    ["dies", /it ended with exit code 7: no model configured/],
  ])("a judge that %s has given no verdict, and the reason is told", async (habit, reason) => {
    const { check, result } = await ask(habit)
    expect([check.exitCode, result.status]).toEqual([0, "unknown"])
    expect(result.unknown).toMatch(reason)
  })

  test("a judge that hangs is ended in time, with everything it started", async () => {
    const { result } = await ask("hangs", 1500)
    expect(result.status).toBe("unknown")
    expect(result.unknown).toMatch(/no answer within 1500 ms/)
    const pids = readFileSync(join(scratch.path, "pids"), "utf8").split(" ").map(Number)
    expect(pids).toHaveLength(2)
    for (const pid of pids) await gone(pid)
  })

  test("a judge that has answered is heard, although something it left behind holds its output open", async () => {
    const { result } = await ask("leaves a daemon", 15_000)
    const pid = Number(readFileSync(join(scratch.path, "pids"), "utf8"))
    process.kill(pid, "SIGKILL")
    expect(result).toMatchObject({ status: "pass", unknown: null })
  })

  test("a command that cannot be started, and a judge nobody configured, are unknown", async () => {
    configureUser({ judges: { reviewer: { command: [join(scratch.path, "absent")] } } })
    await recordRun({ input: "x" })
    const check = await checked("--rule", "judge:reviewer", "--rule", "judge:nobody")
    expect(results(check)).toEqual(["judge:reviewer unknown", "judge:nobody unknown"])
    expect(check.runs[0]!.results[0]!.unknown).toMatch(/cannot be started/)
    expect(check.runs[0]!.results[1]!.unknown).toMatch(/no such judge/)
  })

  test("[X-10] a judge that came with a repository nobody trusts is not started", async () => {
    const touched = join(scratch.path, "touched")
    const command = [process.execPath, "-e", `require("node:fs").writeFileSync(${JSON.stringify(touched)}, "")`]
    configure({ judges: { reviewer: { command } } })
    await recordRun({ input: "x" })
    const check = await checked("--rule", "judge:reviewer")
    expect(check.runs[0]!.results[0]!.status).toBe("unknown")
    expect(check.stderr).toContain("judges.reviewer")
    expect(check.stderr).toContain("orangebox trust")
    expect(existsSync(touched)).toBe(false)
  })
})

/** An ended process may take a moment to be gone. */
async function gone(pid: number): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    try {
      process.kill(pid, 0)
    } catch {
      return
    }
    await sleep(20)
  }
  throw new Error(`process ${pid} is still there`)
}
