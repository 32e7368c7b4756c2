import { describe, expect, test } from "vitest"
import { killMany } from "./kill-harness.js"

const noLoss = { missing: 0, duplicated: 0, damaged: 0, notDead: 0 }

// A kill costs a process start, which a busy machine can make very long.
describe("two hundred kills", { timeout: 300_000 }, () => {
  test("[J-02] a SIGKILLed writer loses no acknowledged record", async () => {
    const report = await killMany({ kills: 130, workload: "small" })
    expect(report).toMatchObject({ ...noLoss, kills: 130 })
    expect(report.acknowledged).toBeGreaterThan(130)
  })

  test("[J-02] [J-05] a writer killed around rotations loses no acknowledged record and repeats none", async () => {
    expect(await killMany({ kills: 30, workload: "rotating" })).toMatchObject({ ...noLoss, kills: 30 })
  })

  test("[J-02] a writer killed amid 4 MiB lines leaves at worst a torn last line", async () => {
    const report = await killMany({ kills: 12, workload: "long", maxDelayMs: 30 })
    expect(report).toMatchObject({ ...noLoss, kills: 12 })
  })

  test("[J-02] [J-07] a writer killed amid 16 MiB bodies leaves no line without its bytes", async () => {
    const report = await killMany({ kills: 8, workload: "bodies", maxDelayMs: 60 })
    expect(report).toMatchObject({ ...noLoss, kills: 8 })
  })

  test("[J-07] a streamed body is readable after a kill up to its last acknowledged chunk", async () => {
    expect(await killMany({ kills: 20, workload: "streamed" })).toMatchObject({ ...noLoss, kills: 20 })
  })
})
