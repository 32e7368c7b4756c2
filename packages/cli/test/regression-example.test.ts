import { spawnSync } from "node:child_process"
import { cpSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { orangeboxHere, type Scratch, scratchFolder } from "./command.js"

const ROOT = fileURLToPath(new URL("../../../", import.meta.url))

describe("[K-13] the example of a repository that keeps a run as its test", () => {
  let scratch: Scratch
  const at = (name: string) => join(scratch.path, name)
  const node = (...args: string[]) => {
    const { ORANGEBOX_HOME: _home, ORANGEBOX: _switch, NODE_TEST_CONTEXT: _test, ...env } = process.env
    return spawnSync(process.execPath, args, { cwd: scratch.path, encoding: "utf8", env })
  }
  const withPrompt = (prompt: string) => {
    writeFileSync(at("prompt.txt"), prompt)
    return node("ci.mjs")
  }

  beforeAll(() => {
    scratch = scratchFolder()
    cpSync(join(ROOT, "examples/regression"), scratch.path, { recursive: true })
    symlinkSync(join(ROOT, "node_modules"), at("node_modules"))
  })
  afterAll(() => scratch.remove())

  test("its hermetic test passes without a model, and fails with the place once the prompt is another", () => {
    const passed = node("--test", "tidy.test.mjs")
    expect(passed.status, passed.stdout).toBe(0)
    writeFileSync(at("prompt.txt"), "You look after files. Be quick.\n")
    const failed = node("--test", "tidy.test.mjs")
    expect(failed.status).toBe(1)
    expect(failed.stdout).toMatch(/\/system.*recorded ".*Read a file before.*now ".*Be quick/)
  })

  test("its gate lets a rewording pass", () => {
    const { status, stdout } = withPrompt(
      "You look after files, please. Never say anything about a file that you did not read.\n",
    )
    expect([status, stdout]).toEqual([0, expect.stringMatching(/^pass .*in other words\n$/)])
  })

  test("its gate fails on another decision, with one page that names it", () => {
    const { status, stdout } = withPrompt("You look after files, and clean up behind you.\n")
    expect(status).toBe(1)
    expect(stdout).toMatch(/^fail .*decision/)
    expect(stdout).toContain("read_file -> delete_file")
    expect(stdout.split("\n").length).toBeLessThan(24)
  })

  test("the kept run is whole, and check --against takes one run and no rules", async () => {
    const fixture = join(ROOT, "examples/regression/fixtures/tidy.obxrun")
    expect((await orangeboxHere(["verify", fixture])).exitCode).toBe(0)
    expect((await orangeboxHere(["check", fixture, "--against", fixture])).stdout).toMatch(/^pass /)
    for (const more of [[fixture], ["--rule", "steps.max 9"]]) {
      const { exitCode, stderr } = await orangeboxHere(["check", fixture, ...more, "--against", fixture])
      expect([exitCode, stderr]).toEqual([2, expect.stringContaining("--against")])
    }
  })
})
