import type { Event } from "@orangebox/contract"
import { HELD } from "./codes.js"

/** As what an event holds a body: each class has an age of its own. */
export function heldAs(event: Event, artifactType: string): number {
  if (event.event_type === "context_manifest") return HELD.manifest
  if (artifactType.includes("snapshot")) return HELD.snapshot
  if (event.event_type === "artifact_recorded" && String(event.payload.artifact_type).includes("snapshot"))
    return HELD.snapshot
  return HELD.body
}
