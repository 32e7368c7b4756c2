import type { Interner } from "@orangebox/text"
import { addToList } from "../add-to-list.js"
import { type AlignmentWork, alignSequences } from "./align-sequences.js"
import { assign } from "./assignment.js"
import { type DiffStep, isContainer } from "./diff-step.js"
import { distance } from "./distance.js"
import { elementsBelow, singleElements } from "./elements.js"
import { type Features, readSubtrees } from "./features.js"
import { spineOf } from "./lay-out.js"
import { Matching } from "./matching.js"
import { findMoves } from "./moves.js"

/** Two runs with what their steps are told apart by; both lists are indexed by `step.at`. */
export interface BothRuns {
  readonly a: readonly Features[]
  readonly b: readonly Features[]
  readonly interner: Interner
}

/** Unrelated runs: what is equal first, then the cheapest alignment between, sets as sets, and what is left over moved or not there. */
export function matchUnrelated(runs: BothRuns, work: AlignmentWork): Matching {
  const { a, b } = runs
  readSubtrees(a)
  readSubtrees(b)
  const matching = new Matching(a.length, b.length)
  alignBelow(runs, [[a[0]!, b[0]!]], matching, work)
  alignBelow(runs, findMoves(a, b, matching), matching, work)
  return matching
}

/** Pairs of steps, and what is below them. */
function alignBelow(
  { a, b, interner }: BothRuns,
  pairs: readonly [Features, Features][],
  matching: Matching,
  work: AlignmentWork,
): void {
  const waiting = [...pairs]
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const [rootA, rootB] = next
    matching.pair(rootA.step.at, rootB.step.at)
    if (!isContainer(rootA.step) || !isContainer(rootB.step)) continue
    const sequenceA = elementsBelow(rootA.step, a, interner)
    const sequenceB = elementsBelow(rootB.step, b, interner)
    for (const [i, j] of alignSequences(sequenceA, sequenceB, work)) {
      const membersA = sequenceA[i]!.members
      const membersB = sequenceB[j]!.members
      if (membersA.length === 1 && membersB.length === 1) matching.pair(membersA[0]!.step.at, membersB[0]!.step.at)
      else waiting.push(...pairMembers(membersA, membersB))
    }
  }
}

/** Related runs: pairs that the recording itself names are certain; only what it does not name is aligned between them. */
export function matchRelated(
  runs: BothRuns,
  named: readonly (readonly [DiffStep, DiffStep])[],
  work: AlignmentWork,
): Matching {
  const { a, b, interner } = runs
  const matching = new Matching(a.length, b.length)
  matching.pair(0, 0)
  for (const [stepA, stepB] of named) {
    matching.pair(stepA.at, stepB.at)
    // Plain steps around calls are not named by a replay; calls that are the same stand in the same step.
    let above = stepA.parent
    let aboveB = stepB.parent
    while (above && aboveB && matching.isFreeA(above.at) && matching.isFreeB(aboveB.at) && isSameLabel(above, aboveB)) {
      matching.pair(above.at, aboveB.at)
      above = above.parent
      aboveB = aboveB.parent
    }
  }
  if (matching.count === a.length && matching.count === b.length) return matching
  let fromA = 0
  let fromB = 0
  for (const [i, j] of [...spineOf(matching), [a.length, b.length] as const]) {
    const restA = a.slice(fromA, i).filter(({ step }) => matching.isFreeA(step.at))
    const restB = b.slice(fromB, j).filter(({ step }) => matching.isFreeB(step.at))
    if (restA.length > 0 && restB.length > 0) {
      for (const [x, y] of alignSequences(singleElements(restA, interner), singleElements(restB, interner), work)) {
        matching.pair(restA[x]!.step.at, restB[y]!.step.at)
      }
    }
    fromA = i + 1
    fromB = j + 1
  }
  alignBelow(runs, findMoves(a, b, matching), matching, work)
  return matching
}

const isSameLabel = (a: DiffStep, b: DiffStep): boolean => a.kind === b.kind && a.name === b.name

/** Above this many possible pairs the members of two sets are taken in order: such a set is not read member by member. */
const MAX_OFFERS = 250_000

/** Members of two sets that stand for each other: equal ones first, then those with the least between them. */
function pairMembers(a: readonly Features[], b: readonly Features[]): [Features, Features][] {
  const pairs: [Features, Features][] = []
  const waiting = new Map<number, Features[]>()
  for (const member of b) addToList(waiting, member.subtree, member)
  const restA = a.filter((member) => {
    const equal = waiting.get(member.subtree)?.shift()
    if (equal) pairs.push([member, equal])
    return equal === undefined
  })
  const taken = new Set(pairs.map(([, member]) => member))
  const restB = b.filter((member) => !taken.has(member))
  const offers =
    restA.length * restB.length <= MAX_OFFERS
      ? assign(restA.length, restB.length, (i, j) => Math.min(2, distance(restA[i]!, restB[j]!)))
      : restA.slice(0, restB.length).map((_, i) => [i, i] as const)
  for (const [i, j] of offers) if (distance(restA[i]!, restB[j]!) < 1) pairs.push([restA[i]!, restB[j]!])
  return pairs
}
