import { type Event, isEventType } from "./catalog.js"
import { isRecord } from "./loose-payload.js"

/**
 * Whether a record has the skeleton that every reader touches without asking: its ids, its place, an object for a payload and a list of
 * refs. A record with wrong values inside is usable and has problems; one without the skeleton is not an event.
 */
export function isUsable(record: unknown): record is Event {
  if (typeof record !== "object" || record === null) return false
  const event = record as Record<string, unknown>
  return (
    isEventType(event["event_type"]) &&
    typeof event["event_id"] === "string" &&
    typeof event["timestamp_utc"] === "string" &&
    IDS.every((id) => event[id] === null || typeof event[id] === "string") &&
    (event["sequence_no"] === null || Number.isSafeInteger(event["sequence_no"])) &&
    isRecord(event["payload"]) &&
    Array.isArray(event["artifact_refs"]) &&
    event["artifact_refs"].every(isRecord) &&
    (event["links"] === undefined || (Array.isArray(event["links"]) && event["links"].every(isRecord)))
  )
}

const IDS = ["trace_id", "run_id", "step_id", "parent_step_id"]
