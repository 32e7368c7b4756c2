import type { RunView } from "../run-view.js"
import type { Confidence, Finding, Severity } from "./finding.js"

export const SEVERITIES: readonly Severity[] = ["fatal", "harm", "waste", "notice"]
export const CONFIDENCES: readonly Confidence[] = ["proven", "likely", "possible"]

/**
 * The worst first, of equals the surest, of these the one that lies on the way to where the run failed, and then the earliest. A finding
 * whose cause comes out of another's is its symptom.
 */
export function ranked<T extends Finding>(
  findings: readonly T[],
  view: RunView,
  end = failurePoint(view),
): readonly (T & { readonly rank: number; readonly symptomOf: number | null })[] {
  const onTheWay = backwardSlice(view, end)
  const order = (finding: T): readonly number[] => [
    SEVERITIES.indexOf(finding.severity),
    CONFIDENCES.indexOf(finding.confidence),
    onTheWay.has(finding.cause) ? 0 : 1,
    finding.cause,
  ]
  const sorted = [...findings].sort((a, b) => {
    const [one, other] = [order(a), order(b)]
    return one.map((value, index) => value - other[index]!).find((difference) => difference !== 0) ?? 0
  })
  return sorted.map((finding, index) => {
    const cause = sorted
      .slice(0, index)
      .findIndex((other) => other.fails !== null && other.fails === finding.cause && other.cause < finding.cause)
    return { ...finding, rank: index + 1, symptomOf: cause === -1 ? null : cause + 1 }
  })
}

/** Where the run went wrong, as it says itself: the step it stood in, the step it blames, where it failed the last that did, else its last. */
export function failurePoint({ crash, steps, status }: RunView): number {
  // A run that completed got over what failed in it: what is wrong with it is wrong with what it came to.
  const failed = status === "completed" ? undefined : steps.findLast(({ n, error }) => n > 1 && error !== undefined)
  return crash?.step ?? steps[0]?.error?.blames ?? failed?.n ?? steps.length
}

/** Everything a step came out of: what it is part of, what it followed, what it links to, and what these came out of. */
export function backwardSlice(view: RunView, from: number): ReadonlySet<number> {
  const slice = new Set<number>()
  const noOf = new Map(view.steps.map(({ id, n }) => [id, n]))
  const sisterBefore = new Map(
    view.steps.flatMap(({ children }) => children.slice(1).map((n, index) => [n, children[index]!] as const)),
  )
  const waiting = [from]
  while (waiting.length > 0) {
    const n = waiting.pop()!
    const step = view.steps[n - 1]
    if (step === undefined || slice.has(n)) continue
    slice.add(n)
    if (step.parent !== undefined) waiting.push(step.parent)
    for (const { step_id } of step.links) {
      const linked = step_id === undefined ? undefined : noOf.get(step_id)
      if (linked !== undefined && linked < n) waiting.push(linked)
    }
    // What stands before it under the same parent was done before it, by the same hand, with all that was done in it.
    for (let last = sisterBefore.get(n); last !== undefined; last = view.steps[last - 1]?.children.at(-1))
      waiting.push(last)
  }
  return slice
}
