import { asRecord } from "@orangebox/contract"
import { parseJson } from "@orangebox/dialects"
import type { TestCounts } from "./test-counts.js"

/** Without -v go prints only packages and failures: how many tests passed is then unknown. */
export function readGoTest(output: string): TestCounts | undefined {
  const fromJson = readJsonEvents(output)
  if (fromJson) return fromJson
  const ok = count(output, /^ok {2,}\t?\S+[ \t]+(?:\([^)\n]+\)|[\d.]+s)/gm)
  const failedPackages = count(output, /^FAIL\t\S+(?:\s|$)/gm)
  if (ok + failedPackages === 0) return undefined
  const verbose = count(output, /^=== RUN\b/gm) > 0
  // Subtests are indented below their test, and their failure is its failure: only tests at the margin count.
  const failures = count(output, /^--- FAIL: /gm)
  return {
    runner: "go test",
    passed: verbose ? count(output, /^--- PASS: /gm) : null,
    failed: Math.max(failures, failedPackages > 0 ? 1 : 0),
    skipped: verbose ? count(output, /^--- SKIP: /gm) : null,
    summary: `${ok} package${ok === 1 ? "" : "s"} ok, ${failedPackages} failed`,
  }
}

function readJsonEvents(output: string): TestCounts | undefined {
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

const count = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0
