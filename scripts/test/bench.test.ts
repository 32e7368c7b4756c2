import { spawnSync } from "node:child_process"
import { expect, test } from "vitest"

const root = new URL("../..", import.meta.url).pathname

test("[Z-02] what reading costs as the store grows is measured: skeleton, body, search and list at every size", () => {
  const { stdout, status } = spawnSync(process.execPath, ["bench/run.mjs", "growth", "--events", "10000"], {
    cwd: root,
    encoding: "utf8",
  })
  expect(status).toBe(0)
  for (const what of ["10,000 events", "skeleton of one run", "body read", "search, a whole word", "list of 50 runs"]) {
    expect(stdout).toContain(what)
  }
})
