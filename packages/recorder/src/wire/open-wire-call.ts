import { BodiesOfEvent } from "../bodies-of-event.js"
import type { BodyStream } from "../sink.js"
import type { Step } from "../step.js"
import { StepHandle } from "../step-handle.js"
import { safeUrl } from "./safe-headers.js"
import {
  type FinishedWire,
  headerOf,
  type KnownRequest,
  knowRequest,
  modelCalledOf,
  modelResultOf,
  promptAssembledOf,
  WireCall,
  type WireNotes,
  type WireRequest,
  type WireStep,
} from "./wire-call.js"

/**
 * Records that a request is about to leave, as a step below the given one. Undefined with recording off.
 * A call to a model is a model step; anything else that passes is kept as an `http` step, bytes and all.
 */
export function openWireCall(step: Step, request: WireRequest, notes: WireNotes = {}): WireCall | undefined {
  if (!(step instanceof StepHandle)) return undefined
  step.assertMayGoOn()
  const known = knowRequest(request)
  const handle = step.bareChild(notes.attemptNo)
  const openedMonoUs = handle.monoUs()
  const isModel = known.anatomy !== undefined || known.endpoint === "count_tokens" || namesModel(request)
  const provider = isModel
    ? emitModelCalled(handle, request, known, notes)
    : emitHttpStarted(handle, request, known, notes)
  return new WireCall(isModel ? new ModelWire(handle) : new HttpWire(handle), known, provider, openedMonoUs)
}

function emitModelCalled(handle: StepHandle, request: WireRequest, known: KnownRequest, notes: WireNotes): string {
  const bodies = new BodiesOfEvent(handle.sink)
  const payload = modelCalledOf(request, known, handle.captureMode, bodies)
  const marks = {
    ...(notes.isAuxiliary || known.endpoint === "count_tokens" ? { auxiliary: true } : {}),
    ...heldByProvider(known),
  }
  handle.emit("model_called", payload, {
    refs: bodies.refs,
    bodies: bodies.bodies,
    links: handle.followLinks(),
    inferredBy: notes.inferredBy,
    ...(Object.keys(marks).length > 0 ? { attributes: marks } : {}),
  })
  if (known.anatomy) handle.emit("prompt_assembled", promptAssembledOf(known.anatomy), { inferredBy: "dialects" })
  return payload.provider
}

/** A call that leans on context the provider keeps cannot be told from its request alone. */
function heldByProvider(known: KnownRequest): { context_held_by_provider?: string } {
  const held = known.anatomy?.serverContext ?? []
  return held.length === 0 ? {} : { context_held_by_provider: [...new Set(held.map(({ what }) => what))].join(" ") }
}

function emitHttpStarted(handle: StepHandle, request: WireRequest, known: KnownRequest, notes: WireNotes): string {
  const bodies = new BodiesOfEvent(handle.sink)
  const contentType = headerOf(request.headers, "content-type") ?? "application/octet-stream"
  const bodyRef = request.body.length > 0 ? bodies.addAs("body", request.body, contentType) : undefined
  const url = safeUrl(request.url)
  handle.emit(
    "step_started",
    { name: `${request.method} ${pathOf(url)}`.slice(0, 512), kind: "http", ...(bodyRef ? { body_ref: bodyRef } : {}) },
    {
      refs: bodies.refs,
      bodies: bodies.bodies,
      links: handle.followLinks(),
      inferredBy: notes.inferredBy,
      attributes: {
        http_method: request.method,
        url,
        ...(notes.isAuxiliary || known.endpoint !== undefined ? { auxiliary: true } : {}),
      },
    },
  )
  return known.dialect?.provider ?? "unknown"
}

/** The bytes of an answer, as a stream of the step. */
abstract class WireBase implements WireStep {
  readonly id: string
  readonly runId: string
  protected readonly handle: StepHandle
  #stream: BodyStream | undefined

  constructor(handle: StepHandle) {
    this.handle = handle
    this.id = handle.id
    this.runId = handle.runId
  }

  writeChunk(bytes: Uint8Array): void {
    try {
      this.#stream ??= this.handle.sink.openStream({ runId: this.runId, stepId: this.id, role: "response" })
      this.#stream.write(bytes)
    } catch {
      // Telemetry: the answer still reaches the application.
    }
  }

  protected responseRef(bodies: BodiesOfEvent, type: string, end: FinishedWire): string | null {
    if (!this.#stream) return null
    const mime = (end.head && headerOf(end.head.headers, "content-type")) ?? "application/octet-stream"
    return bodies.addStreamed(type, mime, { id: this.#stream.id, ...this.#stream.finish() })
  }

  abstract finishWire(end: FinishedWire): void
}

class ModelWire extends WireBase {
  finishWire(end: FinishedWire): void {
    const bodies = new BodiesOfEvent(this.handle.sink)
    const response_ref = this.responseRef(bodies, "response", end)
    const payload = { ...modelResultOf(end, this.handle.elapsedMs(), bodies), response_ref }
    this.handle.closeWith("model_result", payload, bodies)
  }
}

class HttpWire extends WireBase {
  finishWire(end: FinishedWire): void {
    const bodies = new BodiesOfEvent(this.handle.sink)
    const bodyRef = this.responseRef(bodies, "body", end)
    const { status, latency_ms, error_class, error_summary } = modelResultOf(
      end,
      this.handle.elapsedMs(),
      new BodiesOfEvent(this.handle.sink),
    )
    this.handle.closeWith(
      "step_ended",
      {
        status: status ?? "success",
        latency_ms,
        ...(error_class ? { error_class } : {}),
        ...(error_summary ? { error_summary } : {}),
        ...(bodyRef ? { body_ref: bodyRef } : {}),
      },
      {
        refs: bodies.refs,
        bodies: bodies.bodies,
        attributes: { http_status: end.head?.status ?? null, stream_end: end.how },
      },
    )
  }
}

/** An unknown provider's call still is a model call when its JSON names a model. */
function namesModel(request: WireRequest): boolean {
  if (request.method !== "POST") return false
  const head = Buffer.from(request.body.buffer, request.body.byteOffset, Math.min(request.body.length, 4096)).toString(
    "latin1",
  )
  return /^\s*\{/.test(head) && /"model"\s*:\s*"/.test(head)
}

function pathOf(url: string): string {
  try {
    const { host, pathname } = new URL(url)
    return `${host}${pathname}`
  } catch {
    return url
  }
}
