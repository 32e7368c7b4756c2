import type { SourceDetector } from "@orangebox/contract"
import type { CaseFile } from "../case-file.js"
import { at, type Detected, type Finding } from "../finding.js"
import { type Broken, factsOf, readRule, ruleProblem } from "../step-rules.js"

/** So many steps of one broken rule are pointed at. */
const MOST_POINTERS = 4

/** What breaks the rules of the source that is investigated. Nothing where none is. */
export function sourceRules({ view, source }: CaseFile): Detected {
  if (source === undefined) return []
  if (source.detectors.length === 0) return { notRun: "the source has no rules on record that can be read" }
  const facts = factsOf(view)
  return source.detectors.flatMap((rule) =>
    ruleProblem(rule) === undefined
      ? readRule(rule, facts).broken.map((broken): Finding => findingOf(source.name, rule, broken))
      : [],
  )
}

function findingOf(source: string, rule: SourceDetector, { steps, times }: Broken): Finding {
  const last = steps.at(-1)!
  return {
    detector: "source_rule",
    kind: `${source}:${rule.id}`,
    severity: rule.severity,
    confidence: "proven",
    cause: last.n,
    fails: last.n,
    claim: claimOf(rule, times),
    by: null,
    said: rule.says,
    evidence: steps.slice(0, MOST_POINTERS).map(({ n }) => at({ n })),
  }
}

/** In our words: what the source calls it stands beside, as its own. */
function claimOf({ count, missing, mismatch }: SourceDetector, times: number): string {
  if (count !== undefined)
    return `${times} steps are the same by this rule of the source, which allows ${count.more_than}`
  if (missing !== undefined) return "the step that has to go with it by this rule of the source is not in the run"
  if (mismatch !== undefined) return "two values that have to be the same by this rule of the source are not"
  return "a value is above what this rule of the source allows"
}
