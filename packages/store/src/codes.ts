import type { FoldedKind, StepStatus } from "@orangebox/runs"
import type { Origin } from "./trace-store.js"

/** Words that are stored as small numbers. Stores on disk depend on them: append, never reorder. */
export const STEP_KINDS: readonly FoldedKind[] = ["run", "model", "tool", "step", "unknown"]
export const STEP_STATUSES: readonly StepStatus[] = ["open", "success", "error", "timeout", "partial"]
/** Where what is summed came from. A run that is imported is imported whole, replays in it too. */
export const ORIGINS: readonly Origin[] = ["recorded", "replayed", "imported"]
export const ID_KINDS = [
  "message",
  "tool_call",
  "provider_request",
  "request",
  "artifact",
  "conversation",
  "lane",
  "linked",
  "commit",
] as const

export const BODY = {
  /** The bytes are in the packs. */
  here: 0,
  pruned: 1,
  redacted: 2,
  /** An event names it; the bytes have not come. */
  awaited: 3,
} as const

/**
 * Why something is held. Each class has an age of its own: `event` is what stands in an event itself (or in the body it was moved to
 * because it is too long for a row), `stream` a body whose writer died before it ended.
 */
export const HELD = { body: 0, snapshot: 1, manifest: 2, event: 3, stream: 4 } as const

export const STREAM = { open: 0, complete: 1, abandoned: 2 } as const
