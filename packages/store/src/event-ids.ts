import type { Event } from "@orangebox/contract"
import { linksOf } from "@orangebox/runs"
import type { TargetKind } from "./trace-store.js"

export interface EventIdMention {
  /** `linked` is the run or step that a link of the event points at. */
  readonly kind:
    | (TargetKind & ("message" | "tool_call" | "provider_request" | "request" | "artifact" | "conversation" | "lane"))
    | "linked"
  readonly id: string
}

const MAX_ID = 512

/** The ids an event mentions beside its own, so that a reader who has only one of them finds the place. */
export function eventIds(event: Event): EventIdMention[] {
  const found: EventIdMention[] = []
  const payload = event.payload as Readonly<Record<string, unknown>> | undefined
  if (payload !== undefined && payload !== null) {
    for (const [field, kind] of PAYLOAD_IDS) add(found, kind, payload[field])
  }
  if (event.attributes !== undefined) {
    for (const name in event.attributes) {
      const kind = ATTRIBUTE_ID.exec(name)?.[1]
      if (kind !== undefined) add(found, kind.toLowerCase() as "message" | "conversation", event.attributes[name])
    }
  }
  // A lane is a line of model calls: those are its places.
  if (event.event_type === "model_called") add(found, "lane", event.lane_id)
  for (const { kind, run_id, step_id } of linksOf(event)) {
    // The causal chain inside a run is what its tree shows.
    if (kind !== "follows") add(found, "linked", run_id ?? step_id)
  }
  return found
}

const PAYLOAD_IDS = [
  ["tool_call_id", "tool_call"],
  ["requested_tool_ids", "tool_call"],
  ["provider_request_id", "provider_request"],
  ["request_id", "request"],
  ["artifact_id", "artifact"],
  ["message_id", "message"],
] as const

const ATTRIBUTE_ID = /(?:^|[._-])(message|conversation)[._-]?id$/i

function add(found: EventIdMention[], kind: EventIdMention["kind"], id: unknown): void {
  if (Array.isArray(id)) for (const one of id) add(found, kind, one)
  else if (typeof id === "string" && id.length > 0 && id.length <= MAX_ID) found.push({ kind, id })
}
