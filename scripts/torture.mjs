// The slow proofs. `npm run torture` runs all of them; a flag names the ones it is about: `--kills 10000`, `--cuts 200`, `--mutations 5000`.
import { spawnSync } from "node:child_process"
import { parseArgs } from "node:util"

/** Each package brings its own script, and is handed the flags it knows. */
const SCRIPTS = {
  "packages/journal/scripts/torture.mjs": ["kills", "cuts"],
  "packages/collector/scripts/torture.mjs": ["kills"],
  "packages/replay/scripts/torture.mjs": ["mutations"],
}

const names = [...new Set(Object.values(SCRIPTS).flat())]
let values
try {
  values = parseArgs({ options: Object.fromEntries(names.map((name) => [name, { type: "string" }])) }).values
} catch (error) {
  console.error(`${error.message}\nknown: ${names.map((name) => `--${name} N`).join(", ")}`)
  process.exit(2)
}
const given = Object.entries(values)

const chosen = Object.entries(SCRIPTS)
  .map(([script, flags]) => [script, given.filter(([name]) => flags.includes(name))])
  .filter(([, flags]) => given.length === 0 || flags.length > 0)

let failed = 0
for (const [script, flags] of chosen) {
  console.log(`\n# ${script}`)
  const words = flags.flatMap(([name, value]) => [`--${name}`, value])
  if (spawnSync(process.execPath, [script, ...words], { stdio: "inherit" }).status !== 0) failed++
}
console.log(`\n${chosen.length - failed} passed, ${failed} failed`)
process.exitCode = failed > 0 ? 1 : 0
