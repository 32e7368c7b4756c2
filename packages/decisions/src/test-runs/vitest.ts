import { countedWords, lastMatch, type TestCounts } from "./test-counts.js"

// `      Tests  1 failed | 10 passed | 2 skipped (13)`
const SUMMARY = /^[ \t]*Tests {2}((?:\d+ [a-z]+(?: \| )?)+|no tests)(?: \(\d+\))?[ \t]*$/gm
const FILES = /^[ \t]*Test Files {2}((?:\d+ [a-z]+(?: \| )?)+|no tests)(?: \(\d+\))?[ \t]*$/gm

export function readVitest(output: string): TestCounts | undefined {
  const files = lastMatch(output, FILES)
  const found = lastMatch(output, SUMMARY)
  if (!files || !found) return undefined
  const counts = countedWords(found[1]!)
  const failedFiles = countedWords(files[1]!).get("failed") ?? 0
  return {
    runner: "vitest",
    passed: counts.get("passed") ?? 0,
    // A file that does not load has no tests to fail, and has failed all the same.
    failed: Math.max(counts.get("failed") ?? 0, failedFiles),
    skipped: (counts.get("skipped") ?? 0) + (counts.get("todo") ?? 0),
    summary: `Tests ${found[1]!.trim()}`,
  }
}
