import { addToList } from "../add-to-list.js"
import { isContainer } from "./diff-step.js"
import type { Features } from "./features.js"
import type { Matching } from "./matching.js"
import { dice } from "./shingles.js"

/** A step counts as moved when it says this much of the same. */
const MOVED_LIKENESS = 0.9
/** Only so many leftovers are compared by their text: where the rest went stays unknown. */
const MAX_COMPARED = 200

/**
 * What is left over on both sides and is the same thing somewhere else: equal calls first, then nearly equal texts.
 * Returns the pairs it made.
 */
export function findMoves(a: readonly Features[], b: readonly Features[], matching: Matching): [Features, Features][] {
  const restA = a.filter(({ step }) => matching.isFreeA(step.at))
  const restB = b.filter(({ step }) => matching.isFreeB(step.at))
  if (restA.length === 0 || restB.length === 0) return []
  pairEqual(restA, restB, matching)
  pairAlike(
    restA.filter(({ step }) => matching.isFreeA(step.at)).slice(0, MAX_COMPARED),
    restB.filter(({ step }) => matching.isFreeB(step.at)).slice(0, MAX_COMPARED),
    matching,
  )
  return restA.flatMap((step): [Features, Features][] => {
    const other = matching.ofA(step.step.at)
    return other < 0 ? [] : [[step, b[other]!]]
  })
}

function pairEqual(restA: readonly Features[], restB: readonly Features[], matching: Matching): void {
  const waiting = new Map<string, Features[]>()
  for (const step of restB) {
    const key = moveKey(step)
    if (key !== undefined) addToList(waiting, key, step)
  }
  for (const step of restA) {
    const key = moveKey(step)
    const other = key === undefined ? undefined : waiting.get(key)?.shift()
    if (other) matching.pair(step.step.at, other.step.at)
  }
}

/** Plain steps without anything of their own are equal to too many others to be recognised. */
function moveKey(step: Features): string | undefined {
  if (step.call >= 0) return `call ${step.call}`
  if (isContainer(step.step)) return `tree ${step.subtree}`
  return step.step.outputRef === undefined ? undefined : `own ${step.own}`
}

function pairAlike(restA: readonly Features[], restB: readonly Features[], matching: Matching): void {
  for (const step of restA) {
    if (!isRecognisable(step)) continue
    let best: Features | undefined
    let bestLikeness = MOVED_LIKENESS
    for (const other of restB) {
      if (other.label !== step.label || !matching.isFreeB(other.step.at) || !isRecognisable(other)) continue
      const likeness = callLikeness(step, other)
      if (likeness < bestLikeness || (best && likeness === bestLikeness)) continue
      best = other
      bestLikeness = likeness
    }
    if (best) matching.pair(step.step.at, best.step.at)
  }
}

/** Model calls follow what was moved; they are not moved themselves. */
const isRecognisable = ({ step }: Features): boolean => step.kind === "tool" || step.kind === "retrieval"

function callLikeness(a: Features, b: Features): number {
  const [x, y] = [a.inputShingles, b.inputShingles]
  return x && y && x.length > 0 && y.length > 0 ? dice(x, y) : 0
}
