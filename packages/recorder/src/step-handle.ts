import { type EventType, type Link, OrangeboxError, type PayloadOf, SystemError, toolSource } from "@orangebox/contract"
import { BodiesOfEvent } from "./bodies-of-event.js"
import type { Capture } from "./capture/capture.js"
import { type CapturedStream, captureStream, gatheredStream } from "./capture/captured-stream.js"
import { judgeOutput } from "./classify.js"
import type { Moment } from "./clock.js"
import { asThrown, describeError } from "./described-error.js"
import type { EventExtras } from "./event-builder.js"
import { type EventContext, stepContext } from "./event-record.js"
import { hasUntakenManifest } from "./faults/call-manifest.js"
import { commitContext } from "./faults/committed-context.js"
import type { SnapshotRequest } from "./faults/control-file.js"
import type { CompiledPrompt } from "./faults/given-context.js"
import { type RaisedFault, raiseFault, type SnapshotArtifact } from "./faults/raise-fault.js"
import type { ToldContext } from "./faults/told-context.js"
import { LifecycleEvents } from "./lifecycle-events.js"
import { type LogAttributes, type Logger, type LogPlace, RecordingLogger } from "./logger.js"
import { QueueHandle } from "./queue.js"
import type { Run, StartRun } from "./run.js"
import type { RunState } from "./run-state.js"
import type { Sink } from "./sink.js"
import type {
  FinalOutputGiven,
  Handoff,
  LinkTarget,
  ModelCall,
  ModelSend,
  ModelStep,
  RetrievalCall,
  RetrievedChunk,
  SourceScope,
  Step,
  StepOptions,
  StepOutcome,
  ToolCall,
  ToolContext,
  ToolPromise,
  ToolStep,
} from "./step.js"
import { withTimeLimit } from "./time-limit.js"
import { type Fetch, recordingFetch, type WireTarget } from "./wire/fetch-edge.js"

/** What the handles of one step share, whichever source they speak as. */
export interface StepState {
  readonly id: string
  readonly parentId: string | null
  readonly parent: StepState | undefined
  readonly attemptNo: number | undefined
  readonly openedAt: Moment
  isOpened: boolean
  endedAt: Moment | undefined
  /** Whether bodies go into the journal as they come, and not only on a fault. */
  readonly keepsBodies: boolean
  /** The child that ended last: what the next child follows. */
  lastEndedChild: string | undefined
  /** One of its calls is the one in N whose step is kept when it ends well. */
  isSampled?: boolean
  isEnded: boolean
}

export class StepHandle extends LifecycleEvents implements Step, LogPlace {
  readonly id: string
  readonly runId: string
  readonly traceId: string
  readonly source: string
  readonly run: RunState
  readonly state: StepState
  readonly #context: EventContext
  #log: Logger | undefined
  #fetch: Fetch | undefined

  constructor(run: RunState, state: StepState, source: string) {
    super()
    this.run = run
    this.state = state
    this.source = source
    this.id = state.id
    this.runId = run.base.run_id
    this.traceId = run.base.trace_id
    this.#context = stepContext(run.context, state, run.builder.capture.chosenName(source))
  }

  get log(): Logger {
    this.#log ??= new RecordingLogger(this.run.builder, this)
    return this.#log
  }

  get signal(): AbortSignal {
    return this.run.signal
  }

  get queue(): QueueHandle {
    return new QueueHandle(this)
  }

  emit<T extends EventType>(type: T, payload: PayloadOf<T>, extras?: EventExtras, at = this.openingMoment()): void {
    const kept = this.run.keep(this.state, this.#context, type, extras)
    this.run.builder.emit(this.#context, type, this.run.takeSequenceNo(), payload, this.#withMisuse(kept), at)
  }

  /** The first event of a step stands at the moment from which it is counted what the step took; others stand at theirs. */
  openingMoment(): Moment | undefined {
    if (this.state.isOpened) return undefined
    this.state.isOpened = true
    return this.state.openedAt
  }

  /** What an audit rests on: durable under `audit: "required"`, telemetry otherwise. */
  record<T extends EventType>(type: T, payload: PayloadOf<T>, extras?: EventExtras): void {
    if (this.run.app.keeping.audit === "required") this.commit(type, payload, extras)
    else this.emit(type, payload, extras)
  }

  commit<T extends EventType>(type: T, payload: PayloadOf<T>, extras?: EventExtras): void {
    const kept = this.run.keep(this.state, this.#context, type, extras)
    const sequenceNo = this.run.takeSequenceNo()
    try {
      this.run.builder.commit(this.#context, type, sequenceNo, payload, this.#withMisuse(kept))
    } catch (error) {
      if (error instanceof SystemError) this.#stopRun(error, type, sequenceNo, payload)
      throw error
    }
  }

  emitLog(payload: PayloadOf<"log">, extras: EventExtras | undefined): void {
    this.emit("log", payload, extras)
  }

  setAttributes(attributes: LogAttributes): void {
    this.emit("attributes_set", {}, { attributes })
  }

  addLink(target: LinkTarget, reason?: string): void {
    this.emit("link_added", { link: linkTo(target, reason) })
  }

  child(name: string, attributes?: LogAttributes, options: StepOptions = {}): Step {
    const bodies = new BodiesOfEvent(this.run.builder, "step_started")
    const step = new StepHandle(this.run, this.newChild(), this.source)
    step.emit(
      "step_started",
      { name, kind: options.kind, body_ref: bodies.ref("body", options.body) },
      { attributes, links: this.#followLinks(options.follows), ...bodies.extras() },
    )
    return step
  }

  openStep(name: string, attributes: LogAttributes | undefined, body: unknown): Step {
    return this.child(name, attributes, { body })
  }

  end(outcome: StepOutcome = {}): void {
    if (outcome.err === undefined && (outcome.status ?? "success") === "success") this.keepSample()
    if (!this.close()) return
    const bodies = new BodiesOfEvent(this.run.builder, "step_ended")
    const body_ref = bodies.ref("body", outcome.body)
    const error = outcome.err === undefined ? undefined : describeError(outcome.err, this.summarize)
    this.emitClose(
      "step_ended",
      {
        status: outcome.status ?? (error ? "error" : "success"),
        latency_ms: this.endedAfterMs(),
        error_class: error?.errorClass,
        error_summary: error?.summary,
        error_ref: error && bodies.ref("error", error.chain),
        body_ref,
      },
      { attributes: outcome.attributes, ...bodies.extras() },
    )
  }

  as(scope: SourceScope): Step {
    return new StepHandle(this.run, this.state, scope.source)
  }

  get fetch(): Fetch {
    this.#fetch ??= recordingFetch(
      () => this.wireTarget(),
      () => globalThis.fetch,
    )
    return this.#fetch
  }

  /** Whether requests of this step were seen on the wire. */
  hasWire(): boolean {
    return false
  }
  /** Whether bytes of this step are still on the wire, with which it will then end. */
  endWithWire(): boolean {
    return false
  }

  /** Where a request that belongs to this step is recorded. */
  wireTarget(): WireTarget {
    return { step: this }
  }

  async model<T>(call: ModelCall<T>, send: (send: ModelSend, step: ModelStep) => T | PromiseLike<T>): Promise<T> {
    const step = this.startModel(call as ModelCall)
    let reply: T
    try {
      reply = await send(step.send, step)
    } catch (err) {
      step.endModel({ err: asThrown(err) })
      throw err
    }
    // A stream is handed out before its bytes have come; then the call ends with them.
    const isStillComing = step instanceof StepHandle && step.endWithWire()
    if (!isStillComing) step.endModel({ ...described(() => call.describe?.(reply)), response: reply })
    return reply
  }

  startModel(call: ModelCall): ModelStep {
    return this.run.make.model(this, call, undefined)
  }

  /** The same for a client that puts its prompts together by itself, in a loop of its own: a call that the agent does not tell of is read off its request. */
  startClientModel(call: ModelCall): ModelStep {
    return this.run.make.model(this, call, undefined, !hasUntakenManifest(this))
  }

  tool<T>(call: ToolCall<T>, run: (context: ToolContext) => T | PromiseLike<T>): ToolPromise<T> {
    try {
      const step = this.startTool(call as ToolCall)
      return Object.assign(this.#runTool(step, call, run), { sourceRef: toolSource(step.id) })
    } catch (err) {
      return Object.assign(Promise.reject<T>(err), { sourceRef: toolSource(this.id) })
    }
  }

  async #runTool<T>(step: ToolStep, call: ToolCall<T>, run: (context: ToolContext) => T | PromiseLike<T>): Promise<T> {
    let result: T
    try {
      result = await withTimeLimit(call.name, call.timeoutMs, this.signal, (signal) =>
        run({ log: step.log, step, signal }),
      )
    } catch (err) {
      step.endTool({ err: asThrown(err) })
      throw err
    }
    step.endTool({ result, ...described(() => call.describe?.(result)) })
    return result
  }

  startTool(call: ToolCall): ToolStep {
    return this.run.make.tool(this, call)
  }

  async retrieval<T extends readonly RetrievedChunk[]>(
    call: RetrievalCall,
    retrieve: (context: ToolContext) => T | PromiseLike<T>,
  ): Promise<T> {
    this.run.assertMayGoOn()
    const step = this.child(call.retriever, undefined, { kind: "retrieval" }) as StepHandle
    let chunks: T
    try {
      chunks = await retrieve({ log: step.log, step, signal: this.signal })
    } catch (err) {
      step.retrievalExecuted(call, [], step.elapsedMs(), "error")
      step.end({ err: asThrown(err) })
      throw err
    }
    step.retrievalExecuted(call, chunks, step.elapsedMs())
    step.end()
    return chunks
  }

  context(context: CompiledPrompt | ToldContext): void {
    commitContext(this, this.state, context)
  }

  fault(fault: RaisedFault): readonly SnapshotArtifact[] {
    return raiseFault(this, this.state, fault)
  }

  snapshot(requestedBy: NonNullable<RaisedFault["requestedBy"]> = "runtime_user"): readonly SnapshotArtifact[] {
    return this.fault({ trigger: "debug_request", detail: "a snapshot was asked for", requestedBy })
  }

  /** For a call that failed: what its siblings saw belongs to it. */
  faultAround(fault: RaisedFault): void {
    if (!this.run.detectsFaults) return
    let around = this.state.parent ?? this.state
    while (around.isEnded && around.parent !== undefined) around = around.parent
    raiseFault(new StepHandle(this.run, around, this.source), around, fault)
  }

  /** Records what a retriever found, where the application ran it by itself. */
  retrieved(call: RetrievalCall, chunks: readonly RetrievedChunk[]): void {
    const step = this.child(call.retriever, undefined, { kind: "retrieval" }) as StepHandle
    step.retrievalExecuted(call, chunks, step.elapsedMs())
    step.end()
  }

  startRun(options: StartRun): Run {
    const run = this.run.make.run(this.source, { ...options, parent: this.handoff() })
    this.addLink({ kind: "spawned", runId: run.runId, stepId: run.id }, options.entrypoint)
    return run
  }

  handoff(): Handoff {
    const { conversationId } = this.run
    return {
      traceId: this.traceId,
      runId: this.runId,
      stepId: this.id,
      ...(conversationId === undefined ? {} : { conversationId }),
    }
  }

  // For recorders of wire traffic in this package, which open and close steps with events of their own.

  override finalOutput(output: FinalOutputGiven): void {
    if (typeof output.value === "string") judgeOutput(this, output.value, true)
    super.finalOutput(output)
  }

  get sink(): Sink {
    return this.run.builder.sink
  }
  get capture(): Capture {
    return this.run.builder.capture
  }
  /** A body of this step that arrives in pieces. */
  captureResponse(
    eventType: EventType,
    field: string,
    {
      mimeType,
      isEncoded = false,
      isWhole = false,
    }: { mimeType?: string; isEncoded?: boolean; isWhole?: boolean } = {},
  ): CapturedStream {
    const open =
      isWhole && this.state.keepsBodies
        ? gatheredStream
        : () => this.run.openStream(this.state, this.#context, mimeType)
    return captureStream(this.capture, { eventType, field, mimeType, isEncoded }, open)
  }
  get summarize(): (text: string) => string {
    return this.run.builder.summarize
  }
  monoUs(): number {
    return this.run.builder.now().monoUs
  }
  assertMayGoOn(): void {
    this.run.assertMayGoOn()
  }
  /** A child step that is not opened yet: the caller emits the event that opens it. */
  bareChild(attemptNo?: number, isModelCall = false): StepHandle {
    return new StepHandle(this.run, this.newChild(attemptNo, isModelCall), this.source)
  }
  /** Links a bare child opens with. */
  followLinks(): Link[] | undefined {
    const previous = this.state.parent?.lastEndedChild
    return previous === undefined ? undefined : [{ kind: "follows", step_id: previous }]
  }
  closeWith<T extends EventType>(type: T, payload: PayloadOf<T>, extras?: EventExtras): void {
    if (this.close()) this.emitClose(type, payload, extras)
  }

  /** The snapshot of a step with a sampled call: everything it can be rebuilt from, its tools' outputs included. */
  keepSample(): void {
    if (!this.state.isSampled || this.state.isEnded) return
    this.state.isSampled = false
    this.fault({ trigger: "debug_request", detail: `a sample of what goes well (${this.run.app.keeping.bodies})` })
  }

  newChild(attemptNo?: number, isModelCall = false): StepState {
    this.run.stepCount++
    const isSampled = isModelCall && attemptNo === undefined && this.run.app.takeSample()
    if (isSampled) this.state.isSampled = true
    return {
      keepsBodies: this.state.keepsBodies || isSampled,
      id: this.run.builder.newId.step(),
      parentId: this.id,
      parent: this.state,
      attemptNo,
      openedAt: this.run.builder.now(),
      isOpened: false,
      endedAt: undefined,
      lastEndedChild: undefined,
      isEnded: false,
    }
  }

  elapsedMs({ monoUs } = this.run.builder.now()): number {
    return Math.max(0, Math.round(monoUs - this.state.openedAt.monoUs) / 1000)
  }

  /** What the step took, for the event that ends it: that stands at this very reading of the clock, so its latency is what lies between the two. */
  endedAfterMs(): number {
    this.state.endedAt = this.run.builder.now()
    return this.elapsedMs(this.state.endedAt)
  }

  /** False when the step was ended before: the first end is the one that counts, so that `finally { step.end() }` is harmless. */
  protected close(): boolean {
    if (this.state.isEnded) return false
    if (this.state.parent) this.state.parent.lastEndedChild = this.id
    return true
  }

  protected emitClose<T extends EventType>(type: T, payload: PayloadOf<T>, extras?: EventExtras): void {
    this.emit(type, payload, extras, this.state.endedAt)
    this.state.isEnded = true
    const request = this.run.app.takeSnapshotRequest?.(this.runId)
    if (request !== undefined) this.#snapshotForOutside(request)
    const isPlainStep = type === "step_ended" && this.state.parent?.parent === undefined
    if (isPlainStep && (payload as { status?: unknown }).status === "success") this.run.forget(this.state)
  }

  /** Asked for while this step went on: recorded on the run, which goes on. */
  #snapshotForOutside({ requestedBy }: SnapshotRequest): void {
    if (this.run.endedBy !== undefined || this.state.parent === undefined) return
    const root = this.run.root ?? this
    raiseFault(root, root.state, {
      trigger: "debug_request",
      detail: "a snapshot was asked for from outside",
      requestedBy,
    })
  }

  #followLinks(follows: readonly { readonly id: string }[] | undefined): Link[] | undefined {
    if (Array.isArray(follows)) return follows.filter(isStep).map((step) => ({ kind: "follows", step_id: step.id }))
    const previous = this.state.lastEndedChild
    return previous === undefined ? undefined : [{ kind: "follows", step_id: previous }]
  }

  #withMisuse(extras: EventExtras | undefined): EventExtras | undefined {
    if (!this.state.isEnded && this.run.endedBy === undefined) return extras
    const problem = this.run.endedBy
      ? { code: "after_the_end", field: "event_type", reason: `comes after ${this.run.endedBy}` }
      : { code: "after_step_end", field: "step_id", reason: "comes after the step was ended" }
    const what = this.run.endedBy
      ? `something is recorded after ${this.run.endedBy} of its run; it is kept and marked as late`
      : "something is recorded in a step that was ended; it is kept and marked as late"
    const next = "Wait for what a run or a step has started before you end it"
    this.run.builder.warn(new OrangeboxError("AFTER_THE_END", { what, next }))
    return { ...extras, problems: [...(extras?.problems ?? []), problem] }
  }

  #stopRun(error: SystemError, type: EventType, sequenceNo: number, payload: object): void {
    const { artifact_id, artifact_type, snapshot_id } = payload as Partial<Record<string, unknown>>
    const { raising } = this.run
    this.run.stop(error)
    this.run.builder.sink.lastWords(
      JSON.stringify({
        run_id: this.runId,
        step_id: this.id,
        event_type: type,
        sequence_no: sequenceNo,
        error: error.what,
        artifact_id,
        artifact_type,
        snapshot_id,
        trigger: raising?.trigger,
        detail: raising?.detail,
      }),
    )
  }
}

const isStep = (value: unknown): value is { readonly id: string } =>
  typeof (value as { id?: unknown } | null | undefined)?.id === "string"

function linkTo(target: LinkTarget, reason: string | undefined): Link {
  return {
    kind: target.kind ?? "mentions",
    ...(target.traceId === undefined ? {} : { trace_id: target.traceId }),
    ...(target.runId === undefined ? {} : { run_id: target.runId }),
    ...(target.stepId === undefined ? {} : { step_id: target.stepId }),
    ...(reason === undefined ? {} : { reason }),
  }
}

/** An application's own reading of a reply may be wrong in any way; then nothing is known about the reply. */
function described<T extends object>(read: () => T | undefined): Partial<T> {
  try {
    return { ...read() }
  } catch {
    return {}
  }
}
