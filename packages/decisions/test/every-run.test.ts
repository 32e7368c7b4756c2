import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Recorder } from "@orangebox/recorder"
import { afterAll, describe, expect, test } from "vitest"
import { z } from "zod"
import { decisionsMustHold, decisionsMustHoldBelow, lookedAt } from "./every-run.js"
import { tellLedger } from "./every-run-ledger.js"
import { recordInMemory } from "./recorded.js"

describe("[D-01] the decisions of every run in the test-suite are held against the published schema", () => {
  async function recordTwo(recorder: Recorder): Promise<void> {
    for (const command of ["ls", "npm test"]) {
      const run = recorder.startRun({ entrypoint: "x", input: "x" })
      await run.tool({ name: "Bash", args: { command } }, () => "ok")
      run.complete({ output: "Done." })
    }
  }

  test("all runs below a folder are found and counted, however deep their data folder is", async () => {
    const folder = mkdtempSync(join(tmpdir(), "orangebox-every-run-"))
    try {
      const recorder = Recorder.open({ app: "x", folder: join(folder, "deep", ".orangebox") })
      await recordTwo(recorder)
      recorder.close()
      const before = { ...lookedAt }
      expect(decisionsMustHoldBelow(folder)).toBe(2)
      expect(lookedAt).toEqual({ runs: before.runs + 2, decisions: before.decisions + 4 })
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })

  test("a decision that breaks the schema is an error that names the run and the place", async () => {
    const { recorder, sink } = recordInMemory()
    await recordTwo(recorder)
    const bodies = (ref: string) => sink.bodies.get(ref)
    const other = z.object({ evaluation: z.object({ nobody: z.string() }) })
    expect(() => decisionsMustHold(sink.events, bodies, other)).toThrow(/run_\w+ breaks .* evaluation\.nobody/)
  })

  let before = 0
  test("what a test records into memory is looked at when it ends …", async () => {
    before = lookedAt.runs
    await recordTwo(recordInMemory().recorder)
  })
  afterAll(() => expect(lookedAt.runs).toBe(before + 2))

  test("… and a whole suite in which no run was looked at fails", () => {
    const paths = Array.from({ length: 40 }, (_, at) => `/repo/packages/cli/test/${at}.test.ts`)
    expect(() => tellLedger([], paths)).toThrow("the decisions of no run were looked at")
    expect(() => tellLedger([], ["/repo/packages/journal/test/a.test.ts"])).not.toThrow()
    expect(() => tellLedger(["2 4", "1 1"], paths)).not.toThrow()
  })
})
