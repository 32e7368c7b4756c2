// Everything about the code but its behaviour: types, lint and format, import direction, declared dependencies, doors, paths in the docs, words we do not use, the size of the web UI.
import { spawnSync } from "node:child_process"
import { checkRules } from "../packages/redaction/scripts/check-rules.mjs"
import { checkDependencies } from "./check-dependencies.mjs"
import { checkDocs } from "./check-docs.mjs"
import { checkDoors } from "./check-doors.mjs"
import { checkImports } from "./check-imports.mjs"
import { checkVocabulary } from "./check-vocabulary.mjs"
import { checkWebSize } from "./check-web-size.mjs"

const run = (name, args) => () =>
  spawnSync(process.execPath, args, { stdio: "inherit" }).status === 0 ? [] : [`${name} failed`]
const checks = {
  "types of tests, examples and benchmarks": run("tsc", [
    "node_modules/typescript/bin/tsc",
    "-p",
    "tsconfig.tests.json",
  ]),
  "types of tests in a browser": run("tsc", ["node_modules/typescript/bin/tsc", "-p", "tsconfig.ui-tests.json"]),
  "lint and format": run("biome", [
    "node_modules/@biomejs/biome/bin/biome",
    "ci",
    "--colors",
    process.stdout.isTTY ? "force" : "off",
    ".",
  ]),
  "imports point up": checkImports,
  "what is imported is declared": checkDependencies,
  "doors are narrow": checkDoors,
  "paths in the docs": checkDocs,
  vocabulary: checkVocabulary,
  "redaction rules": checkRules,
  "size of the web UI": checkWebSize,
}

let failed = false
for (const [name, check] of Object.entries(checks)) {
  const problems = await check()
  console.log(`${problems.length === 0 ? "ok  " : "FAIL"} ${name}`)
  for (const problem of problems) console.log(`     ${problem}`)
  failed ||= problems.length > 0
}
process.exitCode = failed ? 1 : 0
