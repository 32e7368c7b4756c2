import { spawn, spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { acquireStoreLock } from "@orangebox/store"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { jsonOf, orangebox, orangeboxHere, type Scratch, scratchFolder } from "./command.js"
import { record, recordOrdinaryRun } from "./recorded-run.js"

const BIN = fileURLToPath(new URL("../bin/orangebox.js", import.meta.url))
const hasScript = spawnSync("script", ["--version"]).status === 0

describe("reading commands", () => {
  let scratch: Scratch
  const runIds: string[] = []
  const at = (...args: string[]): string[] => [...args, "--data", scratch.path]

  beforeAll(async () => {
    scratch = scratchFolder()
    await record(scratch.path, async (recorder) => {
      for (const animal of ["sheep", "goats", "geese"]) {
        runIds.push((await recordOrdinaryRun(recorder, `count the ${animal}`)).runId)
      }
    })
  })
  afterAll(() => scratch.remove())

  test("[Q-02] an id that says what it is of stands for nothing else", async () => {
    const { stderr, exitCode } = await orangeboxHere(at("show", "conversation:last"))
    expect(exitCode).toBe(2)
    expect(stderr).toContain('nothing recorded here has the address "conversation:last"')
    expect((await orangeboxHere(at("show", "last~1"))).stdout).toContain("count the goats")
    expect((await orangeboxHere(at("step", "last~2#1"))).stdout).toContain("count the sheep")
  })

  test("runs are paged with n of N and a cursor that goes on where the page ended", async () => {
    const first = await orangeboxHere(at("runs", "--limit", "2"))
    expect(first.stdout).toMatch(/2 of 3 runs · next: orangebox runs .*--cursor \S+/)
    const cursor = /--cursor (\S+)/.exec(first.stdout)![1]!
    const rest = jsonOf<{ runs: { run_id: string }[]; total: number }>(
      await orangeboxHere(at("runs", "--cursor", cursor, "--json")),
    )
    expect(rest.runs.map(({ run_id }) => run_id)).toEqual([runIds[0]])
    expect(rest.total).toBe(3)
  })

  test("[Q-01] show folds to a budget, says what it left out, and ends with the digest", async () => {
    const all = await orangeboxHere(at("show", runIds[0]!.slice(0, 30), "--all"))
    expect(all.stdout).toContain("the gate is locked")
    expect(all.stdout.trimEnd()).toMatch(/digest sha256:[0-9a-f]{64}$/)
    expect(all.stderr).toBe("")
    const { runs } = jsonOf<{ runs: { run_id: string }[] }>(
      await orangeboxHere(at("show", "conversation:conv-sheep", "--json")),
    )
    expect(runs.map(({ run_id }) => run_id)).toEqual(runIds)
  })

  test("[Q-02] the commands that show and step suggest can be pasted as they are", async () => {
    const { stdout } = await orangeboxHere(at("show"))
    const suggested = /next: orangebox (step [^·\n]+)/.exec(stdout)![1]!.trim().split(" ")
    const step = await orangeboxHere(suggested)
    expect(step.stdout).toContain("open_gate")
    expect(step.exitCode).toBe(0)
  })

  test("[Q-02] a body is read in slices that meet, and --raw gives its bytes", async () => {
    const slices: string[] = []
    for (let from = 0; ; ) {
      const slice = jsonOf<{ text: string; next_from: number | null; total: number }>(
        await orangeboxHere(at("step", "last#4", "--body", "result", "--from", String(from), "--bytes", "6", "--json")),
      )
      slices.push(slice.text)
      expect(slice.total).toBe(14)
      if (slice.next_from === null) break
      from = slice.next_from
    }
    expect(slices).toEqual(["one\ntw", "o\nthre", "e\n"])
  })

  test("what is recorded while a collector watches is readable, and the watch ends in good order", async () => {
    const folder = join(scratch.path, "watched")
    await record(folder, async (recorder) => void (await recordOrdinaryRun(recorder)))
    const watched = await orangebox(["collect", "--watch", "--json", "--data", folder], { stopAfter: /"collected"/ })
    const kinds = watched.stdout
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { kind: string }).kind)
    expect(kinds).toContain("opened")
    expect(kinds).toContain("collected")
    expect(watched.exitCode).toBe(0)
  })

  test("an answer that cannot be brought up to date, because another collector is busy, says how far it is behind", async () => {
    const folder = join(scratch.path, "busy")
    await record(folder, async (recorder) => void (await recordOrdinaryRun(recorder)))
    await orangeboxHere(["collect", "--data", folder])
    await record(folder, async (recorder) => void (await recordOrdinaryRun(recorder)))
    const lock = acquireStoreLock(join(folder, "store"))
    if (!lock.isHeld) throw new Error("somebody else has the lock")
    const { stdout, stderr, exitCode } = await orangeboxHere(["runs", "--data", folder])
    lock.release()
    expect(stdout).toContain("1 run")
    expect(stderr).toMatch(/behind by [\d.]+ kB of journal: process \d+ on .* is collecting/)
    expect(exitCode).toBe(0)
    expect((await orangeboxHere(["runs", "--data", folder])).stdout).toContain("2 runs")
  })

  test("prune forgets what is old, and says that it was pruned when it is asked for", async () => {
    const folder = join(scratch.path, "pruned")
    let runId = ""
    await record(folder, async (recorder) => {
      runId = (await recordOrdinaryRun(recorder)).runId
    })
    await orangeboxHere(["collect", "--data", folder])
    const { stdout } = await orangeboxHere(["prune", "--max-age", "0s", "--data", folder])
    expect(stdout).toMatch(/pruned 1 run/)
    const { stderr, exitCode } = await orangeboxHere(["show", runId, "--data", folder])
    expect(stderr).toMatch(/was pruned on \d{4}-\d{2}-\d{2}/)
    expect(exitCode).toBe(2)
  })

  test("a pipe gets no escape codes, and a reader that leaves early gets no complaint", async () => {
    const { stdout } = await orangebox(at("show"))
    expect(stdout).not.toContain("\u001b")
    const child = spawn(
      process.execPath,
      [BIN, ...at("sql", "SELECT * FROM events, events AS more", "--limit", "5000")],
      {
        stdio: ["ignore", "pipe", "pipe"],
      },
    )
    let stderr = ""
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text
    })
    child.stdout.once("data", () => child.stdout.destroy())
    const exitCode = await new Promise((resolve) => child.once("close", resolve))
    expect(stderr).toBe("")
    expect(exitCode).toBe(0)
  })

  describe.skipIf(!hasScript)("on a terminal", () => {
    const inTerminal = (args: string[], env: Record<string, string> = {}) =>
      spawnSync("script", ["-qec", [process.execPath, BIN, ...args].join(" "), "/dev/null"], {
        encoding: "utf8",
        env: { ...process.env, TERM: "xterm", NO_COLOR: "", ...env },
        input: "",
      })

    test("there are colours, but never with NO_COLOR", () => {
      expect(inTerminal(at("show")).stdout).toContain("\u001b[")
      expect(inTerminal(at("show"), { NO_COLOR: "1" }).stdout).not.toContain("\u001b[")
    })

    test("what is left on the screen after long work is the answer, not the progress bar", async () => {
      const folder = join(scratch.path, "long")
      await record(folder, (recorder) => {
        const run = recorder.startRun({ entrypoint: "many" })
        for (let line = 0; line < 10_000; line++) run.log.info(`line ${line}`)
        run.complete()
      })
      const { stdout } = inTerminal(["collect", "--data", folder])
      expect(stdout.split("\u001b[2K").at(-1)).toMatch(/^10004 new events/)
    })

    test("--raw refuses to write to it unless it is forced", () => {
      const body = at("step", "last#4", "--body", "result", "--raw")
      const refused = inTerminal(body)
      expect(refused.stdout).toContain("may hold codes that take over a terminal")
      expect(refused.status).toBe(2)
      expect(inTerminal([...body, "--force"]).stdout).toContain("three")
    })
  })

  test.skipIf(!existsSync("/bin/bash"))("bash completes commands, options and run ids", () => {
    const script = `
      orangebox() { ${process.execPath} ${BIN} "$@"; }
      source <(orangebox completion bash)
      complete_line() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _orangebox; echo "\${COMPREPLY[*]}"; }
      complete_line orangebox ver
      complete_line orangebox show --data ${scratch.path} --bud
      complete_line orangebox show --data ${scratch.path} ${runIds[2]!.slice(0, 28)}`
    const { stdout, stderr } = spawnSync("/bin/bash", ["-c", script], { encoding: "utf8" })
    expect(stderr).toBe("")
    expect(stdout.split("\n").slice(0, 2)).toEqual(["verify", "--budget"])
    expect(stdout).toContain(runIds[2])
  })
})
