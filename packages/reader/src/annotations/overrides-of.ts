import type { Event, Verdict } from "@orangebox/contract"

/** What a person said about a run as a whole. */
export interface HumanWord {
  readonly author: string
  readonly verdict: Verdict
  readonly reason: string
  readonly at: string
}

/** The last word somebody said about the whole run. */
export function lastWordAbout(events: readonly Event[]): HumanWord | undefined {
  const said = events.findLast(
    (event): event is Event<"override"> =>
      event.event_type === "override" && (event as Event<"override">).payload.subject_step_id === null,
  )
  if (said === undefined) return undefined
  const { author, verdict, reason } = said.payload
  return { author, verdict, reason, at: said.timestamp_utc }
}
