import { describe, expect, test } from "vitest"
import { cutPower, whyNoPowerCuts } from "./power-cut.mjs"

const obstacle = whyNoPowerCuts()
const noLoss = { missing: 0, damaged: 0 }

describe("a power cut, on a real ext4", () => {
  test("[J-05] takes nothing acknowledged under the policy always", async (context) => {
    if (obstacle !== undefined) return context.skip(obstacle)
    const report = await cutPower({ cuts: 4, fsync: "always", maxDelayMs: 100 })
    expect(report).toMatchObject({ ...noLoss, cuts: 4, synced: report.acknowledged })
    expect(report.acknowledged).toBeGreaterThan(0)
  })

  test("[J-05] takes nothing that was synced under the policy interval", async (context) => {
    if (obstacle !== undefined) return context.skip(obstacle)
    const report = await cutPower({ cuts: 3, fsync: "interval", maxDelayMs: 2500 })
    expect(report).toMatchObject({ ...noLoss, cuts: 3 })
  })

  test("[J-05] leaves whole records in their order under the policy never", async (context) => {
    if (obstacle !== undefined) return context.skip(obstacle)
    const report = await cutPower({ cuts: 2, fsync: "never", maxDelayMs: 500 })
    expect(report).toMatchObject({ ...noLoss, cuts: 2 })
    // Nothing was asked to be on the disk yet, and most of it is not: the cut is a real one.
    expect(report.found).toBeLessThan(report.acknowledged)
  })
})
