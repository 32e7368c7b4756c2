import type { Event, EventType } from "@orangebox/contract"

/** An event of a run that is known by one letter, at its place in the run; what the test is about stands in the rest. */
export function plainEvent(
  letter: string,
  sequence: number,
  type: EventType,
  step: string,
  parent: string | null,
  payload: object,
  more: Partial<Event> = {},
): Event {
  return {
    schema_version: "1.1.0",
    event_id: `00000000-0000-7000-8000-${sequence.toString(16).padStart(12, "0")}`,
    trace_id: "1".repeat(32),
    run_id: `run_${"0".repeat(25)}${letter}`,
    step_id: step,
    parent_step_id: parent,
    sequence_no: sequence,
    event_type: type,
    timestamp_utc: "2026-01-01T00:00:00.000Z",
    mono_us: sequence * 10,
    actor_type: "sdk",
    determinism_mode: "live",
    artifact_refs: [],
    redaction_status: "not_required",
    source: "test",
    payload,
    ...more,
  } as Event
}
