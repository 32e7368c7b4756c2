import type { DiffStep } from "./diff-step.js"

/**
 * Sub-agents that a recording lists flat, told apart only by their lane, are hung below the step that asked for them, or else below their
 * own first step: two agents at work at the same time then are two subtrees instead of one shuffled list.
 */
export function inlineLanes(root: DiffStep, askedBy: ReadonlyMap<DiffStep, DiffStep>): void {
  const waiting = [root]
  for (let step = waiting.pop(); step; step = waiting.pop()) {
    const lanes = new Set(step.children.map((child) => child.lane))
    if (lanes.size > 1 || askedBy.size > 0) rehang(step, askedBy)
    waiting.push(...step.children)
  }
}

function rehang(parent: DiffStep, askedBy: ReadonlyMap<DiffStep, DiffStep>): void {
  const own = parent.lane ?? parent.children.find((child) => child.lane !== undefined)?.lane
  const firstOf = new Map<string, DiffStep>()
  const kept: DiffStep[] = []
  for (const child of parent.children) {
    const isGuest = child.lane !== undefined && child.lane !== own
    const first = isGuest ? firstOf.get(child.lane) : undefined
    if (isGuest && !first) firstOf.set(child.lane, child)
    const host = first ?? (isGuest ? guestHost(child, parent, askedBy) : undefined)
    if (host) {
      child.parent = host
      host.children.push(child)
    } else {
      kept.push(child)
    }
  }
  if (kept.length === parent.children.length) return
  parent.children.length = 0
  parent.children.push(...kept)
}

/** The step that asked, if it stands under the same parent: further away, the recording's own nesting is the better word. */
function guestHost(child: DiffStep, parent: DiffStep, askedBy: ReadonlyMap<DiffStep, DiffStep>): DiffStep | undefined {
  const asker = askedBy.get(child)
  return asker && asker !== child && asker.parent === parent ? asker : undefined
}
