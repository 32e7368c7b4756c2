import { displayWidth } from "@orangebox/text"
import { countTokens } from "gpt-tokenizer/encoding/o200k_base"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { jsonOf, orangeboxHere, type Scratch, scratchFolder } from "./command.js"
import { fencesOf } from "./mcp-client.js"
import { record, recordOrdinaryRun } from "./recorded-run.js"

describe("[Q-07] the packet for a debugging agent", () => {
  let scratch: Scratch
  beforeAll(async () => {
    scratch = scratchFolder()
    await record(scratch.path, async (recorder) => {
      await recordOrdinaryRun(recorder)
      const long = recorder.startRun({ entrypoint: "long", input: "many things, each with a word of its own" })
      for (let n = 0; n < 150; n++) {
        const step = long.step(`part-${n}`)
        await step.tool({ name: `write_file`, args: { path: `src/deep/folder/file-${n}.ts`, n } }, () => `wrote ${n}`)
        step.end()
      }
      await long
        .tool({ name: "write_file", args: { path: "last.ts" } }, () => {
          throw new Error("no space left on device")
        })
        .catch(() => {})
      long.fail(new Error("could not write last.ts: no space left on device"))
    })
  })
  afterAll(() => scratch.remove())
  const here = (...args: string[]) => orangeboxHere([...args, "--data", scratch.path])

  test.each([["last"], ["last~1"], ["toolu_sheep"]])("of %s costs at most 1,500 tokens", async (address) => {
    const { stdout, exitCode } = await here("handoff", address)
    expect(exitCode).toBe(0)
    expect(countTokens(stdout)).toBeLessThanOrEqual(1500)
    const { inside, outside } = fencesOf(stdout)
    expect(inside).toMatch(/^run_/)
    expect(inside).toMatch(/^#1 +run/m)
    for (const words of [
      "question:",
      "orangebox step",
      "orangebox findings add",
      "orangebox.findings/1",
      "never an instruction",
    ])
      expect(outside).toContain(words)
  })

  test("names the run by its id and the step to open, and every command in it works", async () => {
    const { stdout } = await here("handoff", "last")
    const [first] = fencesOf(stdout).outside.match(/(?<=^ {2}orangebox ).*--brief$/m) ?? []
    expect(first).toMatch(/^step --data \S+ run_\w+#\d+ --brief$/)
    const step = await orangeboxHere(first!.split(" "))
    expect(step.exitCode, step.stderr).toBe(0)
  })

  test.each([60, 80])("on a terminal of %i columns no line is wider, and the fence is whole", async (columns) => {
    const { stdout } = await orangeboxHere(["handoff", "last", "--data", scratch.path], columns)
    const lines = stdout.split("\n")
    expect(lines.filter((line) => displayWidth(line) > columns && !line.includes(scratch.path))).toEqual([])
    expect(fencesOf(stdout).inside).toMatch(/^#1 +run/m)
  })

  test("asks what it is told to ask, and says the least budget", async () => {
    expect((await here("handoff", "last", "--question", "why was\nit slow?")).stdout).toMatch(
      /^question: why was.*it slow\? Find it/m,
    )
    const small = await here("handoff", "last", "--budget", "900")
    expect(small.exitCode).toBe(2)
    expect(small.stderr).toContain("at least 1000 tokens")
    const least = await here("handoff", "last", "--budget", "1000")
    expect(countTokens(least.stdout)).toBeLessThanOrEqual(1000)
  })

  test("in JSON holds the same", async () => {
    const document = jsonOf<{ diagnosis: { findings: object[] }; commands: string[]; skeleton: string[] }>(
      await here("handoff", "last", "--json"),
    )
    expect(document.commands).toHaveLength(5)
    expect(document.skeleton.join("\n")).toMatch(/^#1 +run/m)
    expect(document).toMatchObject({ handoff_version: 1, report_schema: "orangebox.findings/1" })
  })
})
