import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { jsonOf, orangebox, orangeboxHere, type Scratch, scratchFolder } from "./command.js"
import { record, recordOrdinaryRun } from "./recorded-run.js"

describe("a journal with damaged lines", () => {
  let scratch: Scratch
  beforeAll(() => {
    scratch = scratchFolder()
  })
  afterAll(() => scratch.remove())

  /** Puts other lines for the first line of a journal that holds all these words. */
  function change(folder: string, words: readonly string[], to: (line: string) => readonly string[]): void {
    const [name] = readdirSync(join(folder, "journal")).filter((file) => file.endsWith(".ndjson"))
    const path = join(folder, "journal", name!)
    const lines = readFileSync(path, "utf8").split("\n")
    const at = lines.findIndex((line) => words.every((word) => line.includes(word)))
    expect(at).toBeGreaterThan(0)
    lines.splice(at, 1, ...to(lines[at]!))
    writeFileSync(path, lines.join("\n"))
  }
  const damage = (folder: string, ...words: readonly string[]): void =>
    change(folder, words, (line) => {
      const middle = line.length >> 1
      return [`${line.slice(0, middle)}${line[middle] === "X" ? "Y" : "X"}${line.slice(middle + 1)}`]
    })
  const lose = (folder: string, ...words: readonly string[]): void => change(folder, words, () => [])
  const said = async (...args: readonly string[]): Promise<string> => {
    const { stdout, stderr } = await orangeboxHere(args)
    return stdout + stderr
  }

  test("[Q-08] a run whose end may be in one says so in show and verify, and no crash is proven", async () => {
    const data = join(scratch.path, "end")
    await record(data, async (recorder) => {
      await recordOrdinaryRun(recorder)
    })
    damage(data, '"run_completed"')
    const [shown, verified, diagnosed] = await Promise.all(
      ["show", "verify", "diagnose"].map(async (name) => (await orangeboxHere([name, "last", "--data", data])).stdout),
    )
    expect(shown).toContain("its end may be in a damaged line of its journal")
    expect(shown).toContain("steps, 1 log (--logs shows them), its end may be lost")
    expect(shown).not.toContain("0 lost")
    expect(verified).toContain("declared: end_in_doubt")
    expect(diagnosed).toContain("POSSIBLE crash")
    expect(diagnosed).not.toContain("PROVEN crash")
    const file = join(scratch.path, "end.obxrun")
    await orangeboxHere(["export", "last", "-o", file, "--data", data])
    expect((await orangeboxHere(["show", file])).stdout).toContain("its end may be in a damaged line of its journal")
  })

  test("[Q-08] a damaged line that another run of the process lacks puts no end in doubt", async () => {
    const data = join(scratch.path, "middle")
    let whole = ""
    await record(data, async (recorder) => {
      whole = (await recordOrdinaryRun(recorder)).runId
      recorder.startRun({ entrypoint: "left open" }).step("a")
    })
    damage(data, '"tool_called"', whole)
    const { stdout } = await orangeboxHere(["diagnose", "last", "--data", data])
    expect(stdout).toContain("PROVEN crash")
    expect(await said("show", whole, "--data", data)).toContain("1 event lost")
  })

  test("[Q-08] every view of a run that lost events says how many, and counts the same commands", async () => {
    const data = join(scratch.path, "lost")
    await record(data, async (recorder) => {
      const run = recorder.startRun({ entrypoint: "x" })
      run.step("plan").end()
      await run.tool({ name: "bash", args: { command: "ls" } }, () => "a")
      await run.tool({ name: "bash", args: { command: "ls b" } }, () => "b")
      run.complete()
    })
    lose(data, '"step_started"')
    lose(data, '"tool_called"')
    for (const view of ["show", "context", "diagnose", "report"])
      expect(await said(view, "last", "--data", data), view).toMatch(/2 events (lost|of the run)/)
    expect(await said("decisions", "last", "--data", data)).toContain("2 events of the run lost")
    const report = await said("report", "last", "--data", data)
    expect(report).toContain("2 command")
    expect(report).toContain("; 2 commands")
  })

  test("[Q-08] verify and sql count the same open steps where the opening of the run is lost", async () => {
    const data = join(scratch.path, "opening")
    await record(data, async (recorder) => {
      await recordOrdinaryRun(recorder)
    })
    lose(data, '"run_started"')
    lose(data, '"run_completed"')
    const [row] = (
      jsonOf(await orangebox(["sql", "SELECT open_steps FROM runs", "--json", "--data", data])) as {
        rows: number[][]
      }
    ).rows
    expect(row).toEqual([1])
    expect(await said("verify", "last", "--data", data)).toContain("1 step open")
  })
})
