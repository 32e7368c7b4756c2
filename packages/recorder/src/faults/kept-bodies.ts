import type { ArtifactRef, KeptBodies } from "@orangebox/contract"
import type { EventExtras } from "../event-builder.js"

/**
 * Whose bodies are always kept: what says what was in a context and what the application concluded or made. Everything else is traffic, and
 * `bodies` has the word.
 */
const ALWAYS_KEPT = new Set([
  "context_manifest",
  "artifact_recorded",
  "decision",
  "evaluation",
  "override",
  "validator_decision",
  "safety_decision",
])
const ALWAYS_KEPT_TYPES = new Set(["stream_index", "usage", "error", "error_message"])

function keepsBody(eventType: string, artifactType: string): boolean {
  return ALWAYS_KEPT.has(eventType) || ALWAYS_KEPT_TYPES.has(artifactType)
}

/** The event without the bodies that are kept only on a fault: their refs stay and say so. */
export function withoutTraffic(eventType: string, extras: EventExtras): EventExtras {
  const refs = extras.refs ?? []
  const dropped = new Set<string>()
  const left = refs.map((ref): ArtifactRef => {
    if (keepsBody(eventType, ref.artifact_type)) return ref
    dropped.add(ref.artifact_hash)
    return ref.absent === undefined ? { ...ref, absent: "not_kept" } : ref
  })
  return { ...extras, refs: left, bodies: (extras.bodies ?? []).filter(({ hash }) => !dropped.has(hash)) }
}

/** `sample:20` keeps the bodies of every twentieth model-calling step. */
export function sampleOf(bodies: KeptBodies): number | undefined {
  return bodies.startsWith("sample:") ? Number(bodies.slice("sample:".length)) : undefined
}
