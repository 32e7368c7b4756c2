import type { RefusedSource } from "../stage.js"

/** What the step-awareness specification excludes from every bundle, with its reasons. */
export const REFUSED_SOURCES: readonly RefusedSource[] = [
  { kind: "raw_decision_logs", type: "memory", reason: "Too noisy, unbounded size" },
  { kind: "full_conversation_history", type: "memory", reason: "Not deterministic" },
  { kind: "vector_embeddings", type: "evidence", reason: "No vector DB in architecture" },
  { kind: "gpu_resident_state", type: "tool_output", reason: "Ephemeral, not reproducible" },
  { kind: "live_draw_outcomes", type: "evidence", reason: "Chapter 13 exclusive authority" },
]
