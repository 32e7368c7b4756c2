import type { Event } from "../catalog.js"

/**
 * Whether a `model_called` repeats the one that opened the call above it: a call is opened as one step, and when a second attempt begins,
 * the first becomes a step of its own below it. Recordings made before November 2026 say `told_again`; what was recorded does not change,
 * so every reader asks here.
 */
export function repeatsCall({ attributes }: Pick<Event, "attributes">): boolean {
  return attributes?.["repeats_call"] === true || attributes?.["told_again"] === true
}
