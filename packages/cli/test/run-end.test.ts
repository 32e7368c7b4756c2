import { spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { FAKES } from "../../redaction/test/fake-secrets.js"
import { jsonOf, orangebox, orangeboxHere, type Scratch, scratchFolder } from "./command.js"

let scratch: Scratch
let folder: string
beforeEach(() => {
  scratch = scratchFolder()
  folder = join(scratch.path, ".orangebox")
})
afterEach(() => scratch.remove())

const AGENT = fileURLToPath(new URL("children/leaving-agent.mjs", import.meta.url))

async function endBy(how: string, ...more: string[]): Promise<void> {
  const child = spawn(process.execPath, [AGENT, folder, how, ...more], { stdio: "ignore" })
  await once(child, "exit")
}

const read = async (...args: string[]): Promise<string> => (await orangeboxHere([...args, "--data", folder])).stdout

/** How the run ended as each reader tells it. */
async function told() {
  const show = await read("show", "last")
  const runs = jsonOf<{ runs: { status: string; error_class: string; error_summary: string }[] }>(
    await orangeboxHere(["runs", "--json", "--data", folder]),
  )
  const { status, error_class, error_summary } = runs.runs[0]!
  return {
    status,
    error_class,
    error_summary,
    line: show.split("\n").find((line) => line.startsWith("✗")),
    report: (await read("report", "last")).split("\n").find((line) => line.startsWith("  ended by")),
    step: (await read("step", "last#2")).split("\n").find((line) => line.startsWith("  ended ")),
  }
}

describe("[R-16] how a run ended is named wherever the run is shown, and no wider than what was seen", () => {
  test.each([
    [
      "throws",
      "uncaught_exception",
      "RangeError",
      "the plan cannot be read",
      'uncaught exception in #2: RangeError: "the plan cannot be read" (process',
    ],
    [
      "rejects",
      "unhandled_rejection",
      "AggregateError",
      "all of them failed",
      "unhandled rejection in #2: AggregateError: ",
    ],
    ["throws text", "uncaught_exception", "NonError", "only a text", 'NonError: "only a text"'],
    ["throws nothing", "uncaught_exception", "NonError", "undefined", 'NonError: "undefined"'],
    ["throws an object", "uncaught_exception", "Object", '{"code":42,"hint":"no error at all"}', "Object: "],
    ["throws a trap", "uncaught_exception", "Error", "[unreadable]", "uncaught exception in #2: Error"],
    ["throws a circle", "uncaught_exception", "Error", "round and round", 'Error: "round and round"'],
    ["exits", "exit", null, null, "exited in #2 with code 1 and left the run open"],
    ["exits well", "exit", null, null, "exited in #2 with code 0 and left the run open"],
    [
      "logs and exits",
      "exit",
      "RangeError",
      "caught at the last door",
      "with code 3 and left the run open, after an uncaught RangeError",
    ],
    ["goes on", "exit", null, null, "exited in #2 with code 0 and left the run open"],
    ["is terminated", "gone", null, null, "it said nothing, so how is not known"],
    ["is killed", "gone", null, null, "it said nothing, so how is not known"],
    ["closes", "closed", null, null, "the recorder was closed in #2 and left the run open"],
  ])("a process that %s", async (how, endedBy, errorClass, summary, words) => {
    await endBy(how)
    const found = await told()
    expect(found).toMatchObject({ status: "crashed", error_class: errorClass })
    if (summary === null) expect(found.error_summary).toBeNull()
    else expect(found.error_summary).toContain(summary.slice(0, 20))
    for (const text of [found.line, found.report, found.step]) expect(text).toContain(words)
    const { run } = jsonOf<{ run: { crash: object } }>(
      await orangeboxHere(["show", "last", "--json", "--data", folder]),
    )
    expect(run.crash).toMatchObject({ ended_by: endedBy })
  })

  test("the stack, the causes and the errors inside an error are there to be read", async () => {
    await endBy("throws")
    const thrown = await read("step", "last#2")
    expect(thrown).toMatch(/its second line\n {2}│ {5}at .*leaving-agent\.mjs/)
    expect(thrown).toContain("caused by TypeError: the inner reason")
    await endBy("rejects")
    const rejected = await read("step", "last#2")
    expect(rejected).toContain("[0] TypeError: the inner reason")
    expect(rejected).toContain("[1] NonError: a text")
    expect(rejected).toContain("[2] NonError: null")
    expect(await read("search", "inner reason")).toContain("3 hits at 4 places")
  })

  test("a message of five million characters is kept by its beginning, its length and where it was thrown", async () => {
    await endBy("throws very much")
    const error = jsonOf<{ text: string }>(
      await orangeboxHere(["step", "last#2", "--body", "error", "--bytes", "200000", "--json", "--data", folder]),
    )
    expect(error.text).toContain('"message_length":5000000')
    expect(error.text).toMatch(/leaving-agent\.mjs:\d+/)
    expect(error.text.length).toBeLessThan(200_000)
  })

  test("secrets in an error are masked, and under hashed not a word of it is kept but its class", async () => {
    const secret = FAKES["anthropic-key"]!
    await endBy("throws", "redacted", secret)
    const masked = await read("step", "last#2", "--all")
    expect(masked).toContain("…redacted…")
    expect(masked).not.toContain(secret)
    await endBy("throws", "hashed", secret)
    const hashed = await read("step", "last#2", "--all")
    expect(hashed).toContain("uncaught exception in #2: RangeError (process")
    expect(hashed).not.toMatch(/plan cannot|inner reason/)
    expect(hashed).toContain("not here: hashed")
  })

  test("SQL names the error of a run as it does that of a run that failed by its own word", async () => {
    await endBy("throws")
    const query = "SELECT status, error_class, error_summary FROM runs"
    const { rows } = jsonOf<{ rows: unknown[] }>(await orangebox(["sql", query, "--json", "--data", folder]))
    expect(rows).toEqual([["crashed", "RangeError", "the plan cannot be read"]])
  })

  test("a crashed run is verified without a finding, and what ended it is named", async () => {
    await endBy("throws")
    const verified = await orangeboxHere(["verify", "last", "--data", folder])
    expect(verified.exitCode).toBe(0)
    expect(verified.stdout).toContain('open: uncaught exception in #2: RangeError: "the plan cannot be read"')
  })
})
