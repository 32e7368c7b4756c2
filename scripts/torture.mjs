// The slow proofs: `npm run torture -- --kills 10000`. Each package brings its own script; this one hands the flags on.
import { spawnSync } from "node:child_process"
import { existsSync, readdirSync } from "node:fs"

const scripts = readdirSync("packages")
  .map((name) => `packages/${name}/scripts/torture.mjs`)
  .filter((path) => existsSync(path))

let failed = 0
for (const script of scripts) {
  console.log(`\n# ${script}`)
  if (spawnSync(process.execPath, [script, ...process.argv.slice(2)], { stdio: "inherit" }).status !== 0) failed++
}
console.log(`\n${scripts.length - failed} passed, ${failed} failed`)
process.exitCode = failed > 0 ? 1 : 0
