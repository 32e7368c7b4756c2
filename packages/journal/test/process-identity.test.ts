import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { livenessOf, type ProcessIdentity, thisProcess } from "@orangebox/journal"
import { describe, expect, test } from "vitest"

const self = thisProcess()
const onLinux = process.platform === "linux"

test.skipIf(!onLinux)(
  "a process knows its pid, start, boot, namespace and host (skipped where there is no /proc)",
  () => {
    expect(self).toMatchObject({ pid: process.pid, threadId: 0 })
    expect(self.startTicks).toBeGreaterThan(0)
    expect(self.bootId).toMatch(/^[0-9a-f-]{36}$/)
    expect(self.pidNamespace).toMatch(/^pid:\[\d+\]$/)
  },
)

describe.skipIf(!onLinux)("liveness (skipped where there is no /proc)", () => {
  const state = (change: Partial<ProcessIdentity>, observer = self) =>
    livenessOf({ ...self, ...change }, observer).state

  test("the own process is alive", () => {
    expect(livenessOf(self)).toEqual({ state: "alive", evidence: `process ${process.pid} is running` })
  })

  test("a process is dead when its pid is gone, or belongs to a later process", () => {
    const { pid } = spawnSync(process.execPath, ["-e", "0"])
    expect(livenessOf({ ...self, pid }).evidence).toBe(`process ${pid} is gone`)
    expect(state({ pid })).toBe("dead")
    expect(state({ startTicks: self.startTicks! - 1 })).toBe("dead")
  })

  test("a process that nobody has waited for is dead all the same", async () => {
    // The shell becomes `sleep`, which never waits for the child it inherits.
    const parent = spawn("sh", ["-c", "sh -c 'echo $$; cat /proc/$$/stat' & exec sleep 30"], {
      stdio: ["ignore", "pipe", "ignore"],
    })
    try {
      let text = ""
      parent.stdout.on("data", (bytes) => {
        text += bytes
      })
      await expect.poll(() => text.split("\n").length, { timeout: 5000 }).toBeGreaterThan(2)
      const [pid, stat] = text.split("\n")
      const startTicks = Number(stat!.slice(stat!.lastIndexOf(")") + 2).split(" ")[19])
      await expect.poll(() => livenessOf({ ...self, pid: Number(pid), startTicks })).toMatchObject({ state: "dead" })
    } finally {
      parent.kill("SIGKILL")
      await once(parent, "close")
    }
  })

  test("another boot of the same machine is dead, of an unknown machine silent", () => {
    const bootId = "00000000-0000-0000-0000-000000000000"
    const known = { ...self, machineId: "m" }
    const unknown = { ...self, machineId: null }
    expect(livenessOf({ ...known, bootId }, known).state).toBe("dead")
    expect(livenessOf({ ...unknown, bootId }, unknown).state).toBe("silent")
  })

  test("anything less than proof is silent, never dead", () => {
    const pid = 2 ** 22 + 1
    expect(state({ pid, hostname: "elsewhere" })).toBe("silent")
    expect(state({ pid, machineId: "another" })).toBe("silent")
    expect(state({ pid, pidNamespace: "pid:[1]" })).toBe("silent")
    expect(state({ pid, pidNamespace: null })).toBe("silent")
    expect(state({ pid, startTicks: null })).toBe("silent")
    expect(state({ pid, bootId: null })).toBe("silent")
    expect(state({ pid }, { ...self, startTicks: null })).toBe("silent")
  })
})
