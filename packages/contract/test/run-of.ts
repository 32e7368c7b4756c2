import { readFileSync } from "node:fs"
import { type Event, type EventType, type PayloadOf, payloadRefs, readEvent, SCHEMA_VERSION } from "@orangebox/contract"

export const RUN = "run_01JT9QK2M4Z8C6V0X3B7N5R1WD"
export const OTHER_RUN = "run_01JT9QM7E2H5K8P1S4V7Y0B3FG"
export const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
export const HASH = `sha256:${"ab".repeat(32)}`

/** A readable step id: `step(3)` is 0303030303030303. */
export const step = (no: number): string => no.toString(16).padStart(2, "0").repeat(8)

type Line<T extends EventType = EventType> = {
  [K in T]: readonly [type: K, step: number, parent: number | null, payload: PayloadOf<K>, more?: Partial<Event<K>>]
}[T]

/** A run written as lines: type, step, parent step, payload, and what else differs from the usual envelope. */
export function runOf(...lines: Line[]): Event[] {
  return lines.map(([type, stepNo, parentNo, payload, more], sequenceNo) =>
    eventOf(type, payload, {
      step_id: step(stepNo),
      parent_step_id: parentNo === null ? null : step(parentNo),
      sequence_no: sequenceNo,
      event_id: eventId(sequenceNo),
      ...more,
    }),
  )
}

export const eventId = (no: number): string => `019570a1-0000-7000-8000-${no.toString(16).padStart(12, "0")}`

/** One valid event around a payload, with an entry for each body the payload names. */
export function eventOf(type: EventType, payload: unknown, more: Partial<Event> = {}): Event {
  const hashes = new Set(payloadRefs(type, payload).map((ref) => ref.hash))
  return {
    schema_version: SCHEMA_VERSION,
    event_id: eventId(0),
    trace_id: TRACE,
    run_id: RUN,
    step_id: step(1),
    parent_step_id: null,
    sequence_no: 0,
    event_type: type,
    timestamp_utc: "2026-03-14T09:26:53.000Z",
    mono_us: 0,
    actor_type: "sdk",
    determinism_mode: "live",
    artifact_refs: [...hashes].map((hash) => refTo(hash)),
    redaction_status: "not_required",
    source: "test",
    ...more,
    payload,
  } as Event
}

export function refTo(
  hash: string,
  more: Partial<Event["artifact_refs"][number]> = {},
): Event["artifact_refs"][number] {
  return {
    artifact_hash: hash,
    artifact_type: "body",
    byte_size: 3,
    content_encoding: "identity",
    mime_type: "text/plain",
    redaction_profile: "none",
    ...more,
  }
}

/** The records of a published version, as they stand in the file. */
export function fixture(version: "0" | "1.0" | "1.1" | "1.2"): Record<string, unknown>[] {
  const text = readFileSync(new URL(`fixtures/run-${version}.ndjson`, import.meta.url), "utf8")
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>)
}

/** One fixture event of each type, in the current version. */
export const samples: ReadonlyMap<EventType, Event> = new Map(
  fixture("1.2")
    .reverse()
    .map((raw) => readEvent(raw).event!)
    .map((event) => [event.event_type, event]),
)

export function byRun(events: readonly Event[]): Map<string, Event[]> {
  const runs = new Map<string, Event[]>()
  for (const event of events) {
    if (event.run_id !== null) runs.set(event.run_id, [...(runs.get(event.run_id) ?? []), event])
  }
  return runs
}

/** Nothing in it can be changed afterwards. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null) for (const member of Object.values(value)) deepFreeze(member)
  return Object.freeze(value)
}
