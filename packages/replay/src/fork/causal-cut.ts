import { addToList } from "../add-to-list.js"
import type { Tape, TapeStep } from "../tape/tape.js"

/**
 * Every step that builds on another: not everything that came later, but what the step's answer reached. Concurrent branches keep their
 * recorded answers.
 *
 * A step has a beginning and an end. Its beginning reaches its end and the beginnings of the steps inside it; the end of an inner step
 * reaches the end of the outer one; and the end of a step reaches the beginning of whatever follows it.
 */
export function descendantsOf(tape: Tape, stepId: string, from: "start" | "end"): ReadonlySet<string> {
  const { steps } = tape
  const children = new Map<string, TapeStep[]>()
  const followers = new Map<string, string[]>()
  for (const step of steps.values()) {
    if (step.parentStepId !== null) addToList(children, step.parentStepId, step)
  }
  for (const step of steps.values()) {
    for (const followed of step.follows) {
      addToList(followers, followed, step.stepId)
      for (const sibling of joined(steps.get(followed), step, children)) addToList(followers, sibling, step.stepId)
    }
  }

  const begun = new Set<string>()
  const ended = new Set<string>()
  const work: { readonly id: string; readonly at: "start" | "end" }[] = [{ id: stepId, at: from }]
  for (;;) {
    const next = work.pop()
    if (next === undefined) break
    const { id, at } = next
    const seen = at === "start" ? begun : ended
    if (seen.has(id)) continue
    seen.add(id)
    if (at === "start") {
      work.push({ id, at: "end" })
      for (const child of children.get(id) ?? []) work.push({ id: child.stepId, at: "start" })
    } else {
      for (const follower of followers.get(id) ?? []) work.push({ id: follower, at: "start" })
      const parent = steps.get(id)?.parentStepId
      if (parent != null) work.push({ id: parent, at: "end" })
    }
  }
  return begun
}

/**
 * A step names the one that ended last before it. Where several ran side by side it may well have waited for all of them, so those that
 * overlapped with the named one and were over by then count as followed too: going live once too often is dear, serving an answer to
 * something that no longer happened is wrong.
 */
function joined(followed: TapeStep | undefined, step: TapeStep, children: ReadonlyMap<string, TapeStep[]>): string[] {
  if (followed?.parentStepId == null || followed.closedAt === null) return []
  const { openedAt, closedAt } = followed
  return (children.get(followed.parentStepId) ?? [])
    .filter((other) => {
      if (other === followed || other === step || other.closedAt === null) return false
      return other.closedAt < step.openedAt && other.closedAt > openedAt && other.openedAt < closedAt
    })
    .map((other) => other.stepId)
}
