import type { Event } from "@orangebox/contract"

/** What an event is known by: its id, or its place where it is too old to have one. */
export function storedName(event: Pick<Event, "run_id" | "sequence_no"> & { readonly event_id?: string }): string {
  return event.event_id ?? `~${event.run_id}@${event.sequence_no}`
}
