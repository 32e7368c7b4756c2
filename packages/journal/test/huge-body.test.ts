import { spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { join } from "node:path"
import { listJournals, readJournalBody, tailJournal } from "@orangebox/journal"
import { expect, test } from "vitest"
import { childScript, temporaryFolder } from "./journal-kit.js"

const MEBIBYTES = 300

/** The most memory beyond the body's own that recording it may take. */
const MOST_EXTRA_MIB = 100

test.each([
  ["chunks", 0],
  ["one buffer", MEBIBYTES],
] as const)("[J-07] a 300 MiB body as %s is recorded whole without a copy of it in memory", (form, ownMib) => {
  const folder = join(temporaryFolder(), "journal")
  const script = childScript("huge-body.mjs")
  const child = spawnSync(process.execPath, [script, folder, String(MEBIBYTES), form], { encoding: "utf8" })
  expect(child.stderr).toBe("")
  const { hash, grownMib } = JSON.parse(child.stdout)
  expect(grownMib - ownMib).toBeLessThan(MOST_EXTRA_MIB)
  expect(recordedHash(folder, form)).toBe(hash)
})

/** Chunks are hashed as they come by, as a collector does; a body in one piece is verified by the reader itself. */
function recordedHash(folder: string, form: string): string {
  const running = createHash("sha256")
  for (const { path } of listJournals(folder)) {
    for (const item of tailJournal(path)) {
      if (item.kind !== "line") throw new Error(item.problem.reason)
      if (item.line.kind === "chunk") running.update(readJournalBody(path, item.line.bytes))
      if (item.line.kind !== "event" || form === "chunks") continue
      const entry = item.line.bodies[0]!
      expect(readJournalBody(path, entry)).toHaveLength(MEBIBYTES * 1024 * 1024)
      return entry.hash!
    }
  }
  return `sha256:${running.digest("hex")}`
}
