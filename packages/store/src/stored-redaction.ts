import type { Event } from "@orangebox/contract"
import type { StoredRedaction, StoredRedactionReport } from "./trace-store.js"

/** What is reported where nothing had to go. */
export const NOTHING_REDACTED: StoredRedactionReport = Object.freeze({
  events: 0,
  eventsSeen: 0,
  bodies: 0,
  bodiesSeen: 0,
  bodyBytes: 0,
  otherTexts: 0,
  runIds: [],
  openStreams: [],
  unreadableBodies: 0,
  isSwept: true,
})

/** What an event that was redacted before may still say. */
export function revisionOf({ event: revise, runId }: StoredRedaction): (event: Event) => Event {
  return (event) => (runId === undefined || event.run_id === runId ? revise(event) : event)
}

/** A JSON text with other words in its strings; the same text where nothing had to go. */
export function inJson(json: string, text: (text: string) => string): string {
  let isChanged = false
  const value: unknown = JSON.parse(json, (_, inner: unknown) => {
    if (typeof inner !== "string") return inner
    const redacted = text(inner)
    if (redacted !== inner) isChanged = true
    return redacted
  })
  return isChanged ? JSON.stringify(value) : json
}
