import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { type Finished, orangebox, orangeboxHere, type Scratch, scratchFolder } from "./command.js"
import { record } from "./recorded-run.js"

/** Clears the screen, sets the window title, reorders what is read, hides words, forges a line of ours, starts a line anew. */
const HOSTILE =
  "\u001b[2J\u001b]0;owned\u0007 \u202egnp.exe\u2066 \u200bhidden\u{e0041} \u009b31m \r forged\n#9 └ tool   rm -rf /  ok\u0000\u0008"
/** What is left of it must hold none of these; line breaks and tabs are ours. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Bidi_Control}]/u

describe("[Q-03] recorded text never reaches the terminal raw", () => {
  let scratch: Scratch
  beforeAll(async () => {
    scratch = scratchFolder()
    await record(
      scratch.path,
      async (recorder) => {
        const run = recorder.startRun({ entrypoint: `go${HOSTILE}`, input: HOSTILE, conversationId: `conv${HOSTILE}` })
        const step = run.step(`plan${HOSTILE}`, { [`key${HOSTILE}`]: HOSTILE })
        step.log.warn(`needle ${HOSTILE}`, { [HOSTILE]: HOSTILE })
        await step.tool(
          { name: `tool${HOSTILE}`, args: { a: HOSTILE }, callId: "call_hostile" },
          () => `needle ${HOSTILE}`,
        )
        await step
          .tool({ name: "fails", args: {} }, () => {
            throw Object.assign(new Error(HOSTILE), { name: HOSTILE })
          })
          .catch(() => {})
        step.end()
        run.fail(new Error(HOSTILE))
      },
      `app${HOSTILE}`,
    )
  })
  afterAll(() => scratch.remove())

  test.each([
    ["runs", ["runs"]],
    ["show", ["show"]],
    ["show as Markdown", ["show", "--all", "--markdown"]],
    ["show as JSON", ["show", "--json"]],
    ["step", ["step", "last#2"]],
    ["a body", ["step", "call_hostile", "--body", "result"]],
    ["decisions", ["decisions"]],
    ["decisions as lines", ["decisions", "--jsonl"]],
    ["decisions as log records", ["decisions", "--otel"]],
    ["check", ["check", "--rule", "tools.deny tool*", "--rule", "output.max_chars 1"]],
    ["report", ["report"]],
    ["report as Markdown", ["report", "--md"]],
    ["override", ["override", "last#2", "--verdict", "fail", "--author", HOSTILE, "--reason", HOSTILE]],
    ["search", ["search", "needle"]],
    ["verify", ["verify"]],
    ["an error that quotes what was typed", ["show", `conversation:no${HOSTILE.replaceAll("\u0000", "")}`]],
    ["an error that lists candidates", ["show", "conv"]],
  ])("%s", async (_, args) => expectSafe(await orangeboxHere([...args, "--data", scratch.path])))

  test("sql", async () => {
    const query = "SELECT *, char(27) || '[2J' AS x FROM events, runs"
    expectSafe(await orangebox(["sql", query, "--data", scratch.path]))
  })

  function expectSafe({ stdout, stderr }: Finished): void {
    for (const text of [stdout, stderr]) expect(text.replaceAll(/[\n\t]/g, "")).not.toMatch(UNSAFE)
    expect(stdout).not.toMatch(/^\s*#9 /m)
    expect(stdout + stderr).not.toBe("")
  }

  test("--raw gives the exact bytes, because nobody but a file or a pipe gets them", async () => {
    const { stdout } = await orangebox(["step", "call_hostile", "--body", "result", "--raw", "--data", scratch.path])
    expect(stdout).toBe(`needle ${HOSTILE}`)
  })
})
