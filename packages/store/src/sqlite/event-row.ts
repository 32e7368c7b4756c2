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
  readonly atMs: number
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

  encode(event: Event, writer: number | null, encoding: RowEncoding): EventRow {
    const loose = event as unknown as LooseEvent
    // A null prototype, because recorded objects have keys such as __proto__.
    const rest: Record<string, unknown> = Object.create(null)
    for (const name in loose) {
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
        case "run_id":
          break
        case "event_id":
          if (typeof loose.event_id !== "string") rest[name] = loose[name]
          break
        case "timestamp_utc":
          break
        case "step_id":
          if (loose.step_id !== null && typeof loose.step_id !== "string") rest[name] = loose[name]
          break
        case "sequence_no":
          if (!encoding.sequenceInKey && loose.sequence_no !== null) rest[name] = loose[name]
          break
        case "trace_id":
          if (loose.trace_id !== encoding.traceId || encoding.traceId === null) rest[name] = loose[name]
          break
        case "parent_step_id":
          if (loose.parent_step_id !== encoding.parentId) rest[name] = loose[name]
          break
        case "mono_us":
          if (!Number.isSafeInteger(loose.mono_us)) rest[name] = loose[name]
          break
        case "artifact_refs":
          if (!Array.isArray(loose.artifact_refs) || loose.artifact_refs.length > 0) rest[name] = loose[name]
          break
        default:
          rest[name] = loose[name]
      }
    }
    const atMs = timeOf(loose.timestamp_utc)
    if (isoTime(atMs) !== loose.timestamp_utc) rest["timestamp_utc"] = loose.timestamp_utc
    for (const field of COLUMN_FIELDS) {
      if (loose[field] === undefined) rest[ABSENT] = [...((rest[ABSENT] as string[] | undefined) ?? []), field]
    }
    return {
      eventId: storedId(loose),
      type: this.typeKey(String(loose.event_type)),
      profile: this.#profileKey(loose, writer),
      stepId: typeof loose.step_id === "string" ? packHex(loose.step_id, 16) : null,
      atMs,
      mono: Number.isSafeInteger(loose.mono_us) ? Number(loose.mono_us) : 0,
      json: JSON.stringify(rest),
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
function timeOf(text: unknown): number {
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
