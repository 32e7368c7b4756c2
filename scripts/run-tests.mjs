// Runs a stage of the suite, `fast` (npm test) or `slow`, or with further arguments whatever they name. Keeps its results for
// `npm run requirements` and ends with one plain line a machine can read.
import { spawnSync } from "node:child_process"
import { mkdirSync, readFileSync, rmSync } from "node:fs"

const [stage = "fast", ...named] = process.argv.slice(2)
const results = `.test-results/${stage}.json`
mkdirSync(".test-results", { recursive: true })
rmSync(results, { force: true })
const { status } = spawnSync(
  process.execPath,
  [
    "node_modules/vitest/vitest.mjs",
    "run",
    "--reporter=default",
    "--reporter=json",
    `--outputFile.json=${results}`,
    ...named,
  ],
  { stdio: "inherit", env: { ...process.env, ...(named.length === 0 ? { ORANGEBOX_TESTS: stage } : {}) } },
)

const { numPassedTests, numFailedTests, numPendingTests } = JSON.parse(readFileSync(results, "utf8"))
const skipped = numPendingTests > 0 ? `, ${numPendingTests} skipped` : ""
console.log(`${numPassedTests} passed, ${numFailedTests} failed${skipped}`)
process.exitCode = status ?? 1
