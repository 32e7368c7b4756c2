import {
  type BodyHash,
  bodyHash,
  type Event,
  type EventType,
  type FaultTrigger,
  type SystemError,
  snapshotKindOf,
} from "@orangebox/contract"
import type { Keeping } from "./capture/open-capture.js"
import { markCaptured } from "./captured-body.js"
import type { Classify } from "./classify.js"
import type { Moment } from "./clock.js"
import type { EventBuilder, EventExtras } from "./event-builder.js"
import { type EventContext, type RecordBody, type RunEnvelope, runContext } from "./event-record.js"
import type { CommittedManifest } from "./faults/committed-manifest.js"
import type { SnapshotRequest } from "./faults/control-file.js"
import { Evidence, type EvidenceItem } from "./faults/evidence.js"
import { HeldStream } from "./faults/held-stream.js"
import { withoutTraffic } from "./faults/kept-bodies.js"
import { spooledArtifact } from "./faults/raise-fault.js"
import type { Spool } from "./faults/spool.js"
import type { Guard } from "./guard.js"
import type { Run, StartRun } from "./run.js"
import type { BodyStream } from "./sink.js"
import type { ModelCall, ModelStep, ToolCall, ToolStep } from "./step.js"
import type { StepHandle, StepState } from "./step-handle.js"
import { isWithin } from "./step-tree.js"
import type { Workspace } from "./workspace-path.js"

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
  /** The run as a step. */
  root: StepHandle | undefined
  #nextSequenceNo = 0
  #stopped: SystemError | undefined
  readonly #abort = new AbortController()

  readonly make: HandleMakers
  readonly guards: readonly Guard[]
  /** What a fault would have to show. */
  readonly evidence = new Evidence()
  readonly manifests = new Map<StepState, CommittedManifest>()
  readonly #heldStreams = new Map<string, ComingAnswer>()
  #snapshotCount = 0
  #raising: FaultUnderWay | undefined
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

  /** Why the run was stopped. */
  get stopped(): SystemError | undefined {
    return this.#stopped
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
      const kind = snapshotKindOf(type, ref.artifact_type)
      if (kind === undefined) continue
      const bytes = keeps ? undefined : this.#bytesOf(ref.artifact_hash, extras.bodies ?? [])
      const item = { kind, step, context, ref, bytes }
      this.evidence.add(item)
      if (!keeps) this.#writeAhead(item, extras.bodies)
    }
    return keeps ? extras : withoutTraffic(type, extras)
  }

  /** A body of a step that arrives in pieces. */
  openStream(step: StepState, context: EventContext, mimeType: string | undefined): BodyStream {
    const stream = { runId: this.base.run_id, stepId: step.id, role: "response" }
    if (step.keepsBodies) return this.builder.sink.openStream(stream)
    const held = new HeldStream(`held-${step.id}`, this.#openSpool()?.openStream(stream))
    this.#heldStreams.set(held.id, { held, step, context, mimeType: mimeType ?? "application/octet-stream" })
    return held
  }

  /** Answers within a step that have begun and not ended, as far as they came. */
  answersStillComing(scope: StepState): EvidenceItem[] {
    const coming = [...this.#heldStreams.values()].filter(({ step }) => isWithin(step, scope))
    return coming.flatMap(({ held, step, context, mimeType }) => {
      const bytes = held.soFar()
      if (bytes.length === 0) return []
      const ref = {
        artifact_hash: bodyHash(bytes),
        artifact_type: "response",
        byte_size: bytes.length,
        content_encoding: "identity",
        mime_type: mimeType,
        redaction_profile: this.builder.capture.treatmentOf("model_result", "response_ref").ruleset?.profile ?? "none",
      }
      const { withheldBytes } = held
      return { kind: "answer_snapshot", step, context, ref, bytes, isPartial: true, withheldBytes } as const
    })
  }

  nextSnapshotNo(): number {
    return ++this.#snapshotCount
  }

  /** The fault whose evidence is being stored, for the last words where that fails. */
  get raising(): FaultUnderWay | undefined {
    return this.#raising
  }

  whileRaising<T>(fault: FaultUnderWay, work: () => T): T {
    const before = this.#raising
    this.#raising = fault
    try {
      return work()
    } finally {
      this.#raising = before
    }
  }

  /** A step below the run has ended well: but for the last calls of the run, no fault will ask what it saw. */
  forget(step: StepState): void {
    this.evidence.forget(step)
    for (const state of this.manifests.keys()) {
      if (this.evidence.isOver(state) && !this.evidence.holds(state)) this.manifests.delete(state)
    }
    if (this.#spool === undefined || this.#heldStreams.size > 0) return
    const { items } = this.evidence
    if (!items.every((item) => this.evidence.isOver(item.step))) return
    // What is still held goes into a fresh spool, so that nothing stays of what went well before.
    this.discardSpool()
    for (const item of items) if (item.bytes !== undefined) this.#writeAhead(item)
  }

  /** The run has said how it ended, or its recorder leaves: nothing of it is held any more. */
  end(by: Event["event_type"]): void {
    this.endedBy = by
    this.app.openRuns.delete(this)
    for (const [id, call] of this.builder.openCalls)
      if (call.runId === this.base.run_id) this.builder.openCalls.delete(id)
    this.discardSpool()
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
    const held = this.#heldStreams.get(body.streamId)?.held
    this.#heldStreams.delete(body.streamId)
    return held?.bytes()
  }

  /** @param bodies those of the event, where the bytes may have gone ahead as a stream */
  #writeAhead(item: EvidenceItem, bodies?: readonly RecordBody[]): void {
    const hash = item.ref.artifact_hash as BodyHash
    const given = bodies?.find((body) => body.hash === hash)
    const body = given ?? (bodies || !item.bytes ? undefined : markCaptured({ hash, bytes: item.bytes }))
    const spool = this.#openSpool()
    if (body === undefined || spool === undefined) return
    const { payload, ref } = spooledArtifact(item, this, this.builder.now().wallMs)
    try {
      spool.write(this.builder.build(item.context, "artifact_recorded", null, payload, { refs: [ref], bodies: [body] }))
    } catch {
      // Telemetry until a fault makes it audit: the bytes are still held here.
    }
  }

  #openSpool(): Spool | undefined {
    this.#spool ??= this.app.openSpool?.()
    return this.#spool
  }
}

/** An answer that has begun and is kept only on a fault. */
interface ComingAnswer {
  readonly held: HeldStream
  readonly step: StepState
  readonly context: EventContext
  readonly mimeType: string
}

interface FaultUnderWay {
  readonly trigger: FaultTrigger
  readonly detail: string
}

/** Opens handles of the other kinds; given in, so that a step need not know how they are made. */
export interface HandleMakers {
  run(source: string, options: StartRun): Run
  model(parent: StepHandle, call: ModelCall, attemptNo: number | undefined, isDerived?: boolean): ModelStep
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
  readonly workspace: Workspace
  /** Undefined where there is no data folder. */
  readonly openSpool?: (() => Spool) | undefined
  /** Runs that look for faults and have not ended. */
  readonly openRuns: Set<RunState>
  /** Where snapshots lie, relative to the workspace; undefined where there is no data folder. */
  readonly snapshotFolder?: string | undefined
  /** Whether this is the one in N model calls whose bodies are kept. */
  readonly takeSample: () => boolean
  /** Whether a user outside the process has asked to see what a run sees. */
  readonly takeSnapshotRequest?: ((runId: string) => SnapshotRequest | undefined) | undefined
}
