import { lastMatch, type TestCounts } from "./test-counts.js"

// The TAP reporter writes `# pass 4`, the spec reporter `ℹ pass 4`.
const line = (word: string): RegExp => new RegExp(`^(?:#|ℹ) ${word} (\\d+)[ \\t]*$`, "gm")

export function readNodeTest(output: string): TestCounts | undefined {
  const count = (word: string): number | undefined => {
    const found = lastMatch(output, line(word))
    return found && Number(found[1])
  }
  const passed = count("pass")
  const failed = count("fail")
  const total = count("tests")
  if (passed === undefined || failed === undefined || total === undefined) return undefined
  const skipped = (count("skipped") ?? 0) + (count("todo") ?? 0)
  const broken = failed + (count("cancelled") ?? 0)
  return {
    runner: "node:test",
    passed,
    failed: broken,
    skipped,
    summary: `tests ${total}, pass ${passed}, fail ${broken}, skipped ${skipped}`,
  }
}
