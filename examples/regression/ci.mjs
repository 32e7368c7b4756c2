// The gate for a changed prompt or model: runs the agent as it is now and holds what it decided and left behind against the kept run.
import { spawn, spawnSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { startModel } from "./model.mjs"

const bin = join(dirname(createRequire(import.meta.url).resolve("orangebox/package.json")), "bin/orangebox.js")
const data = mkdtempSync(join(tmpdir(), "tidy-"))
const model = await startModel()
const started = spawn(process.execPath, [bin, "run", "--quiet", "--data", data, "--", "node", "agent.mjs"], {
  stdio: ["ignore", "ignore", "inherit"],
  env: { ...process.env, ANTHROPIC_BASE_URL: model.origin },
})
await new Promise((resolve) => started.once("exit", resolve))
model.close()
const { status } = spawnSync(
  process.execPath,
  [bin, "check", "last", "--against", "fixtures/tidy.obxrun", "--data", data],
  { stdio: "inherit" },
)
rmSync(data, { recursive: true })
process.exitCode = status
