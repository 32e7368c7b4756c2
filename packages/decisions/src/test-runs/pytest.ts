import { countedWords, lastMatch, type TestCounts } from "./test-counts.js"

// `==== 3 failed, 12 passed, 1 skipped in 1.23s ====`, and without the rules under -q.
const SUMMARY =
  /^(?:=+ )?((?:\d+ (?:failed|passed|skipped|errors?|xfailed|xpassed|deselected|warnings?|rerun|subtests passed)(?:, )?)+|no tests ran) in [\d.]+s(?: \([\d:]+\))?(?: =+)?$/gm

export function readPytest(output: string): TestCounts | undefined {
  const found = lastMatch(output, SUMMARY)
  if (!found) return undefined
  const counts = countedWords(found[1]!)
  const count = (...words: string[]): number => words.reduce((sum, word) => sum + (counts.get(word) ?? 0), 0)
  return {
    runner: "pytest",
    passed: count("passed", "xpassed"),
    failed: count("failed", "error", "errors"),
    skipped: count("skipped", "xfailed"),
    summary: found[0].replace(/^=+ | =+$/g, ""),
  }
}
