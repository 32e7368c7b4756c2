import { countedWords, lastMatch, type TestCounts } from "./test-counts.js"

// `Tests:       1 failed, 2 skipped, 10 passed, 13 total`
const SUMMARY = /^Tests: {2,}((?:\d+ [a-z]+(?:, )?)+)[ \t]*$/gm
const SUITES = /^Test Suites: +((?:\d+ [a-z]+(?:, | of \d+ total)?)+)[ \t]*$/gm

export function readJest(output: string): TestCounts | undefined {
  const found = lastMatch(output, SUMMARY)
  if (!found) return undefined
  const counts = countedWords(found[1]!)
  const suites = lastMatch(output, SUITES)
  const failedSuites = suites ? (countedWords(suites[1]!).get("failed") ?? 0) : 0
  return {
    runner: "jest",
    passed: counts.get("passed") ?? 0,
    failed: Math.max(counts.get("failed") ?? 0, failedSuites),
    skipped: (counts.get("skipped") ?? 0) + (counts.get("pending") ?? 0) + (counts.get("todo") ?? 0),
    summary: `Tests: ${found[1]!.trim()}`,
  }
}
