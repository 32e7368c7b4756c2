import { execFileSync } from "node:child_process"
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { checkNode } from "../src/doctor/surroundings.js"
import { jsonOf, orangebox, orangeboxHere, type Scratch, scratchFolder } from "./command.js"
import { record } from "./recorded-run.js"

interface Examined {
  readonly ok: boolean
  readonly is_scratch: boolean
  readonly canary_run_id: string | null
  readonly checks: readonly { name: string; verdict: string; found: string; next: string | null }[]
}

describe("[O-06] orangebox doctor", () => {
  let scratch: Scratch
  beforeAll(() => {
    scratch = scratchFolder()
  })
  afterAll(() => scratch.remove())

  test("sends a canary through recorder, journal, collector and store, and finds it by reading and by search", async () => {
    const folder = join(scratch.path, "data")
    await record(folder, (recorder) => recorder.startRun({ entrypoint: "mine" }).complete())
    const examined = jsonOf<Examined>(await orangebox(["doctor", "--json", "--data", folder]))
    expect(examined).toMatchObject({ ok: true, is_scratch: false })
    const canary = examined.checks.filter(({ name }) => name.startsWith("canary"))
    expect(canary.map(({ name, verdict }) => `${name} ${verdict}`)).toEqual([
      "canary: journal ok",
      "canary: collector ok",
      "canary: store ok",
      "canary: body ok",
      "canary: search ok",
    ])
    const { runs } = jsonOf<{ runs: { run_id: string; app: string }[] }>(
      await orangeboxHere(["runs", "--all", "--json", "--data", folder]),
    )
    expect(runs).toContainEqual(expect.objectContaining({ run_id: examined.canary_run_id, app: "orangebox-doctor" }))
    // Both canaries are newer than it.
    const last = jsonOf<{ run: { entrypoint: string } }>(await orangeboxHere(["show", "--json", "--data", folder]))
    expect(last.run.entrypoint).toBe("mine")
    const shown = await orangeboxHere(["show", examined.canary_run_id ?? "", "--data", folder])
    expect(shown.stdout).toContain("orangebox-doctor")
  })

  test("a second canary flies over the wire: every variable that run sets leads through the proxy and is recorded", async () => {
    const tree = join(scratch.path, "tree")
    execFileSync("git", ["init", "--quiet", tree])
    writeFileSync(join(tree, "mine.txt"), "mine")
    const folder = join(scratch.path, "wire")
    await record(folder, (recorder) => recorder.startRun({ entrypoint: "mine" }).complete())
    const { checks } = jsonOf<Examined>(await orangebox(["doctor", "--json", "--data", folder], { cwd: tree }))
    expect(checks.find(({ name }) => name === "run: variables")).toMatchObject({ verdict: "ok" })
    expect(checks.find(({ name }) => name === "lag")).toMatchObject({ verdict: "ok" })
    // The work tree it was started in is not recorded with it.
    const events = "SELECT count(*) FROM events WHERE event_type = 'artifact_recorded'"
    const { rows } = jsonOf<{ rows: unknown[][] }>(await orangebox(["sql", events, "--json", "--data", folder]))
    expect(rows).toEqual([[0]])
  })

  test("where nothing is recorded yet, the canary flies in a scratch folder and nothing is left behind", async () => {
    const empty = join(scratch.path, "empty")
    mkdirSync(empty)
    const { stdout, exitCode } = await orangebox(["doctor"], { cwd: empty, env: { TMPDIR: empty } })
    expect(stdout).toContain("not there yet")
    expect(stdout).toContain("all well, the canary arrived (in a scratch folder")
    expect(exitCode).toBe(0)
    expect(readdirSync(empty)).toEqual([])
  })

  test("says what is wrong with a folder and how to put it right", async () => {
    const folder = join(scratch.path, "open")
    mkdirSync(folder)
    chmodSync(folder, 0o777)
    const { stdout, exitCode } = await orangeboxHere(["doctor", "--data", folder])
    expect(stdout).toMatch(/FAIL {2}data folder .*can be written by others[\s\S]*→ Run: chmod 700/)
    expect(stdout).toMatch(/FAIL {2}canary: journal/)
    expect(exitCode).toBe(1)
  })

  test("says once what to do about a configuration that cannot be used", async () => {
    const folder = join(scratch.path, "configured")
    mkdirSync(folder)
    const rules = { values: [{ id: "badge", pattern: "EMP-\\d+" }] }
    writeFileSync(join(folder, "orangebox.config.json"), JSON.stringify({ redaction: rules }))
    const { stdout } = await orangebox(["doctor"], { cwd: folder })
    expect(stdout).toMatch(/FAIL {2}configuration .*pattern:6 \+ has no upper bound.*\n +→ Correct the rule/)
    expect(stdout).not.toMatch(/configuration .*Correct the rule/)
  })

  test("says that recording is switched off", async () => {
    const env = { ORANGEBOX: "off", TMPDIR: scratch.path }
    const { stdout, exitCode } = await orangebox(["doctor", "--data", join(scratch.path, "none")], { env })
    expect(stdout).toContain("switched off by ORANGEBOX=off")
    expect(exitCode).toBe(1)
  })

  test.each([
    ["20.18.0", "failed"],
    ["20.19.0", "ok"],
    ["24.1.0", "ok"],
  ])("Node %s is %s", (version, verdict) => {
    expect(checkNode(version).verdict).toBe(verdict)
  })
})
