import type { Event } from "@orangebox/contract"

/** Milliseconds since 1970; 0 for what is no time. */
export function timeOf({ timestamp_utc: text }: Pick<Event, "timestamp_utc">): number {
  if (typeof text !== "string") return 0
  if (text.length === ISO_LENGTH && text.startsWith(lastSecond) && text.endsWith("Z")) {
    const millis = Number(text.slice(20, 23))
    if (millis >= 0) return lastSecondMs + millis
  }
  const atMs = Date.parse(text)
  if (Number.isNaN(atMs)) return 0
  const iso = new Date(atMs).toISOString()
  if (iso === text && text.length === ISO_LENGTH) {
    lastSecond = text.slice(0, 20)
    lastSecondMs = atMs - (atMs % 1000)
  }
  return atMs
}

export function isoTime(atMs: number): string {
  if (atMs >= lastSecondMs && atMs < lastSecondMs + 1000) {
    return `${lastSecond}${String(atMs - lastSecondMs).padStart(3, "0")}Z`
  }
  return new Date(atMs).toISOString()
}

const ISO_LENGTH = "2026-01-31T12:00:00.000Z".length

// Neighbouring events are of the same second, so its text, once parsed, serves for all of them. Times before 1970 take the long way.
let lastSecond = "1970-01-01T00:00:00."
let lastSecondMs = 0
