import type { TestCounts } from "./test-counts.js"

// A line per class ends with the time it took, the total of a module does not: `[ERROR] Tests run: 12, Failures: 1, Errors: 0, Skipped: 2`
const TOTAL =
  /^(?:\[(?:INFO|WARNING|ERROR)\] )?Tests run: (\d+), Failures: (\d+), Errors: (\d+), Skipped: (\d+)[ \t]*$/gm
const CLASS =
  /^(?:\[(?:INFO|WARNING|ERROR)\] )?Tests run: (\d+), Failures: (\d+), Errors: (\d+), Skipped: (\d+), Time elapsed:/gm

export function readMaven(output: string): TestCounts | undefined {
  const totals = [...output.matchAll(TOTAL)]
  const lines = totals.length > 0 ? totals : [...output.matchAll(CLASS)]
  if (lines.length === 0) return undefined
  const sum = (group: number): number => lines.reduce((total, line) => total + Number(line[group]), 0)
  const run = sum(1)
  const failed = sum(2) + sum(3)
  const skipped = sum(4)
  return {
    runner: "maven surefire",
    passed: Math.max(0, run - failed - skipped),
    failed,
    skipped,
    summary: `Tests run: ${run}, Failures: ${sum(2)}, Errors: ${sum(3)}, Skipped: ${skipped}`,
  }
}
