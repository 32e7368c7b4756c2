import { once } from "node:events"
import { acquireStoreLock } from "@orangebox/store"
import { expect, onTestFinished, test } from "vitest"
import { startChild } from "./children/run-child.js"
import { temporaryFolder } from "./temporary-folder.js"

async function startHolder(
  folder: string,
): Promise<{ said: string; pid: number; kill(signal: NodeJS.Signals): Promise<void> }> {
  const child = startChild("hold-lock.mjs", [folder])
  onTestFinished(() => void child.kill("SIGKILL"))
  const [data] = (await once(child.stdout!, "data")) as [Buffer]
  return {
    said: data.toString().trim(),
    pid: child.pid!,
    kill: async (signal) => {
      const ended = once(child, "exit")
      child.kill(signal)
      if (signal === "SIGKILL") await ended
    },
  }
}

test("[L-05] one process holds a store; others learn who, a stopped holder keeps it, a killed one frees it", async () => {
  const folder = temporaryFolder()
  const holder = await startHolder(folder)
  expect(holder.said).toBe("held")
  const refused = acquireStoreLock(folder)
  expect(refused).toMatchObject({ isHeld: false, holder: { pid: holder.pid, sinceMs: expect.any(Number) } })
  expect((await startHolder(folder)).said).toBe(`refused ${holder.pid}`)
  await holder.kill("SIGSTOP")
  expect(acquireStoreLock(folder).isHeld).toBe(false)
  await holder.kill("SIGKILL")
  const mine = acquireStoreLock(folder)
  expect(mine.isHeld).toBe(true)
  expect(acquireStoreLock(folder)).toMatchObject({ isHeld: false, holder: { pid: process.pid } })
  if (mine.isHeld) mine.release()
  const again = acquireStoreLock(folder)
  expect(again.isHeld).toBe(true)
  if (again.isHeld) again.release()
})

test("[L-05] of many that try at once, exactly one holds the store", async () => {
  const folder = temporaryFolder()
  const holders = await Promise.all(Array.from({ length: 4 }, () => startHolder(folder)))
  expect(holders.filter((holder) => holder.said === "held")).toHaveLength(1)
})
