import type { Event } from "@orangebox/contract"
import type { SqliteDatabase, SqliteRow, SqliteStatement } from "./driver.js"
import { OWN_PLACES, packHex, packUuid, placeOf, unpackHex, unpackUuid } from "./keys.js"

/**
 * An event as a row, and back without loss. What is the same in thousands of envelopes is a profile said once; ids are bytes; the rest
 * is one JSON text. A value the columns cannot give back exactly (another trace than the run's, a time finer than milliseconds)
 * simply stays in the text, and the text wins when the event is put together again.
 */
export interface EventRow {
  readonly eventId: Uint8Array | string
  readonly type: number
  readonly profile: number
  readonly stepId: Uint8Array | string | null
  readonly mono: number
  readonly json: string
}

/** What the reader of a row knows from elsewhere: the run it is in, and its steps' parents. */
export interface RowPlace {
  readonly runId: string | null
  readonly traceId: string | null
  parentOf(stepId: string): string | null | undefined
}

const PROFILE_FIELDS = [
  "schema_version",
  "actor_type",
  "determinism_mode",
  "redaction_status",
  "source",
  "conversation_id",
  "inferred_by",
  "lane_id",
] as const

const COLUMN_FIELDS = [
  "event_id",
  "trace_id",
  "run_id",
  "step_id",
  "parent_step_id",
  "sequence_no",
  "timestamp_utc",
  "mono_us",
  "artifact_refs",
] as const

/** Names the fields an event did not have, where their columns would give them back: events of schema 1.0 have no id and no clock. */
const ABSENT = "-"
const PAYLOAD = '"payload"'

export interface RowEncoding {
  /** Whether the key says the sequence number, so that the text need not. */
  readonly sequenceInKey: boolean
  readonly traceId: string | null
  /** The parent its step was opened with; undefined while that is not known, and for the opening event itself, which has to say it. */
  readonly parentId: string | null | undefined
}

type LooseEvent = Omit<Partial<Event>, "payload"> & Record<string, unknown>

export class EventCodec {
  readonly #types = new Map<string, number>()
  readonly #typeNames = new Map<number, string>()
  readonly #profiles = new Map<string, number>()
  readonly #profileTexts = new Map<number, { fields: Readonly<Record<string, unknown>>; writer: number | null }>()
  readonly #addType: SqliteStatement
  readonly #findType: SqliteStatement
  readonly #addProfile: SqliteStatement
  readonly #findProfile: SqliteStatement
  readonly #typeByKey: SqliteStatement
  readonly #profileByKey: SqliteStatement

  constructor(database: SqliteDatabase) {
    this.#addType = database.prepare("INSERT INTO event_types (name) VALUES (?)")
    this.#findType = database.prepare("SELECT key FROM event_types WHERE name = ?")
    this.#typeByKey = database.prepare("SELECT name FROM event_types WHERE key = ?")
    this.#addProfile = database.prepare("INSERT INTO profiles (writer, json) VALUES (?, ?)")
    this.#findProfile = database.prepare("SELECT key FROM profiles WHERE json = ? AND writer IS ?")
    this.#profileByKey = database.prepare("SELECT json, writer FROM profiles WHERE key = ?")
  }

  /** Forgets keys that a rolled-back transaction had handed out. */
  reset(): void {
    this.#types.clear()
    this.#typeNames.clear()
    this.#profiles.clear()
    this.#profileTexts.clear()
  }

  encode(event: Event, atMs: number, writer: number | null, encoding: RowEncoding): EventRow {
    const loose = event as unknown as LooseEvent
    // The text is put together here, field by field: a copy of the event without the fields that have columns would cost more than this.
    let json = ""
    let columns = 0
    for (const name in loose) {
      const value = loose[name]
      if (value === undefined) continue
      switch (name) {
        case "schema_version":
        case "actor_type":
        case "determinism_mode":
        case "redaction_status":
        case "source":
        case "conversation_id":
        case "inferred_by":
        case "lane_id":
        case "event_type":
          continue
        case "run_id":
          columns++
          continue
        case "event_id":
          columns++
          if (typeof value === "string") continue
          break
        case "step_id":
          columns++
          if (value === null || typeof value === "string") continue
          break
        case "sequence_no":
          columns++
          if (encoding.sequenceInKey || value === null) continue
          break
        case "trace_id":
          columns++
          if (value === encoding.traceId && value !== null) continue
          break
        case "parent_step_id":
          columns++
          if (value === encoding.parentId) continue
          break
        case "mono_us":
          columns++
          if (Number.isSafeInteger(value)) continue
          break
        case "timestamp_utc":
          columns++
          if (value === isoTime(atMs)) continue
          break
        case "artifact_refs":
          columns++
          if (Array.isArray(value) && value.length === 0) continue
          break
      }
      json += `${json === "" ? "{" : ","}${name === "payload" ? PAYLOAD : JSON.stringify(name)}:${JSON.stringify(value)}`
    }
    if (columns < COLUMN_FIELDS.length) {
      const absent = COLUMN_FIELDS.filter((field) => loose[field] === undefined)
      json += `${json === "" ? "{" : ","}${JSON.stringify(ABSENT)}:${JSON.stringify(absent)}`
    }
    return {
      eventId: storedId(loose),
      type: this.typeKey(String(loose.event_type)),
      profile: this.#profileKey(loose, writer),
      stepId: typeof loose.step_id === "string" ? packHex(loose.step_id, 16) : null,
      mono: Number.isSafeInteger(loose.mono_us) ? Number(loose.mono_us) : 0,
      json: json === "" ? "{}" : `${json}}`,
    }
  }

  decode(row: SqliteRow, json: string, place: RowPlace): Event {
    const { eventId, eventType, profile, stepId } = this.describe(row)
    const key = Number(row["key"])
    const sequenceNo = key >= 0 && placeOf(key) < OWN_PLACES ? placeOf(key) : null
    const rest = JSON.parse(json) as Record<string, unknown>
    const event: Record<string, unknown> = {
      ...profile,
      event_type: eventType,
      event_id: eventId,
      trace_id: place.traceId,
      run_id: place.runId,
      step_id: stepId,
      parent_step_id: (stepId === null ? null : place.parentOf(stepId)) ?? null,
      sequence_no: sequenceNo,
      timestamp_utc: isoTime(Number(row["at"])),
      mono_us: Number(row["mono"]),
      artifact_refs: [],
      ...rest,
    }
    const absent = rest[ABSENT]
    if (Array.isArray(absent)) {
      for (const field of [...absent, ABSENT]) delete event[field as string]
    }
    return event as unknown as Event
  }

  describe(row: SqliteRow): {
    eventId: string
    eventType: string
    stepId: string | null
    profile: Readonly<Record<string, unknown>>
    writer: number | null
  } {
    const profile = this.#profile(Number(row["profile"]))
    return {
      eventId: unpackUuid(row["event_id"]),
      eventType: this.#typeName(Number(row["type"])),
      stepId: row["step_id"] === null ? null : unpackHex(row["step_id"]),
      profile: profile.fields,
      writer: profile.writer,
    }
  }

  typeKey(name: string): number {
    const known = this.#types.get(name)
    if (known !== undefined) return known
    const found = this.#findType.get(name)
    const key = Number(found ? found["key"] : this.#addType.run(name).lastInsertRowid)
    this.#types.set(name, key)
    return key
  }

  #typeName(key: number): string {
    let name = this.#typeNames.get(key)
    if (name === undefined) {
      name = String(this.#typeByKey.get(key)?.["name"])
      this.#typeNames.set(key, name)
    }
    return name
  }

  #profileKey(event: LooseEvent, writer: number | null): number {
    let cacheKey = String(writer)
    for (const field of PROFILE_FIELDS) cacheKey += `\n${event[field] as string}`
    const known = this.#profiles.get(cacheKey)
    if (known !== undefined) return known
    const fields: Record<string, unknown> = {}
    for (const field of PROFILE_FIELDS) if (event[field] !== undefined) fields[field] = event[field]
    const json = JSON.stringify(fields)
    const found = this.#findProfile.get(json, writer)
    const key = Number(found ? found["key"] : this.#addProfile.run(writer, json).lastInsertRowid)
    this.#profiles.set(cacheKey, key)
    return key
  }

  #profile(key: number): { fields: Readonly<Record<string, unknown>>; writer: number | null } {
    let profile = this.#profileTexts.get(key)
    if (profile === undefined) {
      const row = this.#profileByKey.get(key)
      profile = {
        fields: JSON.parse(String(row?.["json"] ?? "{}")) as Record<string, unknown>,
        writer: row?.["writer"] == null ? null : Number(row["writer"]),
      }
      this.#profileTexts.set(key, profile)
    }
    return profile
  }
}

/** An event of schema 1.0 has no id; its place is what it can be known by. */
function storedId(event: LooseEvent): Uint8Array | string {
  return typeof event.event_id === "string"
    ? packUuid(event.event_id)
    : `~${String(event.run_id)}@${String(event.sequence_no)}`
}

/** Milliseconds since 1970; 0 for what is no time. */
export function timeOf({ timestamp_utc: text }: Pick<Event, "timestamp_utc">): number {
  const atMs = typeof text === "string" ? Date.parse(text) : Number.NaN
  return Number.isNaN(atMs) ? 0 : atMs
}

let lastIsoMs = Number.NaN
let lastIso = ""

/** Bursts share their millisecond, so the last answer is often the next. */
function isoTime(atMs: number): string {
  if (atMs !== lastIsoMs) {
    lastIso = new Date(atMs).toISOString()
    lastIsoMs = atMs
  }
  return lastIso
}
