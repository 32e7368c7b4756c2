import { type Event, validate, validateRun } from "@orangebox/contract"
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
