import { type Event, isEventType, validate } from "@orangebox/contract"
import { defaultPolicy } from "@orangebox/redaction"
import type { Search } from "./search.js"

/** A field that holds the text and cannot be changed without breaking the contract. */
export interface FirmField {
  readonly eventId: string
  readonly field: string
}

/** Of the envelope, only what callers fill. Ids, places and times are the event's identity. */
const ENVELOPE_FIELDS = ["attributes", "conversation_id", "source", "lane_id"] as const

/** The event as it may stay: the same object where nothing was found. Fields that cannot give way are reported and stay. */
export function redactEvent(event: Event, search: Search, report: (field: FirmField) => void): Event {
  const loose = event as unknown as Record<string, unknown>
  const changes: { readonly field: string; apply(to: Record<string, unknown>): Record<string, unknown> }[] = []
  for (const field of ENVELOPE_FIELDS) {
    const value = redactValue(loose[field], search.redact)
    if (value !== loose[field]) changes.push({ field, apply: (to) => ({ ...to, [field]: value }) })
  }
  const payload = loose["payload"]
  if (typeof payload === "object" && payload !== null) {
    for (const [field, before] of Object.entries(payload)) {
      const isOurs = policyOf(event, field) === "raw_allowed"
      const value = redactValue(before, isOurs ? search.redactOurs : search.redact)
      if (value === before) continue
      changes.push({
        field: `payload.${field}`,
        apply: (to) => ({ ...to, payload: { ...(to["payload"] as object), [field]: value } }),
      })
    }
  }
  if (changes.length === 0) return event
  const problems = validate(event).length
  let revised: Record<string, unknown> = { ...loose, redaction_status: "redacted" }
  let isChanged = false
  for (const { field, apply } of changes) {
    const next = apply(revised)
    if (validate(next).length > problems) {
      report({ eventId: event.event_id, field })
      continue
    }
    revised = next
    isChanged = true
  }
  return isChanged ? (revised as unknown as Event) : event
}

const policyOf = (event: Event, field: string): string =>
  isEventType(event.event_type) ? defaultPolicy(event.event_type, field) : "redact_required"

/** The same object where nothing was found in it. */
function redactValue(value: unknown, redact: (text: string) => string): unknown {
  if (typeof value === "string") return redact(value)
  if (Array.isArray(value)) {
    const items = value.map((item) => redactValue(item, redact))
    return items.some((item, i) => item !== value[i]) ? items : value
  }
  if (typeof value !== "object" || value === null) return value
  const before = Object.entries(value)
  const after = before.map(([key, inner]): [string, unknown] => [redact(key), redactValue(inner, redact)])
  const isChanged = after.some(([key, inner], i) => key !== before[i]![0] || inner !== before[i]![1])
  return isChanged ? Object.fromEntries(after) : value
}
