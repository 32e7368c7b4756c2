import { asRecord, type Event, payloadOf } from "@orangebox/contract"
import { listJournals, readJournalBody, tailJournal } from "@orangebox/journal"
import { RECEIVED } from "./otlp-door.js"

/**
 * The OTLP requests in the journals of a folder that are not older than `sinceMs`: what a process that died had received and perhaps not made
 * into runs. Those it had are known by their steps, so nothing is told twice.
 */
export function* receivedRequests(journalFolder: string, sinceMs: number): Generator<Uint8Array> {
  for (const { path } of listJournals(journalFolder)) {
    for (const item of tailJournal(path)) {
      if (item.kind !== "line" || item.line.kind !== "event") continue
      const event = asRecord(item.line.event) as Partial<Event> | undefined
      if (event?.source !== "otlp" || event.event_type !== "log") continue
      if (Date.parse(event.timestamp_utc ?? "") < sinceMs || payloadOf(event as Event)["message"] !== RECEIVED) continue
      for (const entry of item.line.bodies) {
        try {
          yield readJournalBody(path, entry)
        } catch {
          // Lost with the disk it was on; the journal's reader says so.
        }
      }
    }
  }
}
