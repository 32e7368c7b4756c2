import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { afterEach, beforeEach, expect, test } from "vitest"
import { orangeboxHere, type Scratch, scratchFolder } from "./command.js"

let scratch: Scratch
beforeEach(() => {
  scratch = scratchFolder()
})
afterEach(() => scratch.remove())

const AGENT = fileURLToPath(new URL("children/ordinary-agent.mjs", import.meta.url))

/** What the agent says of itself, and how every command answers about its run. */
function recorded(what: string) {
  const { stdout, stderr } = spawnSync(process.execPath, [AGENT, scratch.path, what], { encoding: "utf8" })
  const runId = stdout.slice(0, 30)
  const ask = (command: string, address = runId, ...more: string[]) =>
    orangeboxHere([command, address, ...more, "--data", scratch.path])
  return { runId, stderr, ask }
}

test("[M-07] a context that is refused is said on stderr once, stands in the step, and is a finding of diagnose and verify", async () => {
  const { stderr, ask } = recorded("refused context")
  expect(stderr.match(/orangebox: .*items\.0\.type is "sausage"/g)).toHaveLength(1)
  expect((await ask("show")).stdout).toContain("a context could not be recorded")
  const diagnosis = await ask("diagnose")
  expect(diagnosis.stdout).toContain("context_refused")
  const verdict = await ask("verify")
  expect(verdict).toMatchObject({ exitCode: 1 })
  expect(verdict.stdout).toContain("context_refused")
})

test("[M-07] [M-06] a told item that the request does not hold is named as missing by every reader, and by none as injected or seen", async () => {
  const { runId, ask } = recorded("missing item")
  const words = "told item 2 is not in the request"
  for (const command of ["show", "context", "report", "check", "diagnose"]) {
    const { stdout } = await ask(command, runId, ...(command === "check" ? ["--rule", "secrets.none"] : []))
    expect([command, stdout]).toEqual([command, expect.stringContaining(words)])
    expect([command, stdout]).not.toEqual([command, expect.stringContaining("context_injected")])
  }
  expect((await ask("context", `${runId}#3`)).stdout).toMatch(/told, but not in the request: .*\n.*doc/)
})

test("[M-08] a chunk leads to what a recorded retrieval gave, or it is said why not", async () => {
  const { runId, ask } = recorded("retrieved chunks")
  const verdict = await ask("verify")
  expect(verdict.stdout).toContain("item made-up comes from chunk:made-up, which leads to nothing that was recorded")
  expect(verdict.stdout).not.toContain("chunk:kept")
  expect(verdict.stdout).not.toContain("chunk:bare")
  expect(verdict.stdout).not.toContain("results#count")
  const list = await ask("step", `${runId}#3`, "--body", "candidate_list")
  expect(list.stdout).not.toContain("undefined")
})

test("[G-02] an error of a tool that nobody caught: the tool is the cause, and the run's end what it led to", async () => {
  const { ask } = recorded("tool error")
  const { findings } = JSON.parse((await ask("diagnose", undefined, "--json")).stdout)
  expect(findings[0]).toMatchObject({ detector: "crash", cause_step: 5, fails_step: 2 })
  const { stdout } = await ask("diagnose")
  expect(stdout).toContain("the error of #5 was caught by nobody")
})

test("[F-08] a process that is killed outside audit leaves an account of where it stood and what had come", async () => {
  const { ask } = recorded("killed")
  const { stdout } = await ask("show")
  expect(stdout).toMatch(/crashed after \d+ B of the response/)
  expect(stdout).toContain("process")
  expect((await ask("diagnose")).stdout).toMatch(/crash .*bytes of its response had come/s)
})
