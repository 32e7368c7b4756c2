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

/** The part of the envelope that is the same for every event a handle emits. */
export interface FixedEnvelope {
  readonly trace_id: string | null
  readonly run_id: string | null
  readonly step_id: string | null
  readonly parent_step_id: string | null
  readonly actor_type: ActorType
  readonly determinism_mode: DeterminismMode
  readonly source: string
  readonly conversation_id?: string
  readonly lane_id?: string
  readonly attempt_no?: number
  readonly replay?: NonNullable<Event["replay"]>
}

/**
 * A fixed envelope with its JSON made once. A step emits many events and most of each line is the same text, so building the line is
 * mostly joining strings; serialising the whole event every time costs as much as the write itself.
 */
export class EventContext {
  readonly fixed: FixedEnvelope
  readonly jsonHead: string

  constructor(fixed: FixedEnvelope) {
    this.fixed = fixed
    this.jsonHead = JSON.stringify({ schema_version: SCHEMA_VERSION, ...fixed }).slice(0, -1)
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
  let json = `${context.jsonHead},"event_id":"${content.eventId}","sequence_no":${content.sequenceNo},"event_type":"${content.type}","timestamp_utc":"${utcText(content.at.wallMs)}","mono_us":${content.at.monoUs},"redaction_status":"${content.redaction}","artifact_refs":${content.refs.length === 0 ? "[]" : JSON.stringify(content.refs)}`
  if (attributes !== undefined) json += encodeAttributes(attributes)
  if (links !== undefined && links.length > 0) json += `,"links":${JSON.stringify(links)}`
  if (content.inferredBy !== undefined) json += `,"inferred_by":${JSON.stringify(content.inferredBy)}`
  if (problems !== undefined && problems.length > 0) json += `,"problems":${JSON.stringify(problems)}`
  return `${json},"payload":${JSON.stringify(content.payload)}}`
}

function encodeAttributes({ attributes, marks, dropped }: FlatAttributes): string {
  let json = hasAny(attributes) ? `,"attributes":${JSON.stringify(attributes)}` : ""
  if (marks !== undefined) json += `,"attribute_marks":${JSON.stringify(marks)}`
  if (dropped > 0) json += `,"attributes_dropped":${dropped}`
  return json
}

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
