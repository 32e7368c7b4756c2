import type { Interner } from "@orangebox/text"
import { type DiffStep, isContainer } from "./diff-step.js"
import { distance, NEVER } from "./distance.js"
import { concurrentGroups, type Features } from "./features.js"

/**
 * A run as the sequence that is aligned: steps in order of opening, and steps that ran at the same time as one element, a set. What is
 * below the members of a set is aligned when the members have been paired.
 */
export interface Element {
  readonly members: readonly Features[]
  /** Equal for elements that are the same; those of a set in any order. A container's children are elements of their own. */
  readonly key: number
  /** Equal for elements that are recognised as each other even if they differ; -1 for those that cannot be. */
  readonly anchor: number
  /** What leaving it out costs. */
  readonly weight: number
}

/** What is below a step, in order. */
export function elementsBelow(root: DiffStep, features: readonly Features[], interner: Interner): Element[] {
  const elements: Element[] = []
  const waiting: (readonly DiffStep[])[] = [...concurrentGroups(root.children)].reverse()
  while (waiting.length > 0) {
    const group = waiting.pop()!
    elements.push(elementOf(group, features, interner))
    if (group.length > 1) continue
    const below = concurrentGroups(group[0]!.children)
    for (let i = below.length - 1; i >= 0; i--) waiting.push(below[i]!)
  }
  return elements
}

/** Single steps as elements, for stretches where nothing is known about what ran beside what. */
export function singleElements(steps: readonly Features[], interner: Interner): Element[] {
  return steps.map((step) => singleElement(step, interner))
}

function elementOf(group: readonly DiffStep[], features: readonly Features[], interner: Interner): Element {
  const members = group.map((step) => features[step.at]!)
  if (members.length === 1) return singleElement(members[0]!, interner)
  const subtrees = members.map((member) => member.subtree).sort((x, y) => x - y)
  const key = interner.of(`set ${subtrees.join("|")}`)
  return { members, key, anchor: key, weight: 1 + 0.5 * (members.length - 1) }
}

/** A call that the harness makes for itself, and a step that only holds others, are cheap to do without. */
const LIGHT = 0.25

function singleElement(step: Features, interner: Interner): Element {
  const isHolder = isContainer(step.step) && step.step.kind === "step"
  return {
    members: [step],
    key: step.own,
    anchor: isHolder ? interner.of(`anchor ${step.subtree}`) : step.call,
    weight: step.step.isAuxiliary || isHolder ? LIGHT : 1,
  }
}

export function elementDistance(a: Element, b: Element): number {
  if (a.members.length === 1 && b.members.length === 1) return distance(a.members[0]!, b.members[0]!)
  if (a.key === b.key) return 0
  // One call may have become two at once, but a container stands for itself alone here, and so does not go with a set or out of one.
  const isUneven = a.members.length === 1 || b.members.length === 1
  if (isUneven && [...a.members, ...b.members].some(({ step }) => isContainer(step))) return NEVER
  return 1 - setLikeness(a.members, b.members)
}

/** Half by what the members are, half by what exactly they were asked. */
function setLikeness(a: readonly Features[], b: readonly Features[]): number {
  const labels = sharedCount(a, b, (member) => member.label)
  const calls = sharedCount(a, b, (member) => member.subtree)
  return (labels + calls) / (a.length + b.length)
}

function sharedCount(a: readonly Features[], b: readonly Features[], of: (member: Features) => number): number {
  const counts = new Map<number, number>()
  for (const member of a) counts.set(of(member), (counts.get(of(member)) ?? 0) + 1)
  let shared = 0
  for (const member of b) {
    const left = counts.get(of(member)) ?? 0
    if (left === 0) continue
    counts.set(of(member), left - 1)
    shared++
  }
  return shared
}
