import { asRecord } from "@orangebox/contract"
import { parseJson } from "@orangebox/dialects"

/** What a test runner printed about a whole run. Null is unknown, and unknown is not zero. */
export interface TestCounts {
  readonly runner: string
  readonly passed: number | null
  readonly failed: number | null
  readonly skipped: number | null
  /** The runner's own words where it has a line for it. */
  readonly summary: string
}

// Runners say how it went at the end. A log of many megabytes is not searched from its beginning.
const LONGEST_OUTPUT = 1_000_000

const ESCAPE_CODES = /\u001b\[[0-9;:?]*[ -/]*[@-~]/g

/** What a test runner said about its run; undefined when the text is no runner's that is known here. */
export function readTestOutput(output: string): TestCounts | undefined {
  const end = output.length > LONGEST_OUTPUT ? output.slice(-LONGEST_OUTPUT) : output
  const plain = end.replace(ESCAPE_CODES, "").replaceAll("\r\n", "\n")
  for (const read of [pytest, vitest, jest, nodeTest, nextest, cargoTest, goJson, goTest, maven]) {
    const counts = read(plain)
    if (counts) return counts
  }
  return undefined
}

/** The last match, because a log may hold several runs and the last one is how things stand. */
function lastMatch(text: string, pattern: RegExp): RegExpExecArray | undefined {
  let last: RegExpExecArray | undefined
  for (const found of text.matchAll(pattern)) last = found
  return last
}

/** `3 failed, 12 passed`, the one thing nearly all runners agree on: the sum over the words that are asked for. */
function counter(line: string): (...words: readonly string[]) => number {
  const counts = [...line.matchAll(/(\d{1,9}) ([a-z]+)/g)]
  return (...words) => counts.reduce((sum, [, count, word]) => sum + (words.includes(word!) ? Number(count) : 0), 0)
}

function pytest(output: string): TestCounts | undefined {
  // `==== 3 failed, 12 passed, 1 skipped in 1.23s ====`, and without the rules under -q.
  const found = lastMatch(
    output,
    /^(?:=+ )?((?:\d+ (?:failed|passed|skipped|errors?|xfailed|xpassed|deselected|warnings?|rerun|subtests passed)(?:, )?)+|no tests ran) in [\d.]+s(?: \([\d:]+\))?(?: =+)?$/gm,
  )
  if (!found) return undefined
  const count = counter(found[1]!)
  return {
    runner: "pytest",
    passed: count("passed", "xpassed"),
    failed: count("failed", "error", "errors"),
    skipped: count("skipped", "xfailed"),
    summary: found[0].replace(/^=+ | =+$/g, ""),
  }
}

function vitest(output: string): TestCounts | undefined {
  // `      Tests  1 failed | 10 passed | 2 skipped (13)`
  const files = lastMatch(output, /^[ \t]*Test Files {2}((?:\d+ [a-z]+(?: \| )?)+|no tests)(?: \(\d+\))?[ \t]*$/gm)
  const found = lastMatch(output, /^[ \t]*Tests {2}((?:\d+ [a-z]+(?: \| )?)+|no tests)(?: \(\d+\))?[ \t]*$/gm)
  if (!files || !found) return undefined
  const count = counter(found[1]!)
  return {
    runner: "vitest",
    passed: count("passed"),
    // A file that does not load has no tests to fail, and has failed all the same.
    failed: Math.max(count("failed"), counter(files[1]!)("failed")),
    skipped: count("skipped", "todo"),
    summary: `Tests ${found[1]!.trim()}`,
  }
}

function jest(output: string): TestCounts | undefined {
  // `Tests:       1 failed, 2 skipped, 10 passed, 13 total`
  const found = lastMatch(output, /^Tests: {2,}((?:\d+ [a-z]+(?:, )?)+)[ \t]*$/gm)
  if (!found) return undefined
  const suites = lastMatch(output, /^Test Suites: +((?:\d+ [a-z]+(?:, | of \d+ total)?)+)[ \t]*$/gm)
  const count = counter(found[1]!)
  return {
    runner: "jest",
    passed: count("passed"),
    failed: Math.max(count("failed"), counter(suites?.[1] ?? "")("failed")),
    skipped: count("skipped", "pending", "todo"),
    summary: `Tests: ${found[1]!.trim()}`,
  }
}

function nodeTest(output: string): TestCounts | undefined {
  // The TAP reporter writes `# pass 4`, the spec reporter `ℹ pass 4`.
  const count = (word: string): number | undefined => {
    const found = lastMatch(output, new RegExp(`^(?:#|ℹ) ${word} (\\d+)[ \\t]*$`, "gm"))
    return found && Number(found[1])
  }
  const [total, passed, failed] = [count("tests"), count("pass"), count("fail")]
  if (passed === undefined || failed === undefined || total === undefined) return undefined
  const skipped = (count("skipped") ?? 0) + (count("todo") ?? 0)
  const broken = failed + (count("cancelled") ?? 0)
  const summary = `tests ${total}, pass ${passed}, fail ${broken}, skipped ${skipped}`
  return { runner: "node:test", passed, failed: broken, skipped, summary }
}

function nextest(output: string): TestCounts | undefined {
  // `     Summary [   0.103s] 10 tests run: 9 passed, 1 failed, 2 skipped`
  const found = lastMatch(output, /^[ \t]*Summary \[[^\]\n]*\][ \t]+\d+(?:\/\d+)? tests? run: (.+)$/gm)
  if (!found) return undefined
  const count = counter(found[1]!)
  return {
    runner: "cargo nextest",
    passed: count("passed"),
    failed: count("failed", "timed"),
    skipped: count("skipped"),
    summary: found[1]!.trim(),
  }
}

function cargoTest(output: string): TestCounts | undefined {
  // One line for each test binary: `test result: ok. 5 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s`
  const lines = [...output.matchAll(/^test result: (?:ok|FAILED)\. (\d+) passed; (\d+) failed; (\d+) ignored;.*$/gm)]
  if (lines.length === 0) return undefined
  const [passed, failed, skipped] = [sumOf(lines, 1), sumOf(lines, 2), sumOf(lines, 3)]
  return {
    runner: "cargo test",
    passed,
    failed,
    skipped,
    summary: `${passed} passed; ${failed} failed; ${skipped} ignored`,
  }
}

function goJson(output: string): TestCounts | undefined {
  if (!/^\{"Time":|^\{"Action":/m.test(output)) return undefined
  const counts = { pass: 0, fail: 0, skip: 0 }
  let failedPackages = 0
  let events = 0
  for (const line of output.split("\n")) {
    if (!line.startsWith("{")) continue
    const event = asRecord(parseJson(line))
    const action = event?.["Action"]
    if (action !== "pass" && action !== "fail" && action !== "skip") continue
    events++
    const test = event?.["Test"]
    if (typeof test !== "string") {
      if (action === "fail") failedPackages++
    } else if (!test.includes("/")) counts[action]++
  }
  if (events === 0) return undefined
  return {
    runner: "go test",
    passed: counts.pass,
    failed: Math.max(counts.fail, failedPackages > 0 ? 1 : 0),
    skipped: counts.skip,
    summary: `${counts.pass} passed, ${counts.fail} failed, ${counts.skip} skipped`,
  }
}

/** Without -v go prints only packages and failures: how many tests passed is then unknown. */
function goTest(output: string): TestCounts | undefined {
  const count = (pattern: RegExp): number => output.match(pattern)?.length ?? 0
  const ok = count(/^ok {2,}\t?\S+[ \t]+(?:\([^)\n]+\)|[\d.]+s)/gm)
  const failedPackages = count(/^FAIL\t\S+(?:\s|$)/gm)
  if (ok + failedPackages === 0) return undefined
  const verbose = count(/^=== RUN\b/gm) > 0
  return {
    runner: "go test",
    passed: verbose ? count(/^--- PASS: /gm) : null,
    // Subtests are indented below their test, and their failure is its failure: only tests at the margin count.
    failed: Math.max(count(/^--- FAIL: /gm), failedPackages > 0 ? 1 : 0),
    skipped: verbose ? count(/^--- SKIP: /gm) : null,
    summary: `${ok} package${ok === 1 ? "" : "s"} ok, ${failedPackages} failed`,
  }
}

function maven(output: string): TestCounts | undefined {
  // A line per class ends with the time it took, the total of a module does not: `[ERROR] Tests run: 12, Failures: 1, Errors: 0, Skipped: 2`
  const all = [
    ...output.matchAll(
      /^(?:\[(?:INFO|WARNING|ERROR)\] )?Tests run: (\d+), Failures: (\d+), Errors: (\d+), Skipped: (\d+)([ \t]*$|, Time elapsed:)/gm,
    ),
  ]
  const totals = all.filter((line) => line[5]!.trim() === "")
  const lines = totals.length > 0 ? totals : all
  if (lines.length === 0) return undefined
  const [run, failures, errors, skipped] = [sumOf(lines, 1), sumOf(lines, 2), sumOf(lines, 3), sumOf(lines, 4)]
  return {
    runner: "maven surefire",
    passed: Math.max(0, run - failures - errors - skipped),
    failed: failures + errors,
    skipped,
    summary: `Tests run: ${run}, Failures: ${failures}, Errors: ${errors}, Skipped: ${skipped}`,
  }
}

const sumOf = (lines: readonly RegExpExecArray[], group: number): number =>
  lines.reduce((total, line) => total + Number(line[group]), 0)
