import type { Event, EventType, SystemError } from "@orangebox/contract"
import type { Keeping } from "./capture/open-capture.js"
import type { Classify } from "./classify.js"
import type { Moment } from "./clock.js"
import type { EventBuilder, EventExtras } from "./event-builder.js"
import { type EventContext, type RecordBody, type RunEnvelope, runContext } from "./event-record.js"
import type { CommittedManifest } from "./faults/committed-context.js"
import type { SnapshotRequest } from "./faults/control-file.js"
import { Evidence, type EvidenceItem, evidenceKindOf } from "./faults/evidence.js"
import { HeldStream } from "./faults/held-stream.js"
import { withoutTraffic } from "./faults/kept-bodies.js"
import { spooledArtifact } from "./faults/raise-fault.js"
import type { Spool } from "./faults/spool.js"
import type { Guard } from "./guard.js"
import type { Run, StartRun } from "./run.js"
import type { BodyStream } from "./sink.js"
import type { ModelCall, ModelStep, ToolCall, ToolStep } from "./step.js"
import type { StepHandle, StepState } from "./step-handle.js"

/** What all handles of one run share. */
export class RunState {
  readonly builder: EventBuilder
  readonly app: AppFacts
  readonly startedAt: Moment
  readonly base: RunEnvelope
  context: EventContext
  #conversationId: string | undefined
  stepCount = 0
  endedBy: Event["event_type"] | undefined
  #nextSequenceNo = 0
  #stopped: SystemError | undefined
  readonly #abort = new AbortController()

  readonly make: HandleMakers
  readonly guards: readonly Guard[]
  /** What a fault would have to show. */
  readonly evidence = new Evidence()
  readonly manifests = new Map<StepState, CommittedManifest>()
  snapshotCount = 0
  readonly #heldStreams = new Map<string, HeldStream>()
  #spool: Spool | undefined

  constructor(parts: Pick<RunState, "builder" | "app" | "base" | "startedAt" | "make" | "guards" | "conversationId">) {
    this.builder = parts.builder
    this.app = parts.app
    this.base = parts.base
    this.context = runContext(parts.base)
    if (parts.conversationId !== undefined) this.joinConversation(parts.conversationId)
    this.startedAt = parts.startedAt
    this.make = parts.make
    this.guards = parts.guards
  }

  /** As the application knows it; in events stands what may be kept of it. */
  get conversationId(): string | undefined {
    return this.#conversationId
  }

  joinConversation(id: string): void {
    this.#conversationId = id
    const kept = this.builder.capture.conversationId(id)
    this.context = runContext(kept === undefined ? this.base : { ...this.base, conversation_id: kept })
  }

  takeSequenceNo(): number {
    return this.#nextSequenceNo++
  }

  get signal(): AbortSignal {
    return this.#abort.signal
  }

  /** After a failed commit nothing may go on: every later model, tool and fetch call throws first. */
  stop(error: SystemError): void {
    if (this.#stopped) return
    this.#stopped = error
    this.#abort.abort(error)
  }

  get isStopped(): boolean {
    return this.#stopped !== undefined
  }

  assertMayGoOn(): void {
    if (this.#stopped) throw this.#stopped
  }

  /** Whether faults are looked for, and not only taken when the application raises one. */
  get detectsFaults(): boolean {
    const { bodies, audit } = this.app.keeping
    return bodies !== "always" || audit === "required"
  }

  /**
   * What of an event's bodies goes into the journal. What a fault would show is remembered; where bodies are kept only on a fault it is held
   * back, and written ahead to where it survives this process.
   */
  keep(
    step: StepState,
    context: EventContext,
    type: EventType,
    extras: EventExtras | undefined,
  ): EventExtras | undefined {
    if (extras?.refs === undefined || extras.refs.length === 0) return extras
    const keeps = step.keepsBodies
    for (const ref of extras.refs) {
      const kind = evidenceKindOf(type, ref.artifact_type)
      if (kind === undefined) continue
      const bytes = keeps ? undefined : this.#bytesOf(ref.artifact_hash, extras.bodies ?? [])
      const item = { kind, step, ref, bytes }
      this.evidence.add(item)
      if (!keeps) this.#writeAhead(context, item, extras)
    }
    return keeps ? extras : withoutTraffic(type, extras)
  }

  /** A body of a step that arrives in pieces. */
  openStream(step: StepState): BodyStream {
    const stream = { runId: this.base.run_id, stepId: step.id, role: "response" }
    if (step.keepsBodies) return this.builder.sink.openStream(stream)
    const held = new HeldStream(`held-${step.id}`, this.#openSpool()?.openStream(stream))
    this.#heldStreams.set(held.id, held)
    return held
  }

  /** A step below the run has ended well: no fault will ask what it saw. */
  forget(step: StepState): void {
    this.evidence.forget(step)
    this.manifests.delete(step)
    if (this.evidence.isEmpty) this.discardSpool()
  }

  discardSpool(): void {
    try {
      this.#spool?.discard()
    } catch {
      // What cannot be deleted will be taken for the snapshot of a dead process, which costs room and nothing else.
    }
    this.#spool = undefined
    this.#heldStreams.clear()
  }

  #bytesOf(hash: string, bodies: readonly RecordBody[]): Uint8Array | undefined {
    const body = bodies.find((one) => one.hash === hash)
    if (body === undefined) return undefined
    if ("bytes" in body) return body.bytes
    const held = this.#heldStreams.get(body.streamId)
    this.#heldStreams.delete(body.streamId)
    return held?.bytes()
  }

  #writeAhead(context: EventContext, item: EvidenceItem, extras: EventExtras): void {
    const body = extras.bodies?.find(({ hash }) => hash === item.ref.artifact_hash)
    const spool = this.#openSpool()
    if (body === undefined || spool === undefined) return
    const { payload, ref } = spooledArtifact(item, this.base.run_id, ++this.snapshotCount, this.builder.now().wallMs)
    try {
      spool.write(this.builder.build(context, "artifact_recorded", null, payload, { refs: [ref], bodies: [body] }))
    } catch {
      // Telemetry until a fault makes it audit: the bytes are still held here.
    }
  }

  #openSpool(): Spool | undefined {
    this.#spool ??= this.app.openSpool?.()
    return this.#spool
  }
}

/** Opens handles of the other kinds; given in, so that a step need not know how they are made. */
export interface HandleMakers {
  run(source: string, options: StartRun): Run
  model(parent: StepHandle, call: ModelCall, attemptNo: number | undefined): ModelStep
  tool(parent: StepHandle, call: ToolCall): ToolStep
}

/** What a run needs to know about the application it belongs to. */
export interface AppFacts {
  readonly appId: string
  readonly defaults: {
    readonly agentId?: string
    readonly agentVersion?: string
    readonly environment: "local" | "ci" | "staging" | "prod" | "unknown"
    readonly repo?: string
    readonly branch?: string
    readonly commit?: string
    readonly isDirty?: boolean
  }
  readonly keeping: Keeping
  readonly guards: readonly Guard[]
  readonly classify: Classify | undefined
  /** Undefined where there is no data folder. */
  readonly openSpool?: (() => Spool) | undefined
  /** Whether this is the one in N model calls whose bodies are kept. */
  readonly takeSample: () => boolean
  /** Whether a user outside the process has asked to see what a run sees. */
  readonly takeSnapshotRequest?: ((runId: string) => SnapshotRequest | undefined) | undefined
}
