// Runs the whole suite and keeps its results for `npm run requirements`. Ends with one plain line a machine can read.
import { spawnSync } from "node:child_process"
import { mkdirSync, readFileSync } from "node:fs"

mkdirSync(".test-results", { recursive: true })
const results = ".test-results/vitest.json"
const { status } = spawnSync(
  process.execPath,
  [
    "node_modules/vitest/vitest.mjs",
    "run",
    "--reporter=default",
    "--reporter=json",
    `--outputFile.json=${results}`,
    ...process.argv.slice(2),
  ],
  { stdio: "inherit" },
)

const { numPassedTests, numFailedTests, numPendingTests } = JSON.parse(readFileSync(results, "utf8"))
const skipped = numPendingTests > 0 ? `, ${numPendingTests} skipped` : ""
console.log(`${numPassedTests} passed, ${numFailedTests} failed${skipped}`)
process.exitCode = status ?? 1
