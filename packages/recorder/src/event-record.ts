import type {
  ActorType,
  ArtifactRef,
  Attributes,
  DeterminismMode,
  Event,
  EventType,
  FlatAttributes,
  Link,
  PayloadProblem,
  RedactionStatus,
} from "@orangebox/contract"
import { SCHEMA_VERSION } from "@orangebox/contract"
import type { CapturedBody } from "./captured-body.js"
import { type Moment, utcText } from "./clock.js"

/** The part of the envelope that is the same for every event of a run. */
export interface RunEnvelope {
  readonly trace_id: string
  readonly run_id: string
  readonly actor_type: ActorType
  readonly determinism_mode: DeterminismMode
  readonly conversation_id?: string
  readonly lane_id?: string
  readonly replay?: NonNullable<Event["replay"]>
}

/**
 * The beginning of every event a handle emits, as JSON text. A step emits many events and most of each line is the same text, so building
 * a line is mostly joining strings; serialising the whole event every time costs as much as the write itself.
 */
export interface EventContext {
  readonly runId: string | null
  readonly jsonHead: string
}

export function runContext(run: RunEnvelope): EventContext {
  return { runId: run.run_id, jsonHead: `{"schema_version":"${SCHEMA_VERSION}",${JSON.stringify(run).slice(1, -1)}` }
}

export function stepContext(
  run: EventContext,
  step: { readonly id: string; readonly parentId: string | null; readonly attemptNo: number | undefined },
  source: string,
): EventContext {
  const parent = step.parentId === null ? "null" : `"${step.parentId}"`
  const attempt = step.attemptNo === undefined ? "" : `,"attempt_no":${step.attemptNo}`
  return {
    runId: run.runId,
    jsonHead: `${run.jsonHead},"step_id":"${step.id}","parent_step_id":${parent},"source":${quoted(source)}${attempt}`,
  }
}

/** For what a process says outside any run. */
export function contextOutsideRuns(source: string): EventContext {
  return {
    runId: null,
    jsonHead: `{"schema_version":"${SCHEMA_VERSION}","trace_id":null,"run_id":null,"step_id":null,"parent_step_id":null,"actor_type":"sdk","determinism_mode":"live","source":${quoted(source)}`,
  }
}

/** What changes from event to event. */
export interface EventContent {
  readonly type: EventType
  readonly eventId: string
  readonly sequenceNo: number | null
  readonly at: Moment
  readonly payload: object
  readonly refs: readonly ArtifactRef[]
  readonly redaction: RedactionStatus
  readonly attributes: FlatAttributes | undefined
  readonly links: readonly Link[] | undefined
  readonly inferredBy: string | undefined
  readonly problems: readonly PayloadProblem[] | undefined
}

/** One event on its way to a sink: as JSON text for the journal, as a value for everyone else, with the bodies it introduces. */
export class EventRecord {
  readonly context: EventContext
  readonly content: EventContent
  readonly bodies: readonly RecordBody[]
  #json: string | undefined
  #event: Event | undefined

  constructor(context: EventContext, content: EventContent, bodies: readonly RecordBody[]) {
    this.context = context
    this.content = content
    this.bodies = bodies
  }

  get json(): string {
    this.#json ??= encode(this.context, this.content)
    return this.#json
  }

  get event(): Event {
    this.#event ??= deepFreeze(JSON.parse(this.json) as Event)
    return this.#event
  }
}

/** A body with its bytes, or one whose bytes went ahead as a stream. */
export type RecordBody =
  | CapturedBody
  | { readonly hash: CapturedBody["hash"]; readonly byteSize: number; readonly streamId: string }

function encode(context: EventContext, content: EventContent): string {
  const { attributes, links, problems } = content
  let json = `${context.jsonHead},"event_id":"${content.eventId}","sequence_no":${content.sequenceNo},"event_type":"${content.type}","timestamp_utc":"${utcText(content.at.wallMs)}","mono_us":${content.at.monoUs},"redaction_status":"${content.redaction}","artifact_refs":${content.refs.length === 0 ? "[]" : `[${content.refs.map(flat).join(",")}]`}`
  if (attributes !== undefined) json += encodeAttributes(attributes)
  if (links !== undefined && links.length > 0) json += `,"links":${JSON.stringify(links)}`
  if (content.inferredBy !== undefined) json += `,"inferred_by":${JSON.stringify(content.inferredBy)}`
  if (problems !== undefined && problems.length > 0) json += `,"problems":${JSON.stringify(problems)}`
  return `${json},"payload":${flat(content.payload)}}`
}

function encodeAttributes({ attributes, marks, dropped }: FlatAttributes): string {
  let json = hasAny(attributes) ? `,"attributes":${flat(attributes)}` : ""
  if (marks !== undefined) json += `,"attribute_marks":${JSON.stringify(marks)}`
  if (dropped > 0) json += `,"attributes_dropped":${dropped}`
  return json
}

const flat = (record: object): string => flatJson(record) ?? JSON.stringify(record)

function hasAny(attributes: Attributes): boolean {
  for (const _ in attributes) return true
  return false
}

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null) {
    for (const item of Object.values(value)) deepFreeze(item)
    Object.freeze(value)
  }
  return value
}

/**
 * JSON of a small object whose values are scalars, which is what most events are made of. JSON.stringify takes 300 ns for two
 * attributes, mostly to find out what it is looking at; joining known pieces takes a third of that. Undefined for anything else.
 */
export function flatJson(record: object): string | undefined {
  let json = "{"
  let separator = ""
  for (const key in record) {
    const value = (record as Record<string, unknown>)[key]
    let text: string
    if (typeof value === "string") text = quoted(value)
    else if (typeof value === "number" || typeof value === "boolean" || value === null) text = `${value}`
    else if (value === undefined) continue
    else return undefined
    json += `${separator}${keyJson(key)}:${text}`
    separator = ","
  }
  return `${json}}`
}

const NEEDS_ESCAPE = /["\\\u0000-\u001f\ud800-\udfff]/
/** Above this, testing first and quoting after is no longer cheaper than JSON.stringify. */
const SHORT = 256

export function quoted(text: string): string {
  return text.length <= SHORT && !NEEDS_ESCAPE.test(text) ? `"${text}"` : JSON.stringify(text)
}

// The same few names come again and again. Bounded, because a careless caller may make up names.
const keys = new Map<string, string>()
const MOST_KEYS = 2048

function keyJson(key: string): string {
  const known = keys.get(key)
  if (known !== undefined) return known
  const json = JSON.stringify(key)
  if (keys.size < MOST_KEYS) keys.set(key, json)
  return json
}
