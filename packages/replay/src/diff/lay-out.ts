import type { DiffStep } from "./diff-step.js"
import { concurrentGroups } from "./features.js"
import { longestIncreasing } from "./increasing.js"
import type { Matching, Pair } from "./matching.js"

/** One line of a diff: a step of one run or of both, and whether it stands where it stood. */
export interface Placed {
  readonly a: DiffStep | undefined
  readonly b: DiffStep | undefined
  readonly place: "kept" | "moved" | "reordered"
}

/**
 * Steps of both runs as one list. The longest order both share is the spine; between two of its pairs comes what only the first run has,
 * then what only the second has. A pair off the spine stands where it is met first.
 */
export function layOut(
  a: readonly DiffStep[],
  b: readonly DiffStep[],
  matching: Matching,
  spine: readonly Pair[],
): Placed[] {
  const isOnSpine = new Uint8Array(a.length)
  for (const [at] of spine) isOnSpine[at] = 1
  const placeOf = placing(a, b, matching, isOnSpine)

  const items: Placed[] = []
  const isOut = new Uint8Array(a.length)
  let nextA = 0
  let nextB = 0
  const putPair = (atA: number, atB: number): void => {
    if (isOut[atA]) return
    isOut[atA] = 1
    items.push({ a: a[atA], b: b[atB], place: placeOf(atA, atB) })
  }
  for (const [toA, toB] of [...spine, [a.length, b.length] as const]) {
    for (; nextA < toA; nextA++) {
      if (matching.isFreeA(nextA)) items.push({ a: a[nextA], b: undefined, place: "kept" })
      else putPair(nextA, matching.ofA(nextA))
    }
    for (; nextB < toB; nextB++) {
      if (matching.isFreeB(nextB)) items.push({ a: undefined, b: b[nextB], place: "kept" })
      else putPair(matching.ofB(nextB), nextB)
    }
    if (toA < a.length || toB < b.length) putPair(toA, toB)
    nextA = toA + 1
    nextB = toB + 1
  }
  return items
}

/** The longest order of pairs that both runs share. */
export function spineOf(matching: Matching): Pair[] {
  const pairs = matching.pairs()
  return longestIncreasing(pairs.map(([, at]) => at)).map((position) => pairs[position]!)
}

function placing(
  a: readonly DiffStep[],
  b: readonly DiffStep[],
  matching: Matching,
  isOnSpine: Uint8Array,
): (atA: number, atB: number) => Placed["place"] {
  const isConcurrentA = concurrentSteps(a)
  const isConcurrentB = concurrentSteps(b)
  return (atA, atB) => {
    if (isOnSpine[atA]) return "kept"
    const above = a[atA]!.parent
    const aboveB = b[atB]!.parent
    const isSameParent = above !== undefined && aboveB !== undefined && matching.ofA(above.at) === aboveB.at
    // What moved with its parent did not move by itself.
    if (isSameParent && !isOnSpine[above.at]) return "kept"
    // Steps that ran at the same time have no order to lose.
    return isSameParent && (isConcurrentA.has(a[atA]!) || isConcurrentB.has(b[atB]!)) ? "reordered" : "moved"
  }
}

function concurrentSteps(steps: readonly DiffStep[]): ReadonlySet<DiffStep> {
  const found = new Set<DiffStep>()
  for (const { children } of steps) {
    if (children.length < 2) continue
    for (const group of concurrentGroups(children)) if (group.length > 1) for (const step of group) found.add(step)
  }
  return found
}
