import {
  bodyHash,
  type DeterminismMode,
  definitionOf,
  type EffectClass,
  type Event,
  repeatsCall,
} from "@orangebox/contract"
import { CANON_VERSION } from "@orangebox/dialects"
import {
  type BodyStream,
  type EventContext,
  EventRecord,
  type RecordBody,
  type Sink,
  type SinkCounts,
  type SinkExit,
} from "@orangebox/recorder"
import { addToList } from "../add-to-list.js"
import type { Ask, Outcome } from "../match/ask.js"
import type { ReplaySession } from "../match/session.js"
import { CallPlaces } from "../tape/call-places.js"
import { COVERS } from "../tape/served-tools.js"
import type { Bodies, TapeCall } from "../tape/tape.js"
import { MAIN_LANE, stepAround, subLane } from "../tape/tape-of.js"
import { askOfEvent } from "./ask-of-event.js"

type Replay = NonNullable<Event["replay"]>

/**
 * Stands between a recorder and its sink, and makes the run a replay: the record that opens a call is the question, already signed under the
 * capture mode it is recorded with, so that is what is asked; and everything recorded about the call says how it was answered. No other part
 * of the recorder has to know that the run is a replay.
 */
export class TapeSink implements Sink {
  /** As the journal has them: judging the replay is for its end, and until then a line costs nothing. */
  readonly #lines: string[] = []
  readonly #inner: Sink
  readonly #session: ReplaySession
  readonly #outcomes = new Map<string, Outcome>()
  readonly #lanes = new Map<string, string>()
  readonly #places = new CallPlaces()
  readonly #parents = new Map<string, string | null>()
  readonly #kept = new Map<string, Uint8Array>()
  #inferred: Map<string | null, TapeCall[]> | undefined
  readonly #steps = new WeakMap<EventContext, StepHead>()
  /** Told of every record as it is written, with the bodies that the source has not. */
  onRecord: ((json: string, bodies: ReadonlyMap<string, Uint8Array>) => void) | undefined
  readonly #base: Omit<Replay, "source_step_id" | "match" | "effect_class" | "taint">
  #retrieval: Ask | undefined

  constructor(inner: Sink, session: ReplaySession) {
    this.#inner = inner
    this.#session = session
    const { fork, policy, tape } = session
    this.#base = {
      source_run_id: tape.runId,
      fork_step_id: fork?.call.stepId ?? null,
      override_profile_id: fork?.profileId ?? null,
      replay_reason_code: policy.reason,
    }
  }

  /** How the call of a step is answered. Known as soon as the step is open. */
  outcomeOf(stepId: string): Outcome | undefined {
    return this.#outcomes.get(stepId)
  }

  /** A retrieval's question is recorded only with its answer, so the next step of that kind is announced beforehand. */
  expectRetrieval(ask: Ask): void {
    this.#retrieval = ask
  }

  /** What was recorded so far, for judging the replay by. */
  get events(): Event[] {
    return this.#lines.map((line) => JSON.parse(line) as Event)
  }

  /** Of its bodies, those that the source has not. */
  get kept(): ReadonlyMap<string, Uint8Array> {
    return this.#kept
  }

  /** What it recorded: most of it is what the source recorded, byte for byte, and is not held twice. */
  get bodies(): Bodies {
    const { bodies } = this.#session.tape
    return { get: (hash) => this.#kept.get(hash) ?? bodies.get(hash) }
  }

  emit(record: EventRecord): void {
    this.#inner.emit(this.#marked(record))
  }
  commit(record: EventRecord): void {
    this.#inner.commit(this.#marked(record))
  }
  keepsBodies(): boolean {
    return this.#inner.keepsBodies()
  }
  openStream(stream: { readonly runId: string; readonly stepId: string; readonly role: string }): BodyStream {
    return this.#inner.openStream(stream)
  }
  lastWords(text: string): void {
    this.#inner.lastWords(text)
  }
  counts(): SinkCounts {
    return this.#inner.counts()
  }
  close(exit: SinkExit): void {
    this.#inner.close(exit)
  }

  #marked(record: EventRecord): EventRecord {
    const event = this.#eventOf(record)
    if (event.run_id === null || event.step_id === null) return record
    this.#noteLane(event)
    if (!this.#parents.has(event.step_id)) this.#parents.set(event.step_id, stepAround(event))
    const outcome = this.#open(event, record)
    const marked = this.#mark(record, event, outcome)
    this.#lines.push(marked.json)
    const bodies = new Map<string, Uint8Array>()
    for (const body of record.bodies) {
      if ("bytes" in body && this.#session.tape.bodies.get(body.hash) === undefined) bodies.set(body.hash, body.bytes)
    }
    for (const [hash, bytes] of bodies) this.#kept.set(hash, bytes)
    this.onRecord?.(marked.json, bodies)
    return marked
  }

  #noteLane(event: Event): void {
    if (event.event_type !== "run_started") return
    const isSub = event.links?.some((link) => link.kind === "spawned_by") ?? false
    this.#lanes.set(event.run_id!, isSub ? subLane(event.payload.entrypoint_name) : MAIN_LANE)
  }

  #open(event: Event, record: EventRecord): Outcome | undefined {
    const stepId = event.step_id!
    const known = this.#outcomes.get(stepId)
    if (known) return known
    if (repeatsCall(event)) return this.#outcomes.get(event.parent_step_id ?? "")
    const place = definitionOf(event.event_type).role.does === "opens" ? this.#places.open(event) : undefined
    const ask = this.#asked(event, record)
    if (ask === undefined) return undefined
    const outcome = this.#session.ask({ place, ...ask })
    this.#outcomes.set(stepId, outcome)
    return outcome
  }

  #asked(event: Event, record: EventRecord): Ask | undefined {
    const lane = event.lane_id ?? this.#lanes.get(event.run_id!) ?? MAIN_LANE
    const isRetrieval = event.event_type === "step_started" && event.payload.kind === "retrieval"
    const retrieval = isRetrieval ? this.#retrieval : undefined
    if (isRetrieval) this.#retrieval = undefined
    const ask = askOfEvent(event, (hash) => bytesIn(record, hash), retrieval)
    if (ask === undefined) return undefined
    // Tries of a logical call can only be answered by the tries of the call it stands for.
    const parent = event.attempt_no === undefined ? undefined : this.#outcomes.get(event.parent_step_id ?? "")
    const source = parent && parent.outcome !== "diverged" ? parent.source : null
    const attempt: { attemptOf?: string } = source && source.attempts.length > 0 ? { attemptOf: source.stepId } : {}
    return { lane, within: this.#within(event, attempt.attemptOf), ...attempt, ...ask }
  }

  /** The recorded call that the call around this one stands for. Traffic alone cannot tell what happened inside of what. */
  #within(event: Event, attemptOf: string | undefined): string | null | undefined {
    if (event.lane_id !== undefined) return undefined
    if (attemptOf !== undefined) return this.#session.callOf(attemptOf)?.within
    for (let id = event.parent_step_id; id !== null; id = this.#parents.get(id) ?? null) {
      const outer = this.#outcomes.get(id)
      if (outer) return outer.outcome === "diverged" ? NOWHERE : (outer.source?.stepId ?? NOWHERE)
    }
    return null
  }

  #mark(record: EventRecord, event: Event, outcome: Outcome | undefined): EventRecord {
    const context = this.#markedContext(record.context, event, outcome)
    const refs = this.#refs(record, outcome)
    const content = refs === record.content.refs ? record.content : { ...record.content, refs }
    const isOpening = definitionOf(event.event_type).role.does === "opens"
    if (event.event_type === "run_started") {
      const attributes = withAttributes(content.attributes, { [COVERS]: this.#session.covers.join(" ") })
      return new EventRecord(context, { ...content, attributes }, record.bodies)
    }
    if (outcome === undefined || !isOpening) return new EventRecord(context, content, record.bodies)
    const sent = changedRequest(event, outcome)
    return new EventRecord(
      context,
      { ...content, attributes: withNotes(content.attributes, outcome), refs: sent ? [...refs, sent.ref] : refs },
      sent ? [...record.bodies, sent.body] : record.bodies,
    )
  }

  /** The event as it is asked about: its content is the recorder's own, because reading it back from its line would cost more than asking. */
  #eventOf({ context, content }: EventRecord): Event {
    const { type, payload, refs, attributes, links, inferredBy } = content
    return {
      event_type: type,
      payload,
      artifact_refs: refs,
      attributes: attributes?.attributes,
      links,
      inferred_by: inferredBy,
      ...this.#headOf(context).event,
    } as Event
  }

  /** A step's events begin alike, so the beginning is read once for each step. */
  #headOf(context: EventContext): StepHead {
    const known = this.#steps.get(context)
    if (known) return known
    const head = { event: JSON.parse(`${context.jsonHead}}`) as object, marked: undefined }
    this.#steps.set(context, head)
    return head
  }

  /** And they are marked alike once their call is answered. */
  #markedContext(context: EventContext, event: Event, outcome: Outcome | undefined): EventContext {
    const head = this.#headOf(context)
    const isShared = outcome !== undefined && event.event_type !== "tool_called"
    if (isShared && head.marked?.outcome === outcome) return head.marked.context
    const { mode, more } = outcome === undefined ? this.#unasked(event) : this.#answered(outcome, event)
    const marks = { actor_type: "replay_engine", determinism_mode: mode, replay: { ...this.#base, ...more } }
    const jsonHead = JSON.stringify({ ...head.event, ...marks }).slice(0, -1)
    const marked = { runId: context.runId, jsonHead }
    if (isShared) head.marked = { outcome, context: marked }
    return marked
  }

  #answered(outcome: Outcome, event: Event): { readonly mode: DeterminismMode; readonly more: Partial<Replay> } {
    if (outcome.outcome === "diverged") return { mode: this.#session.policy.mode, more: {} }
    const { source, tier, occurrence, taint, mode } = outcome
    const effect = event.event_type === "tool_called" ? (event.payload.effect_class ?? source?.effect) : undefined
    return {
      mode,
      more: {
        ...(source ? { source_step_id: stepOf(source) } : {}),
        ...(tier === null ? {} : { match: { tier, occurrence, canon_version: source?.canonVersion ?? CANON_VERSION } }),
        ...(effect === undefined ? {} : { effect_class: effect as EffectClass }),
        ...(taint.length > 0 ? { taint: [...taint] } : {}),
      },
    }
  }

  /** A tool the agent ran by itself did run; its place in the recording is still worth knowing. */
  #unasked(event: Event): { readonly mode: DeterminismMode; readonly more: Partial<Replay> } {
    if (event.event_type === "tool_called" && event.inferred_by !== undefined) {
      const sig = event.payload.call_signature_hash
      const source = this.#inferredCalls().get(sig)?.shift()
      return { mode: "live", more: source ? { source_step_id: stepOf(source) } : {} }
    }
    return { mode: this.#session.fork ? "live" : this.#session.policy.mode, more: {} }
  }

  /** Recorded tools that are not asked for, by their question, in order: each stands for one that the agent runs now. */
  #inferredCalls(): Map<string | null, TapeCall[]> {
    if (this.#inferred) return this.#inferred
    this.#inferred = new Map()
    for (const call of this.#session.tape.calls) {
      if (call.isInferred) addToList(this.#inferred, call.sig, call)
    }
    return this.#inferred
  }

  /** A value served as its exact bytes keeps the type it was recorded with, or a replay of this replay would take it for bytes. */
  #refs(record: EventRecord, outcome: Outcome | undefined): EventRecord["content"]["refs"] {
    const { refs } = record.content
    const body = outcome?.outcome === "served" ? outcome.answer.body : null
    if (body === null || !refs.some((ref) => ref.artifact_hash === body.hash)) return refs
    return refs.map((ref) => (ref.artifact_hash === body.hash ? { ...ref, mime_type: body.mimeType } : ref))
  }
}

/** What there is no field for: which rules took part, that the recorded answer was made up, and why there is no answer. */
function withNotes(flat: Content["attributes"], outcome: Outcome): Content["attributes"] {
  const notes = notesOf(outcome)
  return Object.keys(notes).length === 0 ? flat : withAttributes(flat, notes)
}

const withAttributes = (
  flat: Content["attributes"],
  more: Readonly<Record<string, string>>,
): Content["attributes"] => ({
  marks: flat?.marks,
  dropped: flat?.dropped ?? 0,
  attributes: { ...flat?.attributes, ...more },
})

function notesOf(outcome: Outcome): Readonly<Record<string, string>> {
  if (outcome.outcome === "diverged") return { divergence: outcome.divergence.code }
  const isMadeUp = outcome.outcome === "served" && outcome.mode !== "simulated" && outcome.source?.isMadeUp
  return {
    ...(outcome.ruleIds.length > 0 ? { override_rules: outcome.ruleIds.join(" ") } : {}),
    ...(isMadeUp ? { source_mode: "simulated" } : {}),
  }
}

/** The question is recorded as the agent asked it, so that a replay of this replay matches; what was sent instead is kept beside it. */
function changedRequest(
  event: Event,
  outcome: Outcome,
): { readonly ref: Content["refs"][number]; readonly body: RecordBody } | undefined {
  if (outcome.outcome !== "live" || !outcome.isChanged || outcome.request === undefined) return undefined
  const bytes = outcome.request.body
  const asked = event.artifact_refs.find((ref) => ref.artifact_type === "request")
  if (asked === undefined || asked.absent !== undefined) return undefined
  const { masks: _, mask_count: __, ...like } = asked
  const hash = bodyHash(bytes)
  return {
    ref: { ...like, artifact_hash: hash, artifact_type: "request_sent", byte_size: bytes.length },
    body: { hash, bytes },
  }
}

type Content = EventRecord["content"]

/** What the events of one step have in common. */
interface StepHead {
  readonly event: object
  /** As they are written since the step's call was answered. */
  marked: { readonly outcome: Outcome; readonly context: EventContext } | undefined
}

/** Inside of a call that nothing recorded stands for: nothing recorded answers there. */
const NOWHERE = ""

/** A retrieval recorded inside another step has no step of its own. */
const stepOf = (call: TapeCall): string => call.stepId.split("#")[0]!

function bytesIn(record: EventRecord, hash: string): Uint8Array | undefined {
  for (const body of record.bodies) if (body.hash === hash && "bytes" in body) return body.bytes
  return undefined
}
