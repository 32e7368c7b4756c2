import { type CaseFile, isBadOutcome, type LeftOutOfContext } from "../case-file.js"
import { at, type Detected, type Finding } from "../finding.js"

/** Something that was left out of a prompt and that a later error names. */
export function excludedEvidence(file: CaseFile): Detected {
  const { view, leftOut, words } = file
  if (leftOut.length === 0) {
    return view.totals.modelCalls === 0 ? [] : { notRun: "no manifest says what was left out" }
  }
  const found: Finding[] = []
  const told = new Set<string>()
  for (const { n, excluded } of leftOut) {
    for (const { id, path } of excluded) {
      const name = path ?? id
      const isName = namePattern(name)
      if (isName === undefined || told.has(name)) continue
      const error = view.steps.find(
        (step) =>
          step.n > n &&
          (step.error !== undefined || (step.tool?.exitCode ?? 0) !== 0) &&
          isName.test([step.error?.line, words.get(step.n)?.got, step.tool?.result].join("\n")),
      )
      if (error === undefined || wasSeen(file, name, isName, n, error.n)) continue
      told.add(name)
      found.push({
        detector: "excluded_evidence",
        kind: null,
        severity: isBadOutcome(file) ? "harm" : "notice",
        confidence: "likely",
        cause: n,
        fails: error.n,
        claim: `an item that was left out of the prompt of #${n} is named by the error of #${error.n}, and was not in a prompt in between`,
        by: null,
        evidence: [at({ n }), at(error)],
      })
    }
  }
  return found
}

/** A path or an id that says something; short words stand in errors by chance. */
function namePattern(name: string): RegExp | undefined {
  const isTelling = name.length >= 6 && /[./_-]|\d/.test(name)
  if (!isTelling) return undefined
  return new RegExp(`(?<![\\w.-])${name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}(?![\\w-])`)
}

/** It stood in a later prompt after all, or the agent opened it itself. */
function wasSeen({ view, leftOut, words }: CaseFile, name: string, isName: RegExp, from: number, to: number): boolean {
  const isIncluded = ({ n, included }: LeftOutOfContext): boolean => n >= from && n < to && included.has(name)
  return (
    leftOut.some(isIncluded) ||
    view.steps.some(
      (step) =>
        step.kind === "tool" &&
        step.n > from &&
        step.n < to &&
        step.status === "success" &&
        isName.test(words.get(step.n)?.said ?? step.tool?.args ?? ""),
    )
  )
}
