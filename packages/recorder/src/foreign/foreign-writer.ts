import type { EventType, Link } from "@orangebox/contract"
import { summarizeArgs, summarizeText } from "@orangebox/contract"
import { CANON_VERSION, toolSignatureOfText } from "@orangebox/dialects"
import { type AddedBody, BodiesOfEvent } from "../bodies-of-event.js"
import type { Moment } from "../clock.js"
import type { EventBuilder } from "../event-builder.js"
import { contextOutsideRuns, type EventContext, runContext, stepContext } from "../event-record.js"
import { summaryOf } from "../lifecycle-events.js"
import type { LogAttributes } from "../logger.js"
import { builderOf, type Recorder } from "../recorder.js"

/** The part of the envelope that is the same for every event of a run that another program recorded. */
export interface ForeignRun {
  readonly runId: string
  readonly traceId: string
  readonly conversationId?: string | undefined
  /** The format it was read from, such as `import:codex`. */
  readonly source: string
}

/** Content that an event names: which field of the payload, and what of it. */
export interface ForeignBody {
  /** Without its `_ref`. */
  readonly field: string
  readonly content: string | Uint8Array
  readonly mimeType: string
}

/**
 * One event as another program's record tells it: everything but what the capture mode decides. Ids and times follow from the record, so that
 * reading it twice gives the same event twice.
 */
export interface ForeignEvent {
  readonly run: ForeignRun
  readonly type: EventType
  readonly eventId: string
  readonly sequenceNo: number
  readonly at: Moment
  readonly stepId: string
  readonly parentStepId: string | null
  /** But for the fields that name bodies and those that summarise one. */
  readonly payload: object
  readonly bodies?: readonly ForeignBody[] | undefined
  /** Texts of any length by the field that takes their beginning: searched for secrets before they are cut. */
  readonly summaries?: Readonly<Record<string, string>> | undefined
  readonly attributes?: LogAttributes | undefined
  readonly links?: readonly Link[] | undefined
  readonly inferredBy?: string | undefined
}

/** Says of something that belongs to no run. */
export interface ForeignNote {
  readonly source: string
  readonly message: string
  readonly level: "debug" | "info" | "warn" | "error"
  readonly body?: { readonly content: string | Uint8Array; readonly mimeType: string } | undefined
  readonly attributes?: LogAttributes | undefined
}

/** Puts what other programs recorded into the journal: searched for secrets like everything else, with the ids it came with. */
export class ForeignWriter {
  readonly #builder: EventBuilder
  readonly #runs = new WeakMap<ForeignRun, EventContext>()

  /** Undefined with recording off. */
  static open(recorder: Recorder): ForeignWriter | undefined {
    const builder = builderOf(recorder)
    return builder && new ForeignWriter(builder)
  }

  private constructor(builder: EventBuilder) {
    this.#builder = builder
  }

  /** False while the journal leaves out bodies, because the disk is slow. */
  get keepsBodies(): boolean {
    return this.#builder.sink.keepsBodies()
  }

  /** How many records could not be written so far. */
  get dropped(): number {
    return this.#builder.sink.counts().dropped
  }

  write(event: ForeignEvent): void {
    const { type, stepId, parentStepId, run, attributes, links, inferredBy, at, eventId } = event
    const bodies = new BodiesOfEvent(this.#builder, type)
    const payload: Record<string, unknown> = { ...event.payload }
    let args: AddedBody | undefined
    const texts = new Map<string | Uint8Array, AddedBody>()
    for (const { field, content, mimeType } of event.bodies ?? []) {
      const added = bodies.addAs(field, content, mimeType)
      payload[`${field}_ref`] = added.hash
      texts.set(content, added)
      if (field === "args") args = added
    }
    for (const [field, text] of Object.entries(event.summaries ?? {})) {
      // A text that is a body of the event was searched as one.
      const body = texts.get(text)
      const summarize = (): string => (body === undefined ? this.#builder.summarize(text) : summarizeText(body.text()))
      Object.assign(payload, summaryOf(field, summarize))
    }
    if (type === "tool_called" && args !== undefined) Object.assign(payload, signedArgs(payload["tool_name"], args))
    if (type === "run_started") payload["capture_mode"] = this.#builder.capture.mode
    if (type === "input_received" && payload["input_hash"] === undefined)
      payload["input_hash"] = payload["input_ref"] ?? this.#builder.capture.keyed(eventId)
    const context = stepContext(
      this.#contextOf(run),
      { id: stepId, parentId: parentStepId, attemptNo: undefined },
      run.source,
    )
    const extras = { ...bodies.extras(), attributes, links, inferredBy, eventId }
    this.#builder.emit(context, type, event.sequenceNo, payload as never, extras, at)
  }

  /** Something that was said outside any run, now. */
  note({ source, message, level, body, attributes }: ForeignNote): void {
    const bodies = new BodiesOfEvent(this.#builder, "log")
    const body_ref = body && bodies.refAs("body", body.content, body.mimeType)
    const text = this.#builder.capture.summary(message)
    this.#builder.emit(
      contextOutsideRuns(this.#builder.capture.chosenName(source)),
      "log",
      null,
      { level, message: text, ...(body_ref === undefined ? {} : { body_ref }) },
      { ...bodies.extras(), attributes },
    )
  }

  #contextOf(run: ForeignRun): EventContext {
    const known = this.#runs.get(run)
    if (known !== undefined) return known
    const kept = run.conversationId === undefined ? undefined : this.#builder.capture.conversationId(run.conversationId)
    const context = runContext({
      trace_id: run.traceId,
      run_id: run.runId,
      actor_type: "backend",
      determinism_mode: "live",
      ...(kept === undefined ? {} : { conversation_id: kept }),
    })
    this.#runs.set(run, context)
    return context
  }
}

function signedArgs(name: unknown, args: AddedBody): Record<string, unknown> {
  return {
    call_signature_hash: toolSignatureOfText(String(name), Buffer.from(args.comparable()).toString("utf8")),
    canon_version: CANON_VERSION,
    ...summaryOf("args_summary", () => summarizeArgs(parsed(args.value()))),
  }
}

function parsed(argumentText: unknown): unknown {
  if (typeof argumentText !== "string") return argumentText
  try {
    return JSON.parse(argumentText)
  } catch {
    return argumentText
  }
}
