import { safeText } from "@orangebox/text"
import type { ConstraintResult, RunEvaluation } from "../evaluate.js"

/** JUnit XML: one suite per run, one case per constraint. A warning is no failure in JUnit, so it passes with its message beside it. */
export function renderJunit(evaluations: readonly RunEvaluation[]): string {
  const all = evaluations.flatMap((evaluation) => evaluation.results)
  // The schema Jenkins checks against knows `skipped` on a suite and not on the whole.
  const suites = evaluations.map((evaluation) => {
    const cases = evaluation.results.map((result) => testCase(evaluation.runId, result)).join("")
    const skipped = evaluation.results.filter((result) => result.status === "unknown").length
    return `  <testsuite name="${xml(evaluation.runId)}" ${counts(evaluation.results)} skipped="${skipped}">\n${cases}  </testsuite>\n`
  })
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="orangebox check" ${counts(all)}>\n${suites.join("")}</testsuites>\n`
}

function counts(results: readonly ConstraintResult[]): string {
  const failed = results.filter((result) => result.status === "fail").length
  return `tests="${results.length}" failures="${failed}" errors="0"`
}

function testCase(runId: string, result: ConstraintResult): string {
  const { constraint, status, violations, unknown } = result
  const open = `    <testcase name="${xml(constraint.id)}" classname="${xml(runId)}"`
  const told = violations
    .map(({ severity, message, evidence, pointers }) => {
      const at = pointers?.[0] === undefined ? "" : ` [${pointers[0].step_id}]`
      return `${severity}: ${message}${evidence === null ? "" : ` — ${evidence}`}${at}`
    })
    .join("\n")
  const said = xml(violations[0]?.message ?? unknown ?? "")
  if (status === "fail")
    return `${open}>\n      <failure message="${said}" type="${xml(constraint.rule)}">${xml(told)}</failure>\n    </testcase>\n`
  if (status === "unknown")
    return `${open}>\n      <skipped message="${xml(unknown ?? "not judged")}"/>\n    </testcase>\n`
  if (status === "warn") return `${open}>\n      <system-out>${xml(told)}</system-out>\n    </testcase>\n`
  return `${open}/>\n`
}

/** Escaped, and inert: no character that XML 1.0 has no place for, that reorders a line or that is invisible. Line breaks stay. */
function xml(text: string): string {
  return safeText(text.toWellFormed())
    .replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
    .replace(/[\n\r\t]/g, (character) => `&#${character.charCodeAt(0)};`)
}
