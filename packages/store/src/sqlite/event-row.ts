import type { Event } from "@orangebox/contract"
import { isoTime } from "../event-time.js"
import { ROW_NOTE } from "../spilled-text.js"
import { type Prepared, prepareAll, type SqliteDatabase, type SqliteRow } from "./driver.js"
import { OWN_PLACES, packHexInto, packUuidInto, placeOf, unpackHex, unpackUuid } from "./keys.js"

/**
 * An event as a row, and back without loss. What is the same in thousands of envelopes is a profile said once; ids are bytes; the rest
 * is one JSON text. A value the columns cannot give back exactly (another trace than the run's, a time finer than milliseconds)
 * simply stays in the text, and the text wins when the event is put together again.
 */
export interface EventRow {
  /** Ids are in bytes that the next row uses again: bind them at once. */
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

const PAYLOAD = '"payload"'

export interface RowEncoding {
  /** Whether the key says the sequence number, so that the text need not. */
  readonly sequenceInKey: boolean
  readonly traceId: string | null
  /** The parent its step was opened with; undefined while that is not known, and for the opening event itself, which has to say it. */
  readonly parentId: string | null | undefined
}

type LooseEvent = Omit<Partial<Event>, "payload"> & Record<string, unknown>

const SQL = {
  addType: "INSERT INTO event_types (name) VALUES (?)",
  findType: "SELECT key FROM event_types WHERE name = ?",
  addProfile: "INSERT INTO profiles (writer, json) VALUES (?, ?)",
  findProfile: "SELECT key FROM profiles WHERE json = ? AND writer IS ?",
  typeByKey: "SELECT name FROM event_types WHERE key = ?",
  profileByKey: "SELECT json FROM profiles WHERE key = ?",
}

export class EventCodec {
  readonly #types = new Map<string, number>()
  readonly #typeNames = new Map<number, string>()
  readonly #profiles = new Map<string, number>()
  readonly #profileTexts = new Map<number, string>()
  readonly #sql: Prepared<typeof SQL>

  constructor(database: SqliteDatabase) {
    this.#sql = prepareAll(database, SQL)
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
        case ROW_NOTE:
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
    if (columns < COLUMN_FIELDS.length || loose[ROW_NOTE] !== undefined) {
      const absent = COLUMN_FIELDS.filter((field) => loose[field] === undefined)
      const note = loose[ROW_NOTE] === undefined ? [absent] : [absent, loose[ROW_NOTE]]
      json += `${json === "" ? "{" : ","}"${ROW_NOTE}":${JSON.stringify(note)}`
    }
    return {
      eventId: storedId(loose),
      type: this.typeKey(String(loose.event_type)),
      profile: this.#profileKey(loose, writer),
      stepId: typeof loose.step_id === "string" ? packHexInto(stepIdBytes, loose.step_id) : null,
      mono: Number.isSafeInteger(loose.mono_us) ? Number(loose.mono_us) : 0,
      json: json === "" ? "{}" : `${json}}`,
    }
  }

  decode(row: SqliteRow, json: string, place: RowPlace): Event {
    const stepId = row["step_id"] === null ? null : unpackHex(row["step_id"])
    const key = Number(row["key"])
    // One text, parsed once: of a name that stands in it twice, the later counts, so what the row's text says wins.
    const text = `{${this.#profile(Number(row["profile"]))}"event_type":${this.#typeName(Number(row["type"]))},"event_id":${quote(unpackUuid(row["event_id"]))},\
"trace_id":${quote(place.traceId)},"run_id":${quote(place.runId)},"step_id":${quote(stepId)},\
"parent_step_id":${quote(stepId === null ? null : (place.parentOf(stepId) ?? null))},\
"sequence_no":${key >= 0 && placeOf(key) < OWN_PLACES ? placeOf(key) : null},"timestamp_utc":"${isoTime(Number(row["at"]))}",\
"mono_us":${Number(row["mono"])},"artifact_refs":[]${json === "{}" ? "}" : `,${json.slice(1)}`}`
    const event = JSON.parse(text) as Record<string, unknown>
    if (event[ROW_NOTE] !== undefined) {
      const [absent, own] = event[ROW_NOTE] as [string[], unknown?]
      for (const field of absent) delete event[field]
      if (own === undefined) delete event[ROW_NOTE]
      else event[ROW_NOTE] = own
    }
    return event as unknown as Event
  }

  typeKey(name: string): number {
    const known = this.#types.get(name)
    if (known !== undefined) return known
    const found = this.#sql.findType.get(name)
    const key = Number(found ? found["key"] : this.#sql.addType.run(name).lastInsertRowid)
    this.#types.set(name, key)
    return key
  }

  #typeName(key: number): string {
    let name = this.#typeNames.get(key)
    if (name === undefined) {
      name = JSON.stringify(String(this.#sql.typeByKey.get(key)?.["name"]))
      this.#typeNames.set(key, name)
    }
    return name
  }

  #profileKey(event: LooseEvent, writer: number | null): number {
    const cacheKey = `${writer}\n${event.schema_version}\n${event.actor_type}\n${event.determinism_mode}\n${event.redaction_status}\n${event.source}\n${event.conversation_id}\n${event.inferred_by}\n${event.lane_id}`
    const known = this.#profiles.get(cacheKey)
    if (known !== undefined) return known
    const fields: Record<string, unknown> = {}
    for (const field of PROFILE_FIELDS) if (event[field] !== undefined) fields[field] = event[field]
    const json = JSON.stringify(fields)
    const found = this.#sql.findProfile.get(json, writer)
    const key = Number(found ? found["key"] : this.#sql.addProfile.run(writer, json).lastInsertRowid)
    this.#profiles.set(cacheKey, key)
    return key
  }

  /** The fields of a profile as they stand in the event's text, with a comma behind. */
  #profile(key: number): string {
    let text = this.#profileTexts.get(key)
    if (text === undefined) {
      const fields = String(this.#sql.profileByKey.get(key)?.["json"] ?? "{}").slice(1, -1)
      text = fields === "" ? "" : `${fields},`
      this.#profileTexts.set(key, text)
    }
    return text
  }
}

/** Ids need no escapes; anything else that stands in their place may. */
function quote(text: string | null): string {
  if (text === null) return "null"
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text)
}

const PLAIN = /^[\w-]*$/

const eventIdBytes = new Uint8Array(16)
const stepIdBytes = new Uint8Array(8)

/** An event of schema 1.0 has no id; its place is what it can be known by. */
function storedId(event: LooseEvent): Uint8Array | string {
  return typeof event.event_id === "string"
    ? packUuidInto(eventIdBytes, event.event_id)
    : `~${String(event.run_id)}@${String(event.sequence_no)}`
}
