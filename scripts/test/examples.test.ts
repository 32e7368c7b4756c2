import { spawnSync } from "node:child_process"
import { readdirSync } from "node:fs"
import { expect, test } from "vitest"

const root = new URL("../..", import.meta.url).pathname

for (const name of readdirSync(`${root}/examples`).filter((entry) => entry.endsWith(".mjs"))) {
  test(`examples/${name} runs and verifies itself`, () => {
    const { status, stderr } = spawnSync(process.execPath, [`examples/${name}`], { cwd: root, encoding: "utf8" })
    expect(stderr).toBe("")
    expect(status).toBe(0)
  })
}
