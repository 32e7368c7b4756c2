/** Freezes a value and everything in it. With a list of its own instead of the call stack, so that no nesting is too deep. */
export function deepFreeze<T>(value: T): T {
  const waiting: unknown[] = [value]
  // A frozen object may hold unfrozen ones, so being frozen is no reason to stop; having been here is.
  const visited = new Set<object>()
  while (waiting.length > 0) {
    const next = waiting.pop()
    if (typeof next !== "object" || next === null || visited.has(next)) continue
    visited.add(Object.freeze(next))
    for (const member of Object.values(next)) waiting.push(member)
  }
  return value
}
