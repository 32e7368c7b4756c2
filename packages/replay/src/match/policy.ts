import type { Chunking, Timing } from "../stream/emission-plan.js"
import type { AcceptedMask } from "./comparable.js"
import type { MovedTree } from "./moved-tree.js"

export type ReplayReason = "reproduce" | "what_if" | "regression" | "calibrate" | "control"

/** How a replay treats what it cannot answer, or not exactly. Everything has a default, and the defaults are the strict ones. */
export interface ReplayPolicy {
  readonly reason: ReplayReason
  /** `exact` serves the one call recorded in this place; `cached` any recorded call with the same question, as often as it is asked. */
  readonly mode: "exact" | "cached"
  /** A request that differs only in what tools gave back. `fork` sends it, and whatever builds on it, to the upstream. */
  readonly onDrift: "serve" | "halt" | "fork"
  /** A request that matches nothing. `nearest` serves the most similar answer as `simulated`, for exploring only. */
  readonly onMiss: "halt" | "live" | "nearest"
  /** `faithful` serves every try as it was recorded; `collapse` only the last. */
  readonly retries: "faithful" | "collapse"
  readonly completionOrder: "recorded" | "free"
  readonly masks: readonly AcceptedMask[]
  readonly chunking: Chunking
  readonly timing: Timing
  /** The agent works in a copy of its tree that it finds at another path. */
  readonly moved: MovedTree | null
}

export function replayPolicy(given: Partial<ReplayPolicy> = {}): ReplayPolicy {
  const mode = given.mode ?? "exact"
  return {
    reason: "reproduce",
    onDrift: "serve",
    onMiss: "halt",
    retries: mode === "exact" ? "faithful" : "collapse",
    completionOrder: "recorded",
    masks: [],
    chunking: "event",
    timing: "none",
    moved: null,
    ...given,
    mode,
  }
}
