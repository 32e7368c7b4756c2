import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { jsonOf, orangebox, type Scratch, scratchFolder } from "./command.js"
import { record, recordOrdinaryRun } from "./recorded-run.js"

describe("[E-09] orangebox slo", () => {
  let scratch: Scratch
  let data: string
  const slo = (objectives: unknown, ...more: string[]) => {
    writeFileSync(
      join(scratch.path, "orangebox.config.json"),
      JSON.stringify(objectives === null ? {} : { objectives }),
    )
    return orangebox(["slo", "--data", data, ...more], { cwd: scratch.path })
  }

  beforeAll(async () => {
    scratch = scratchFolder()
    data = join(scratch.path, "data")
    await record(data, async (recorder) => {
      for (let n = 0; n < 3; n += 1) await recordOrdinaryRun(recorder)
      recorder.startRun({ entrypoint: "count" }).fail(new Error("no sheep"))
    })
  })
  afterAll(() => scratch.remove())

  test("exits with 1 on a breach, says the same once the runs are pruned, and states no figure it does not know", async () => {
    const objectives = [
      { name: "runs end well", measure: "failed_runs", most: 0.1, days: 7 },
      { measure: "failed_tools", most: 0.5, days: 7 },
      { measure: "cost_per_run", most: 1, days: 7 },
    ]
    const before = await slo(objectives)
    expect(before.exitCode, before.stderr).toBe(1)
    expect(before.stdout).toMatch(
      /BREACHED {2}runs end well: 25 % over 7 days, at most 10 %\n {2}1 of 4 failed, 0.4 may/,
    )
    expect(before.stdout).toContain("unknown  cost_per_run: unknown over 7 days")
    type Document = { ok: boolean; objectives: { verdict: string; value: number | null }[] }
    const raw = jsonOf<Document>(await slo(objectives, "--json"))
    expect(raw.objectives.map(({ verdict }) => verdict)).toEqual(["breached", "met", "unknown"])
    await orangebox(["prune", "--max-age", "0s", "--data", data])
    expect(jsonOf<Document>(await slo(objectives, "--json"))).toEqual(raw)
  })

  test("an objective without a bound, an unknown measure and no objective at all are refused in words", async () => {
    for (const [objectives, word] of [
      [null, "states no objective"],
      [[{ measure: "failed_runs", days: 7 }], "needs a bound"],
      [[{ measure: "luck", most: 1, days: 7 }], "measure"],
    ] as const) {
      const { exitCode, stderr } = await slo(objectives)
      expect([exitCode, stderr]).toEqual([2, expect.stringContaining(word)])
    }
  })
})
