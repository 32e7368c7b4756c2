import { join } from "node:path"
import { Recorder, type RecorderOptions } from "@orangebox/recorder"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { orangeboxHere, type Scratch, scratchFolder } from "./command.js"

describe("a step whose bodies were not kept", () => {
  let scratch: Scratch
  beforeAll(() => {
    scratch = scratchFolder()
  })
  afterAll(() => scratch.remove())

  async function recorded(name: string, options: Omit<RecorderOptions, "app" | "folder">): Promise<string> {
    const folder = join(scratch.path, name)
    const recorder = Recorder.open({ app: "test-app", folder, ...options })
    const run = recorder.startRun({ entrypoint: "x", input: "go" })
    await run.tool({ name: "read_file", args: { path: "a.txt" } }, () => "hello")
    run.fail(new Error("no"))
    recorder.close()
    return folder
  }
  const step = (folder: string, ...more: readonly string[]) =>
    orangeboxHere(["step", "last#2", ...more, "--data", folder])

  test("[O-02] bytes that a fault kept are shown as such, and no row says that they are not there", async () => {
    const { stdout } = await step(await recorded("audit", { profile: "audit" }))
    expect(stdout).toMatch(/output \(not kept with this step; the same bytes are stored elsewhere\):\n {2}│ hello/)
    expect(stdout).toContain("recorded without its bytes: not_kept")
    expect(stdout).not.toContain("not there")
  })

  test("[O-02] step and step --body give the same reason for a body that is only a hash", async () => {
    const folder = await recorded("hashed", { capture: "hashed" })
    expect((await step(folder)).stdout).toContain("arguments (not here: hashed)")
    const { stderr } = await step(folder, "--body", "args")
    expect(stderr).toContain("the body is not here: hashed")
    expect(stderr).not.toContain("never had")
  })
})
