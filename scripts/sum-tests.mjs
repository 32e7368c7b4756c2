// The last line of `.ci/run`: what all stages together passed, failed and skipped.
import { existsSync, readFileSync } from "node:fs"

const sum = { passed: 0, failed: 0, skipped: 0 }
for (const stage of ["fast", "slow", "fleet", "packed", "python"]) {
  const file = `.test-results/${stage}.json`
  // A stage that left nothing behind did not end.
  const counts = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : { failed: 1 }
  sum.passed += counts.numPassedTests ?? counts.passed ?? 0
  sum.failed += counts.numFailedTests ?? counts.failed ?? 0
  sum.skipped += counts.numPendingTests ?? counts.skipped ?? 0
}
console.log(`${sum.passed} passed, ${sum.failed} failed${sum.skipped > 0 ? `, ${sum.skipped} skipped` : ""}`)
