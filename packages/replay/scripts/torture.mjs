// node packages/replay/scripts/torture.mjs --mutations 5000
// Records runs, changes one thing of each and replays: exits 1 when any of them is certified, or an unchanged one is not.
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"

const { values } = parseArgs({ options: { mutations: { type: "string", default: "5000" } } })
const count = Number(values.mutations)
if (!Number.isSafeInteger(count) || count < 0) {
  console.error("--mutations needs a number, for example: --mutations 5000")
  process.exit(2)
}
const root = fileURLToPath(new URL("../../..", import.meta.url))
const vitest = fileURLToPath(new URL("../../../node_modules/vitest/vitest.mjs", import.meta.url))
const { status } = spawnSync(process.execPath, [vitest, "run", "packages/replay/test/mutations.test.ts"], {
  cwd: root,
  env: { ...process.env, ORANGEBOX_MUTATIONS: String(count) },
  stdio: "inherit",
})
process.exitCode = status ?? 1
