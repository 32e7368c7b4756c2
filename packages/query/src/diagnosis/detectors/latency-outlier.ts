import { formatDuration } from "@orangebox/text"
import { attemptsOf, type CaseFile, stillGoing, type Usual } from "../case-file.js"
import { at, type Detected, type Finding } from "../finding.js"

const TIMES_MEDIAN = 5
const FEWEST = 30

/** A step that took far longer than its like: statistics over what the store has seen of it, and no more than a hint. */
export function latencyOutlier({ view, usual }: CaseFile): Detected {
  const going = stillGoing(view)
  if (going !== undefined) return { notRun: going }
  const found: Finding[] = []
  let isAnyUsual = false
  for (const step of view.steps) {
    const like = usual.get(usualKey(step.kind, step.name))
    if (like === undefined || step.durationUs === undefined || step.attemptNo !== undefined) continue
    const others = without(like, step.durationUs)
    if (others.count < FEWEST) continue
    isAnyUsual = true
    const [median, p99] = [atShare(others, 0.5), atShare(others, 0.99)]
    if (step.durationUs <= TIMES_MEDIAN * median || step.durationUs <= p99) continue
    const tries = attemptsOf(view, step).length
    found.push({
      detector: "latency_outlier",
      kind: null,
      severity: "notice",
      confidence: "possible",
      cause: step.n,
      fails: step.n,
      claim: `#${step.n} took ${formatDuration(step.durationUs)}${tries > 1 ? ` in ${tries} tries` : ""}; half of ${others.count} like it took under ${formatDuration(median)}, and 99 % under ${formatDuration(p99)}`,
      by: null,
      evidence: [at(step)],
    })
  }
  return isAnyUsual ? found : { notRun: `fewer than ${FEWEST} steps of a kind are on record` }
}

export const usualKey = (kind: string, name: string | undefined): string => `${kind} ${name ?? ""}`

/** The step itself is on record too, and is not held against itself. */
function without({ count, byBound }: Usual, durationUs: number): Usual {
  const own = [...byBound].find(([bound]) => durationUs < bound)?.[0]
  return {
    count: count - 1,
    byBound: byBound.map(([bound, many]) => [bound, bound === own ? many - 1 : many] as const),
  }
}

/** The bound that so large a share lies under: what is known is how many took under so much. */
function atShare({ count, byBound }: Usual, share: number): number {
  let seen = 0
  for (const [bound, many] of byBound) {
    seen += many
    if (seen >= count * share) return bound
  }
  return Number.POSITIVE_INFINITY
}
