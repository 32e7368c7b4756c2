import { type Event, payloadOf, recordsIn, textIn } from "@orangebox/contract"
import { linksOf } from "@orangebox/runs"
import type { TargetKind } from "./trace-store.js"

export interface EventIdMention {
  /** `linked` is the run or step that a link of the event points at. */
  readonly kind:
    | (TargetKind &
        ("message" | "tool_call" | "provider_request" | "request" | "artifact" | "conversation" | "lane" | "commit"))
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
  for (const id of carriedToolIds(event)) add(found, "tool_call", id)
  // A lane is a line of model calls: those are its places.
  if (event.event_type === "model_called") add(found, "lane", event.lane_id)
  for (const { kind, run_id, step_id } of linksOf(event)) {
    // The causal chain inside a run is what its tree shows.
    if (kind !== "follows") add(found, "linked", run_id ?? step_id)
  }
  return found
}

/** Of a prompt that is not among the first of its run, only its end is new, and every call carries all tool calls before it. */
const NEWEST_IDS = 16
const FIRST_PROMPTS = 24

/** The tool calls whose words or results a prompt carries. All of them in a long run would be the square of it: a reader finds the rest in the run. */
function carriedToolIds(event: Event): readonly string[] {
  if (event.event_type !== "prompt_assembled") return []
  const ids = new Set(
    recordsIn(payloadOf(event), "segments").flatMap((segment) => textIn(segment, "tool_call_id") ?? []),
  )
  return (event.sequence_no ?? 0) < FIRST_PROMPTS ? [...ids] : [...ids].slice(-NEWEST_IDS)
}

const PAYLOAD_IDS = [
  ["tool_call_id", "tool_call"],
  ["requested_tool_ids", "tool_call"],
  ["provider_request_id", "provider_request"],
  ["request_id", "request"],
  ["artifact_id", "artifact"],
  ["message_id", "message"],
  ["commit", "commit"],
] as const

const ATTRIBUTE_ID = /(?:^|[._-])(message|conversation)[._-]?id$/i

function add(found: EventIdMention[], kind: EventIdMention["kind"], id: unknown): void {
  if (Array.isArray(id)) for (const one of id) add(found, kind, one)
  else if (typeof id === "string" && id.length > 0 && id.length <= MAX_ID) found.push({ kind, id })
}
