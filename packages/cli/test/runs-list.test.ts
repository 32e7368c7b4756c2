import { join } from "node:path"
import { CANARY_APP } from "@orangebox/contract"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { orangeboxHere, type Scratch, scratchFolder } from "./command.js"
import { record } from "./recorded-run.js"

describe("orangebox runs", () => {
  let scratch: Scratch
  let data: string
  beforeAll(async () => {
    scratch = scratchFolder()
    data = join(scratch.path, "data")
    await record(
      data,
      (recorder) => {
        for (const entrypoint of ["fix-issue", "write-tests", "review"])
          recorder
            .startRun({ entrypoint, input: "a request that is long enough to take all the room there is" })
            .complete()
      },
      "demo-coder",
    )
    await record(data, (recorder) => recorder.startRun({ entrypoint: "canary" }).complete(), CANARY_APP)
  })
  afterAll(() => scratch.remove())

  test.each([60, 80, 120, 200])("[Q-08] what tells runs apart is there at %d columns", async (columns) => {
    const { stdout } = await orangeboxHere(["runs", "--data", data], columns)
    for (const entrypoint of ["fix-issue", "write-tests", "review"]) expect(stdout).toContain(entrypoint)
    for (const line of stdout.trimEnd().split("\n")) expect(line.length).toBeLessThanOrEqual(columns)
  })

  test("[Q-08] canaries count neither in runs nor in last, unless all are asked for", async () => {
    expect((await orangeboxHere(["runs", "--data", data])).stdout).toContain("3 runs")
    expect((await orangeboxHere(["runs", "--all", "--data", data])).stdout).toContain("4 runs")
    expect((await orangeboxHere(["show", "last~2", "--data", data])).exitCode).toBe(0)
  })

  test("[Q-10] the next page is a command to paste", async () => {
    const { stdout } = await orangeboxHere(["runs", "--limit", "2", "--data", data])
    const [, command] = /next: orangebox (.*)$/m.exec(stdout)!
    const next = await orangeboxHere(command!.split(" "))
    expect(next.stdout).toContain("fix-issue")
    expect(next.stdout).not.toContain("next:")
  })
})
