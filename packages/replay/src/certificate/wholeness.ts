import { type Event, validate, validateRun, whyNotWire } from "@orangebox/contract"
import { addToList } from "../add-to-list.js"
import type { Recording } from "../tape/tape.js"
import { ownEvents } from "../tape/tape-of.js"

/** A recording to be judged, with what is known of it from elsewhere. */
export interface JudgedRecording extends Recording {
  /** What its store or its file says against it: lost events, two records with one id, bytes that were cut or taken out. */
  readonly faults?: readonly string[]
}

/**
 * Why a recording is not whole. Open steps are none: that is how some runs were. What stands here is what `verify` calls wrong or lost,
 * and a body of which only the beginning was kept.
 */
export function wholenessProblems({ events, bodies, faults = [] }: JudgedRecording, areBodiesHere: boolean): string[] {
  const problems = [...faults]
  const runs = new Map<string, Event[]>()
  for (const event of ownEvents(events)) addToList(runs, event.run_id!, event)
  const rules = areBodiesHere ? { hasBody: (hash: string) => bodies.get(hash) !== undefined } : {}
  for (const [runId, own] of runs) {
    const found = [...own.flatMap((event) => validate(event)), ...validateRun(own, rules)]
    for (const { severity, reason, subject } of found) {
      if (severity !== "open") problems.push(`${runId}: ${reason} (${subject})`)
    }
    problems.push(...turnedTimes(runId, own), ...notOnWire(runId, own))
    for (const { event_id, artifact_refs } of own) {
      for (const { artifact_type, byte_size, full_byte_size } of artifact_refs) {
        if (full_byte_size !== undefined && full_byte_size > byte_size)
          problems.push(
            `${runId}: only ${byte_size} of ${full_byte_size} bytes of a ${artifact_type} were kept (${event_id})`,
          )
      }
    }
  }
  return [...new Set(problems)]
}

/** Calls that another program's record tells of: whatever is served for them was never an answer on a wire. */
function notOnWire(runId: string, own: readonly Event[]): string[] {
  const reasons = own.flatMap((event) =>
    event.event_type === "model_called"
      ? event.artifact_refs.flatMap(({ mime_type }) => whyNotWire(mime_type) ?? [])
      : [],
  )
  return reasons.length === 0
    ? []
    : [`${runId}: ${reasons.length} of its model calls are not recorded on the wire: ${reasons[0]}`]
}

/**
 * A recorder numbers its events as it makes them, so their clock never runs backwards along their numbers: where it does, numbers were
 * changed. What was read from elsewhere has the times it came with.
 */
function turnedTimes(runId: string, own: readonly Event[]): string[] {
  const later = own.find((event, at) => {
    const before = own[at - 1]
    return before && event.actor_type !== "backend" && before.actor_type !== "backend" && event.mono_us < before.mono_us
  })
  if (later === undefined) return []
  return [
    `${runId}: event ${later.sequence_no} was made before the one that its number puts in front of it (${later.event_id})`,
  ]
}
