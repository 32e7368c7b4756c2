import type { DiffStep } from "./diff-step.js"

/**
 * The same call again after it failed is one call with more tries, also where the recording does not say so.
 * Returns how many tries were folded.
 */
export function foldRetries(siblings: DiffStep[]): number {
  let folded = 0
  for (let i = 0; i + 1 < siblings.length; ) {
    const tried = siblings[i]!
    const next = siblings[i + 1]!
    if (!repeats(tried, next)) {
      i++
      continue
    }
    next.attempts += tried.attempts
    siblings.splice(i, 1)
    folded += 1
  }
  return folded
}

function repeats(tried: DiffStep, next: DiffStep): boolean {
  return (
    (tried.kind === "model" || tried.kind === "tool") &&
    tried.kind === next.kind &&
    tried.sig !== undefined &&
    tried.sig === next.sig &&
    tried.name === next.name &&
    tried.lane === next.lane &&
    tried.children.length === 0 &&
    (tried.status === "error" || tried.status === "timeout" || tried.status === "partial") &&
    tried.closedAt < next.openedAt
  )
}
