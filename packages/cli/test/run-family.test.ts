import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { type Finished, jsonOf, orangebox, orangeboxHere, type Scratch, scratchFolder } from "./command.js"

const AGENT = fileURLToPath(new URL("./children/family-agent.mjs", import.meta.url))

interface PlannedRun {
  readonly entrypoint?: string
  readonly input?: string
  readonly tool?: string
  readonly artifact?: string
  readonly verdict?: "pass" | "fail"
  readonly log?: string
  readonly output?: string
  readonly fails?: string
  /** The process ends without a word about the run. */
  readonly left?: boolean
  readonly kills?: boolean
}
interface Plan {
  readonly runs: readonly PlannedRun[]
  readonly step?: string
  readonly conversation?: string
}

// They mask alike.
const [X, Y] = ["x", "y"].map((letter) => `ghp_${letter.repeat(36)}`) as [string, string]
const WORK: PlannedRun = {
  input: `read with ${X}, write with ${Y}`,
  artifact: `first ${X} then ${Y}`,
  verdict: "pass",
  log: "worked",
  output: `${X} and ${Y} are in place`,
}
const FAILED: PlannedRun = { entrypoint: "check", fails: `neither ${X} nor ${Y} fits` }
const PLAN: Plan = { runs: [WORK, FAILED], conversation: "c-1" }
const withWork = (more: PlannedRun): Plan => ({ ...PLAN, runs: [{ ...WORK, ...more }, FAILED] })
const swapped = (text: string): string => text.replace(X, "?").replace(Y, X).replace("?", Y)

const OTHER: readonly (readonly [string, Plan])[] = [
  ["another output", withWork({ output: "something else" })],
  ["a failure where it was fine", withWork({ fails: "no" })],
  ["a run without an end", withWork({ left: true })],
  ["an end that is fine", { ...PLAN, runs: [WORK, { entrypoint: "check", output: "fits" }] }],
  ["another error", { ...PLAN, runs: [WORK, { ...FAILED, fails: "disk full" }] }],
  ["another input", withWork({ input: "stop" })],
  ["another artifact", withWork({ artifact: "nothing" })],
  ["another verdict", withWork({ verdict: "fail" })],
  ["another step around its calls", { ...PLAN, step: "act" }],
  ["a run less", { ...PLAN, runs: [WORK] }],
  ["a run more", { ...PLAN, runs: [WORK, FAILED, { entrypoint: "check", tool: "write", output: "more" }] }],
  ["secrets that changed places in the output", withWork({ output: swapped(WORK.output!) })],
  ["secrets that changed places in the input", withWork({ input: swapped(WORK.input!) })],
  ["secrets that changed places in an artifact", withWork({ artifact: swapped(WORK.artifact!) })],
  ["secrets that changed places in an error", { ...PLAN, runs: [WORK, { ...FAILED, fails: swapped(FAILED.fails!) }] }],
]

interface Document {
  readonly run: string
  readonly certified: boolean
  readonly blocking: readonly { readonly reason: string }[]
  readonly certificate: {
    readonly scope: { hermetic: boolean; not_compared: { what: string }[]; says: string }
    readonly runs: readonly { entrypoint: string; ended: string; compared: readonly string[] }[]
  } | null
  readonly report: { readonly counts: { readonly asked: number } }
}

describe("[P-10] [P-12] a command and the runs that its process records are one", () => {
  let scratch: Scratch
  let source: string
  const data = (): string => join(scratch.path, "data")
  const command = [process.execPath, AGENT]

  const run = (plan: Plan, ...args: string[]): Promise<Finished> => {
    writeFileSync(join(scratch.path, "plan.json"), JSON.stringify(plan))
    return orangebox([...args, "--data", data(), "--", ...command], { cwd: scratch.path })
  }
  const record = async (plan: Plan): Promise<string> => {
    const { stderr } = await run(plan, "run")
    return /show (run_\w+)/.exec(stderr)![1]!
  }
  const replay = async (plan: Plan, ...options: string[]) => {
    const finished = await run(plan, "replay", source, "--json", ...options)
    const [json] = /^\{\n {2}"source_run"[\s\S]*?^\}$/m.exec(finished.stderr) ?? []
    if (json === undefined) throw new Error(finished.stderr)
    return { finished, document: JSON.parse(json) as Document }
  }
  const here = (...args: string[]): Promise<Finished> => orangeboxHere([...args, "--data", data()])

  beforeAll(async () => {
    scratch = scratchFolder()
    source = await record(PLAN)
  }, 120_000)
  afterAll(() => scratch.remove())

  test("the same again is certified, names what was compared of every run and what was not, and diff finds nothing", async () => {
    const file = join(scratch.path, "proof.json")
    const { finished, document } = await replay(withWork({ log: "worked, at another time" }), "--certificate", file)
    expect(document.blocking).toEqual([])
    expect(finished.exitCode).toBe(0)
    expect(document.certificate!.scope.hermetic).toBe(true)
    expect(document.certificate!.runs).toMatchObject([
      { entrypoint: "node", ended: "completed", compared: expect.arrayContaining(["input", "ending", "exit_status"]) },
      {
        entrypoint: "work",
        ended: "completed",
        compared: expect.arrayContaining(["input", "steps", "verdicts", "artifacts", "ending", "final_output"]),
      },
      { entrypoint: "check", ended: "failed", compared: expect.arrayContaining(["input", "ending"]) },
    ])
    expect(document.certificate!.scope.not_compared.map(({ what }) => what)).toEqual(
      expect.arrayContaining(["log lines", "the conversation it belongs to", "attributes of steps and log lines"]),
    )
    expect(await here("diff", source, document.run)).toMatchObject({ exitCode: 0 })
    const held = await here("verify", "--certificate", file)
    expect(held.exitCode, held.stdout + held.stderr).toBe(0)
    const certificate = JSON.parse(readFileSync(file, "utf8")) as { runs: { ended: string }[] }
    const forged = { ...certificate, runs: certificate.runs.with(1, { ...certificate.runs[1]!, ended: "failed" }) }
    writeFileSync(join(scratch.path, "forged.json"), JSON.stringify(forged))
    expect(await here("verify", "--certificate", join(scratch.path, "forged.json"))).toMatchObject({
      exitCode: 1,
      stdout: expect.stringContaining("runs is "),
    })
  }, 120_000)

  test.each(OTHER)(
    "%s in a run of the agent's own is not certified, and diff finds it",
    async (_, plan) => {
      const { finished, document } = await replay(plan)
      expect([finished.exitCode, document.certified], finished.stderr).toEqual([1, false])
      const { stdout, exitCode } = await here("diff", source, document.run)
      expect(exitCode, stdout).toBe(1)
    },
    120_000,
  )

  test("two recordings of a command that differ in what the agent recorded differ, and diagnose looks into it", async () => {
    const bad = await record({ runs: [{ ...WORK, left: true }] })
    const { stdout, exitCode } = await here("diff", source, bad)
    expect([exitCode, stdout]).toEqual([1, expect.stringContaining("work#1")])
    const diagnosed = await here("diagnose", bad)
    expect([diagnosed.exitCode, diagnosed.stdout]).toEqual([1, expect.stringContaining("PROVEN crash")])
    const { runs_inside } = jsonOf<{ runs_inside: { findings: { detector: string }[] }[] }>(
      await here("diagnose", bad, "--json"),
    )
    expect(runs_inside.map(({ findings }) => findings.map(({ detector }) => detector))).toEqual([["crash"]])
  }, 120_000)

  test("a process that is killed in a replay leaves an account: what it asked is known, and that it was killed is said", async () => {
    const { finished, document } = await replay(withWork({ kills: true }))
    expect([finished.exitCode, document.certified]).toEqual([1, false])
    expect(document.report.counts.asked).toBe(1)
    const reasons = document.blocking.map(({ reason }) => reason).join("\n")
    expect(reasons).toMatch(/process \d+ of the command was killed before it came to its end/)
    expect(reasons).toContain("1 recorded call(s) were never asked for")
  }, 120_000)
})
