import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { expect, test } from "vitest"
import { childScript, numbersOf, readFolder, temporaryFolder, upTo } from "./journal-kit.js"

test.each(["exit", "abort", "uncaught exception", "unhandled rejection", "stack overflow", "out of memory"])(
  "[J-03] everything acknowledged survives the death of its process by %s, without any exit hook",
  (way) => {
    const folder = join(temporaryFolder(), "journal")
    const flags = way === "out of memory" ? ["--max-old-space-size=32"] : []
    const child = spawnSync(process.execPath, [...flags, childScript("die.mjs"), folder, way], { encoding: "utf8" })
    expect(child.stdout).toBe("500")
    if (way !== "exit") expect(child.status).not.toBe(0)
    const { events, problems, kinds } = readFolder(folder)
    expect(numbersOf(events)).toEqual(upTo(500))
    expect(problems).toEqual([])
    expect(kinds).not.toContain("exit")
  },
)
