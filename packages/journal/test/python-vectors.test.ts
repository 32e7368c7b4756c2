import { spawnSync } from "node:child_process"
import { expect, test } from "vitest"

test("[I-04] the vectors that the Python recorder is held to are what this one writes", () => {
  const { status, stderr } = spawnSync(process.execPath, ["scripts/python-vectors.mjs", "--check"], {
    encoding: "utf8",
  })
  expect(stderr).toBe("")
  expect(status).toBe(0)
})
