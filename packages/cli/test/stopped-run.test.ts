import { join } from "node:path"
import { Recorder } from "@orangebox/recorder"
import { expect, onTestFinished, test } from "vitest"
import { orangeboxHere, scratchFolder } from "./command.js"

test("[F-08] [F-02] a run stopped for want of a manifest has failed, whatever the program says, and verify tells", async () => {
  const scratch = scratchFolder()
  onTestFinished(() => scratch.remove())
  const folder = join(scratch.path, ".orangebox")
  const recorder = Recorder.open({ app: "stopped", folder, profile: "audit" })
  const run = recorder.startRun({ entrypoint: "fix" })
  const step = run.step("plan")
  await step.model({ provider: "p", model: "m", request: "x" }, () => "y").catch(() => {})
  step.end()
  run.complete({ output: "all went well" })
  recorder.close()

  const verified = await orangeboxHere(["verify", "last", "--data", folder])
  expect(verified).toMatchObject({ exitCode: 0 })
  expect(verified.stdout).toContain("declared: run_stopped")
  const shown = await orangeboxHere(["show", "last", "--data", folder])
  expect(shown.stdout).toMatch(/FAILED .*\n#1 run .*✗ SystemError: "a model is about to be asked without a context/)
  expect(shown.stdout).toContain("fault system_error")
  expect(shown.stdout).not.toContain("all went well")
})
