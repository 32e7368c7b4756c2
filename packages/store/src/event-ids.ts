import type { Event } from "@orangebox/contract"
import type { TargetKind } from "./trace-store.js"

export interface EventIdMention {
  readonly kind: TargetKind & ("message" | "tool_call" | "provider_request" | "request" | "artifact")
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
      if (MESSAGE_ID.test(name)) add(found, "message", event.attributes[name])
    }
  }
  return found
}

const PAYLOAD_IDS = [
  ["tool_call_id", "tool_call"],
  ["provider_request_id", "provider_request"],
  ["request_id", "request"],
  ["artifact_id", "artifact"],
  ["message_id", "message"],
] as const

const MESSAGE_ID = /(?:^|[._-])message[._-]?id$/i

function add(found: EventIdMention[], kind: EventIdMention["kind"], id: unknown): void {
  if (typeof id === "string" && id.length > 0 && id.length <= MAX_ID) found.push({ kind, id })
}
