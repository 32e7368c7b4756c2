import { spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { listJournals, readProcessLine } from "@orangebox/journal"
import { expect, test } from "vitest"
import { childScript, numbersOf, readFile, temporaryFolder, upTo } from "./journal-kit.js"

test("[J-01] processes and threads that share a folder each write files of their own, and totals are exact", async () => {
  const folder = join(temporaryFolder(), "journal")
  const [processes, threads, records] = [3, 2, 1500]
  const script = childScript("many.mjs")
  const children = Array.from({ length: processes }, () =>
    spawn(process.execPath, [script, folder, String(records), String(threads)], { stdio: "inherit" }),
  )
  for (const [code] of await Promise.all(children.map((child) => once(child, "close")))) expect(code).toBe(0)

  const byWriter = new Map<string, number[]>()
  const threadsSeen = new Set<string>()
  for (const file of listJournals(folder)) {
    const { events, problems, end } = readFile(file.path)
    expect(problems).toEqual([])
    expect(end.tornBytes).toBe(0)
    byWriter.set(file.writerId, [...(byWriter.get(file.writerId) ?? []), ...numbersOf(events)])
    const identity = readProcessLine(file.path)?.process
    threadsSeen.add(`${identity?.pid}/${identity?.threadId}`)
  }
  expect(byWriter.size).toBe(processes * (threads + 1))
  expect(threadsSeen.size).toBe(processes * (threads + 1))
  for (const numbers of byWriter.values()) expect(numbers).toEqual(upTo(records))
})
