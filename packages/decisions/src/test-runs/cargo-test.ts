import { countedWords, lastMatch, type TestCounts } from "./test-counts.js"

// One line for each test binary: `test result: ok. 5 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s`
const RESULT = /^test result: (?:ok|FAILED)\. (\d+) passed; (\d+) failed; (\d+) ignored;.*$/gm
// nextest: `     Summary [   0.103s] 10 tests run: 9 passed, 1 failed, 2 skipped`
const NEXTEST = /^[ \t]*Summary \[[^\]\n]*\][ \t]+\d+(?:\/\d+)? tests? run: (.+)$/gm

export function readCargoTest(output: string): TestCounts | undefined {
  const nextest = lastMatch(output, NEXTEST)
  if (nextest) {
    const counts = countedWords(nextest[1]!)
    return {
      runner: "cargo nextest",
      passed: counts.get("passed") ?? 0,
      failed: (counts.get("failed") ?? 0) + (counts.get("timed") ?? 0),
      skipped: counts.get("skipped") ?? 0,
      summary: nextest[1]!.trim(),
    }
  }
  let passed = 0
  let failed = 0
  let ignored = 0
  let binaries = 0
  for (const found of output.matchAll(RESULT)) {
    binaries++
    passed += Number(found[1])
    failed += Number(found[2])
    ignored += Number(found[3])
  }
  if (binaries === 0) return undefined
  const summary = `${passed} passed; ${failed} failed; ${ignored} ignored`
  return { runner: "cargo test", passed, failed, skipped: ignored, summary }
}
