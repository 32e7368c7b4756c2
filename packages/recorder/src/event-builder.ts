import {
  type ArtifactRef,
  type Event,
  type EventType,
  type IdSource,
  type Level,
  type Link,
  OrangeboxError,
  type PayloadOf,
  type PayloadProblem,
  type RedactionStatus,
  SystemError,
  validatePayload,
} from "@orangebox/contract"
import type { Capture } from "./capture/capture.js"
import { captureEvent } from "./capture/event-content.js"
import { flatAttributes } from "./capture/flat-attributes.js"
import { worse } from "./capture/redaction-status.js"
import { isMarkedCaptured } from "./captured-body.js"
import type { Moment, Now } from "./clock.js"
import { describeError } from "./described-error.js"
import { type EventContext, EventRecord, type RecordBody } from "./event-record.js"
import { safeStringify } from "./safe-stringify.js"
import type { Sink } from "./sink.js"
import { standInWords, withStandIns } from "./stand-in.js"
import type { Step } from "./step.js"

/** Beside the payload: what a caller may attach to any event. */
export interface EventExtras {
  readonly attributes?: unknown
  readonly links?: readonly Link[] | undefined
  readonly refs?: readonly ArtifactRef[]
  readonly bodies?: readonly RecordBody[]
  readonly inferredBy?: string | undefined
  /** What had to be done to the bodies. */
  readonly redaction?: RedactionStatus
  /** Contract breaches the handle itself noticed, such as a step used after its end. */
  readonly problems?: readonly PayloadProblem[] | undefined
  /** Of an event that another program recorded: the id that follows from how it was told. */
  readonly eventId?: string
}

export interface SourceRules {
  readonly level?: Level | undefined
  readonly sample?: number | undefined
}

/**
 * Builds records from values and hands them to the sink. Knows no files and no clock of its own: `{ sink, now, newId }` are given.
 * Nothing that goes wrong here reaches the application, except what it asked for: `strict` and `commit`.
 */
export class EventBuilder {
  readonly sink: Sink
  readonly capture: Capture
  readonly now: Now
  readonly newId: IdSource
  readonly strict: boolean
  readonly sources: ReadonlyMap<string, SourceRules>
  /** Says a mistake of the application on stderr, or to its `onWarning`; the same one once. */
  readonly warn: (warning: OrangeboxError) => void
  logsSampledOut = 0
  /** Open model calls by step id, tries aside. */
  readonly openCalls = new Map<string, Step>()
  correlatesByHeader = process.env["ORANGEBOX_PROXY"] !== undefined
  /** A text as the summary of something: searched, then cut. */
  readonly summarize = (text: string): string => this.capture.summary(text)
  #listener: ((event: Event) => void) | undefined

  constructor(parts: {
    sink: Sink
    capture: Capture
    now: Now
    newId: IdSource
    strict: boolean
    sources: ReadonlyMap<string, SourceRules>
    warn: (warning: OrangeboxError) => void
  }) {
    this.sink = parts.sink
    this.capture = parts.capture
    this.now = parts.now
    this.newId = parts.newId
    this.strict = parts.strict
    this.sources = parts.sources
    this.warn = parts.warn
  }

  onAny(listener: (event: Event) => void): () => void {
    if (this.#listener) {
      throw new OrangeboxError("ONE_LISTENER", {
        what: "onAny already has its one listener",
        next: "Remove the first with the function that onAny returned",
      })
    }
    this.#listener = listener
    return () => {
      if (this.#listener === listener) this.#listener = undefined
    }
  }

  /** Telemetry: fails open. @param at when it was, where that is not now */
  emit<T extends EventType>(
    context: EventContext,
    type: T,
    sequenceNo: number | null,
    payload: PayloadOf<T>,
    extras?: EventExtras,
    at?: Moment,
  ): void {
    const record = this.build(context, type, sequenceNo, payload, extras, at)
    try {
      this.sink.emit(record)
    } catch {
      // A sink that throws has failed to keep one record; the flight goes on.
    }
    this.#tell(record)
  }

  /** Audit: durable before it returns, or it throws. */
  commit<T extends EventType>(
    context: EventContext,
    type: T,
    sequenceNo: number | null,
    payload: PayloadOf<T>,
    extras?: EventExtras,
  ): void {
    const record = this.build(context, type, sequenceNo, payload, extras)
    try {
      this.sink.commit(record)
    } catch (cause) {
      throw cause instanceof SystemError
        ? cause
        : new SystemError({
            what: `${type} could not be made durable`,
            next: "Free the disk or the journal folder",
            cause,
          })
    }
    this.#tell(record)
  }

  /** The record alone, for a spool that keeps it elsewhere. */
  build(
    context: EventContext,
    type: EventType,
    sequenceNo: number | null,
    payload: object,
    extras: EventExtras | undefined,
    at = this.now(),
  ): EventRecord {
    let problems = problemsOf(type, payload)
    if (extras?.problems) problems = [...problems, ...extras.problems]
    if (problems.length > 0) {
      if (this.strict) throw contractError(type, problems[0]!)
      const mended = this.#withStandIns(type, payload)
      problems = [...mended.problems, ...(extras?.problems ?? [])]
      payload = mended.payload
    }
    const attributes = extras?.attributes === undefined ? undefined : flatAttributes(this.capture, extras.attributes)
    const { refs, bodies, status } = this.#bodiesOf(extras)
    const content = captureEvent(this.capture, type, payload, attributes, extras?.links, status)
    return new EventRecord(
      context,
      {
        type,
        eventId: extras?.eventId ?? this.newId.event(at.wallMs),
        sequenceNo,
        at,
        payload: content.payload,
        refs,
        redaction: content.status,
        attributes: content.attributes,
        links: content.links,
        inferredBy: extras?.inferredBy,
        problems,
      },
      bodies,
    )
  }

  #withStandIns(
    type: EventType,
    payload: object,
  ): { readonly payload: object; readonly problems: readonly PayloadProblem[] } {
    // First made safe to serialise: what breaks the contract may be anything at all.
    const safe = safePayload(payload)
    const mended = withStandIns(safe, problemsOf(type, safe), (tried) => problemsOf(type, tried))
    for (const note of mended.notes) {
      this.warn(
        new OrangeboxError("STAND_IN", {
          what: standInWords(note),
          next: "Name it, and its steps can be told apart",
        }),
      )
    }
    return { payload: mended.payload, problems: [...mended.problems, ...mended.notes] }
  }

  #bodiesOf(extras: EventExtras | undefined): {
    readonly refs: readonly ArtifactRef[]
    readonly bodies: readonly RecordBody[]
    readonly status: RedactionStatus
  } {
    const { refs = NONE, bodies = NONE, redaction: status = "not_required" } = extras ?? {}
    if (this.capture.mode === "full" || bodies.every(isMarkedCaptured)) return { refs, bodies, status }
    const unseen = new Set(bodies.filter((body) => !isMarkedCaptured(body)).map(({ hash }) => hash as string))
    return {
      refs: refs.map((ref) => (unseen.has(ref.artifact_hash) ? { ...ref, absent: "not_kept" as const } : ref)),
      bodies: bodies.filter(isMarkedCaptured),
      status: worse(status, "blocked"),
    }
  }

  #tell(record: EventRecord): void {
    if (!this.#listener) return
    try {
      this.#listener(record.event)
    } catch {
      // The listener watches; it cannot affect the run.
    }
  }
}

const NONE: readonly never[] = []

function safePayload(payload: object): object {
  const safe: unknown = JSON.parse(safeStringify(payload))
  return typeof safe === "object" && safe !== null ? safe : { value: safe }
}

function problemsOf(type: EventType, payload: object): readonly PayloadProblem[] {
  try {
    return validatePayload(type, payload)
  } catch (error) {
    return [{ code: "unreadable", field: "payload", reason: `cannot be read: ${describeError(error).summary}` }]
  }
}

function contractError(type: EventType, problem: { field: string; reason: string }): OrangeboxError {
  return new OrangeboxError("CONTRACT", {
    what: `${type}: ${problem.field} ${problem.reason}`,
    next: "Correct the call, or open the recorder without strict to record the event with its problems",
  })
}
