import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, isAbsolute, join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { Recorder } from "@orangebox/recorder"
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest"
import { jsonOf, orangebox, orangeboxHere, type Scratch, scratchFolder } from "./command.js"

interface SnapshotDocument {
  readonly request: { outcome: string; reason: string | null; as: string } | null
  readonly snapshots: readonly {
    artifact_id: string
    kind: string
    n: number
    trigger: string
    path: string
    hash: string
    size_bytes: number
    created_at: string
    written: { outcome: string; where: string | null; reason: string | null } | null
  }[]
}

const REQUEST = '{"question":"how many sheep?"}'

/** An agent in a process of its own that asks, reads and ends a step again and again, or only once and then hangs. */
async function startAgent(
  folder: string,
  how: "working" | "hanging",
): Promise<{ runId: string; kill(): Promise<void> }> {
  const path = fileURLToPath(new URL("children/live-agent.mjs", import.meta.url))
  const child = spawn(process.execPath, [path, folder, how], { stdio: ["ignore", "pipe", "inherit"] })
  onTestFinished(() => void child.kill("SIGKILL"))
  const [said] = (await once(child.stdout, "data")) as [Buffer]
  const kill = async (): Promise<void> => {
    child.kill("SIGKILL")
    await once(child, "exit")
  }
  return { runId: said.toString().trim(), kill }
}

describe("[F-05] orangebox snapshot", () => {
  let scratch: Scratch
  let folder: string
  beforeEach(() => {
    scratch = scratchFolder()
    folder = join(scratch.path, ".orangebox")
  })
  afterEach(() => scratch.remove())
  const at = (...args: string[]): string[] => ["snapshot", ...args, "--data", folder]

  /** A run that is over, and left a snapshot because a tool failed. */
  async function recordFault(): Promise<string> {
    const recorder = Recorder.open({ app: "test-app", folder, bodies: "on_fault" })
    const run = recorder.startRun({ entrypoint: "count" })
    const step = run.step("plan")
    await step.model({ provider: "p", model: "m", request: REQUEST }, () => "seven")
    await step.tool({ name: "gate", args: {} }, () => Promise.reject(new Error("locked"))).catch(() => {})
    step.end()
    run.complete()
    recorder.close()
    return run.runId
  }

  test("a live run answers when a step ends: the prompt and the tool's output, with the asker's role on record", async () => {
    const { runId, kill } = await startAgent(folder, "working")
    const printed = jsonOf<SnapshotDocument>(await orangebox(at(runId, "--as", "runtime", "--wait", "30", "--json")))
    expect(printed.request).toMatchObject({ outcome: "taken", as: "runtime" })
    expect(new Set(printed.snapshots.map(({ kind }) => kind))).toEqual(new Set(["prompt", "tool_output", "answer"]))
    for (const { trigger, path, hash, size_bytes, created_at } of printed.snapshots) {
      expect(trigger).toBe("debug_request")
      // The agent works elsewhere: seen from there, the path leads into the data folder.
      expect(isAbsolute(path)).toBe(false)
      expect(dirname(dirname(resolve(path)))).toBe(join(folder, "snapshots"))
      expect(hash).toMatch(/^sha256:/)
      expect(size_bytes).toBeGreaterThan(0)
      expect(Number.isNaN(Date.parse(created_at))).toBe(false)
    }
    const again = jsonOf<SnapshotDocument>(await orangebox(at(runId, "--wait", "30", "--json")))
    expect(again.snapshots.length).toBeGreaterThan(printed.snapshots.length)
    await kill()
  })

  test("a run in the middle of a long call is not waited for beyond the time given; the request stays", async () => {
    const { runId, kill } = await startAgent(folder, "hanging")
    const late = await orangebox(at(runId, "--wait", "0"))
    expect(late).toMatchObject({ stdout: "", exitCode: 1 })
    expect(late.stderr).toContain("not yet: no step has ended since; it is taken when one does")
    expect(existsSync(join(folder, "control", `${runId}.snapshot`))).toBe(true)
    await kill()
    const dead = await orangebox(at(runId, "--wait", "30"))
    expect(dead.stderr).toContain("none can be taken: the run is over: it crashed; it left 1 snapshot")
    expect(dead.stdout).toMatch(/prompt_snapshot-1 +#\d+ +system_error/)
    expect(existsSync(join(folder, "control", `${runId}.snapshot`))).toBe(false)
  })

  test("a run that is over is not asked; what it left is listed, and exit code 1 says that there is nothing", async () => {
    const runId = await recordFault()
    const listed = await orangeboxHere(at(runId))
    expect(listed.exitCode).toBe(0)
    expect(listed.stderr).toContain("the run is over: it completed; it left 2 snapshots")
    expect(listed.stdout).toMatch(/prompt_snapshot-\d+ +#2 +tool_failure/)
    expect(existsSync(join(folder, "control"))).toBe(false)

    const recorder = Recorder.open({ app: "test-app", folder })
    recorder.startRun({ entrypoint: "nothing" }).complete()
    recorder.close()
    const none = await orangeboxHere(at("last", "--list"))
    expect(none).toMatchObject({ stdout: "", exitCode: 1 })
    expect(none.stderr).toContain("this run has no snapshot")
  })

  test("[F-01] --write puts the bytes at their path, for their owner only; again is fine, something else is left alone", async () => {
    const runId = await recordFault()
    const write = async () => jsonOf<SnapshotDocument>(await orangeboxHere(at(runId, "--list", "--write", "--json")))
    const [prompt] = (await write()).snapshots
    const file = resolve(prompt!.path)
    expect(prompt!.written).toEqual({ outcome: "written", where: file, reason: null })
    expect(readFileSync(file, "utf8")).toBe(REQUEST)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect((await write()).snapshots[0]!.written!.outcome).toBe("same")

    writeFileSync(file, "mine")
    const refused = await orangeboxHere(at(runId, "--list", "--write"))
    expect(refused.stdout).toMatch(/^refused +prompt_snapshot-\d+: .*is there already and is something else$/m)
    expect(refused.exitCode).toBe(1)
    expect(readFileSync(file, "utf8")).toBe("mine")
  })

  test("[F-04] a path out of a recording cannot lead elsewhere: links are not followed, dots are refused", async () => {
    const runId = await recordFault()
    const elsewhere = join(scratch.path, "elsewhere")
    mkdirSync(elsewhere)
    mkdirSync(join(folder, "snapshots"))
    symlinkSync(elsewhere, join(folder, "snapshots", runId))
    const linked = await orangeboxHere(at(runId, "--list", "--write"))
    expect(linked.stdout).toContain("is a link or a file, not a folder")
    expect(linked.exitCode).toBe(1)

    const recorder = Recorder.open({ app: "test-app", folder })
    const run = recorder.startRun({ entrypoint: "evil" })
    for (const [i, path] of [
      ".orangebox/snapshots/../../x",
      ".orangebox/snapshots//x",
      ".orangebox/snapshots/a\\b",
    ].entries())
      run.artifact({ id: `evil-${i}`, type: "prompt_snapshot", summary: "x", content: "evil", path })
    run.complete()
    recorder.close()
    const dotted = jsonOf<SnapshotDocument>(await orangeboxHere(at("last", "--list", "--write", "--json")))
    expect(dotted.snapshots.map(({ written }) => written!.outcome)).toEqual(["refused", "refused", "refused"])
    expect(existsSync(join(scratch.path, "x"))).toBe(false)
  })

  test("what was pruned, or never kept, is said and not written", async () => {
    const runId = await recordFault()
    await orangeboxHere(["prune", "--snapshot-max-age", "0s", "--data", folder])
    const pruned = await orangeboxHere(at(runId, "--list", "--write"))
    expect(pruned.stdout).toMatch(/^no bytes prompt_snapshot-\d+: pruned on \d{4}-\d\d-\d\d, was 30 bytes$/m)
    expect(pruned.exitCode).toBe(1)
  })

  test.each([
    ["no run", [], /missing required argument 'run'/],
    ["an unknown run", ["run_0000000000"], /nothing recorded here has the address|nothing is recorded/],
    ["an unknown role", ["last", "--as", "nobody"], /Allowed choices are builder, runtime/],
    ["a wait that is no number", ["last", "--wait", "soon"], /must be a whole number/],
  ])("bad input is told, exit code 2: %s", async (_, args, message) => {
    await recordFault()
    const { stdout, stderr, exitCode } = await orangeboxHere(at(...args))
    expect(stderr).toMatch(message)
    expect(stdout).toBe("")
    expect(exitCode).toBe(2)
  })
})
