import type { ArtifactRef, PayloadOf, RedactionStatus } from "@orangebox/contract"
import { BodiesOfEvent } from "../bodies-of-event.js"
import type { CapturedStream, StoredStream } from "../capture/captured-stream.js"
import { learnAddress, learnHeaders } from "../capture/known-credentials.js"
import { judgeOutput } from "../classify.js"
import { deriveManifest, isUntold, takeManifest } from "../faults/call-manifest.js"
import type { LogAttributes } from "../logger.js"
import type { Step } from "../step.js"
import { StepHandle } from "../step-handle.js"
import {
  heldByProvider,
  isSamePrompt,
  modelCalledOf,
  promptAccount,
  promptAssembledOf,
  storedUrl,
  urlTags,
} from "./call-stamps.js"
import { nameOrNull } from "./contract-values.js"
import { type KnownRequest, knowRequest, memoryOf } from "./known-request.js"
import { markedChild } from "./marked-step.js"
import {
  type FinishedWire,
  failureOf,
  httpStatusOf,
  mimeTypeOf,
  modelResultOf,
  type RetriedCall,
  statusOf,
  WireCall,
  type WireNotes,
  type WireRequest,
  type WireResponseHead,
  type WireStep,
} from "./wire-call.js"

/**
 * Records that a request is about to leave, as a step below the given one. Undefined with recording off.
 * A call to a model is a model step; anything else that passes is kept as an `http` step, bytes and all.
 */
export function openWireCall(
  step: Step,
  request: WireRequest,
  notes: WireNotes = {},
  read?: KnownRequest,
): WireCall | undefined {
  if (!(step instanceof StepHandle)) return undefined
  const known = read ?? knowRequest(request, memoryOf(step.run.builder))
  step.assertMayGoOn()
  learnHeaders(step.capture, request.headers)
  learnAddress(step.capture, request.url)
  const isModel = isModelCall(request, known, notes)
  const asksModel = isModel && known.endpoint !== "count_tokens"
  // A request of which its step says nothing is read by itself, as all of those are that come through the proxy.
  const isOfModelStep = notes.attemptNo !== undefined
  const parts = asksModel ? partsOf(known) : undefined
  const isDerived = notes.derivesManifest === true || (asksModel && !isOfModelStep && isUntold(step, parts))
  const takes = asksModel && !isDerived && !isOfModelStep
  const expected = notes.expected ?? (takes ? takeManifest(step, request.body, parts)?.expected : null)
  const handle = markedChild(step, notes, isModel ? notes.attemptNo : undefined, isModel)
  const openedMonoUs = handle.monoUs()
  if (!isModel) {
    const provider = emitHttpStarted(handle, request, known, notes)
    return new WireCall(new HttpWire(handle), known, provider, openedMonoUs)
  }
  const called = emitModelCalled(handle, request, known, { ...notes, expected })
  if (isDerived) deriveManifest(handle, called.payload, called.anatomy && promptAssembledOf(called.anatomy))
  const wire = new ModelWire(handle, called, notes)
  if (!notes.tellsPromptLater) wire.tellPrompt()
  return new WireCall(wire, known, called.payload.provider, openedMonoUs)
}

/** What was said in a request, piece by piece; tools and settings are the same in all calls of a loop. */
const partsOf = ({ anatomy }: KnownRequest): string[] | undefined =>
  anatomy?.parts.flatMap(({ kind, role, text, name, arguments: args }) =>
    kind === "tool-def" ? [] : [[kind, role, name, text, args].join("\0")],
  )

function isModelCall(request: WireRequest, known: KnownRequest, notes: WireNotes): boolean {
  if (known.endpoint === "generate" || known.endpoint === "count_tokens" || known.model !== null) return true
  // Whatever a client posts to make a model call is one, also where neither address nor body tell.
  return notes.attemptNo !== undefined && request.method === "POST"
}

/** The opening of a model call, as it was recorded. */
interface ModelOpening {
  readonly payload: PayloadOf<"model_called">
  readonly refs: readonly ArtifactRef[]
  readonly redaction: RedactionStatus
  readonly attributes: LogAttributes
  readonly anatomy: KnownRequest["anatomy"]
}

function emitModelCalled(
  handle: StepHandle,
  request: WireRequest,
  known: KnownRequest,
  notes: WireNotes,
): ModelOpening {
  const bodies = new BodiesOfEvent(handle.run.builder, "model_called")
  const body = bodies.addAs("request", request.body, mimeTypeOf(request.headers), request.bodyMarks)
  // What is stamped on the call is read from the form in which secrets are replaced by their tags.
  const stamped =
    body.isAsGiven || handle.capture.mode === "hashed"
      ? known
      : knowRequest({ ...request, body: body.comparable() }, memoryOf(handle.run.builder))
  const url = storedUrl(request, handle.capture)
  const payload = modelCalledOf(
    request,
    url,
    stamped,
    body.hash,
    handle.capture,
    bodies,
    request.cacheUse ?? notes.cacheUse,
  )
  if (notes.expected) payload.prompt_account = promptAccount(known, notes.expected)
  const attributes = {
    ...urlTags(url, handle.capture),
    ...(notes.isAuxiliary || known.endpoint === "count_tokens" ? { auxiliary: true } : {}),
    ...heldByProvider(known),
    ...notes.attributes,
  }
  handle.emit("model_called", payload, {
    links: notes.follows ? undefined : handle.followLinks(),
    ...bodies.extras(),
    ...(Object.keys(attributes).length > 0 ? { attributes } : {}),
  })
  emitFollows(handle, notes)
  return { payload, refs: bodies.refs, redaction: bodies.redaction, attributes, anatomy: stamped.anatomy }
}

/** What a call goes on from was deduced while the call itself was seen: two events, because the mark stands on whole events. */
function emitFollows(handle: StepHandle, { follows }: WireNotes): void {
  for (const step_id of follows?.stepIds ?? []) {
    handle.emit("link_added", { link: { kind: "follows", step_id } }, { inferredBy: follows?.inferredBy })
  }
}

function emitHttpStarted(handle: StepHandle, request: WireRequest, known: KnownRequest, notes: WireNotes): string {
  const bodies = new BodiesOfEvent(handle.run.builder, "step_started")
  const body =
    request.body.length > 0
      ? bodies.addAs("body", request.body, mimeTypeOf(request.headers), request.bodyMarks)
      : undefined
  const address = storedUrl(request, handle.capture)
  handle.emit(
    "step_started",
    { name: nameOf(handle, request.method, address.url), kind: "http", body_ref: body?.hash },
    {
      ...bodies.extras(),
      links: notes.follows ? undefined : handle.followLinks(),
      attributes: {
        http_method: request.method,
        url: address.url,
        ...urlTags(address, handle.capture),
        ...(notes.isAuxiliary || known.endpoint !== undefined ? { auxiliary: true } : {}),
        ...notes.attributes,
      },
    },
  )
  emitFollows(handle, notes)
  return known.dialect?.provider ?? "unknown"
}

/** The bytes of an answer, as a stream of the step. */
abstract class WireBase implements WireStep {
  readonly id: string
  readonly runId: string
  response: ArtifactRef | undefined
  protected readonly handle: StepHandle
  readonly #type: "model_result" | "step_ended"
  #stream: CapturedStream | undefined
  #isEncoded = false

  constructor(handle: StepHandle, type: "model_result" | "step_ended") {
    this.handle = handle
    this.#type = type
    this.id = handle.id
    this.runId = handle.runId
  }

  monoUs(): number {
    return this.handle.monoUs()
  }

  responseNotDecoded(): void {
    this.#isEncoded = true
  }

  writeChunk(bytes: Uint8Array, micros: number, head: WireResponseHead | undefined, isWhole: boolean): void {
    try {
      if (this.#stream === undefined) learnHeaders(this.handle.capture, head?.headers ?? [])
      this.#stream ??= this.handle.captureResponse(
        this.#type,
        this.#type === "model_result" ? "response_ref" : "body_ref",
        {
          mimeType: mimeTypeOf(head?.headers ?? []),
          isEncoded: this.#isEncoded,
          isWhole,
        },
      )
      this.#stream.write(bytes, micros)
    } catch {
      // Telemetry: the answer still reaches the application.
    }
  }

  /** The answer's bytes as they were stored, named by the event that ends the step. Undefined when none came. */
  protected storedResponse(bodies: BodiesOfEvent, type: string, end: FinishedWire): StoredStream | undefined {
    const stored = this.#stream?.finish()
    if (stored === undefined) return undefined
    const at = bodies.refs.length
    bodies.addStreamed(type, mimeTypeOf(end.head?.headers ?? []), stored, end.notes.bodyMarks)
    this.response = bodies.refs[at]
    return stored
  }

  abstract finishWire(end: FinishedWire): void
}

class ModelWire extends WireBase {
  readonly #opening: ModelOpening
  readonly #notes: WireNotes
  #untoldPrompt: KnownRequest["anatomy"]
  #onResult: ((result: ModelEnding) => void) | undefined
  /** The step of this exchange, where it turned out to be the first of several tries. */
  #firstTry: StepHandle | undefined

  constructor(handle: StepHandle, opening: ModelOpening, notes: WireNotes) {
    super(handle, "model_result")
    this.#opening = opening
    this.#notes = notes
    this.#untoldPrompt = opening.anatomy
  }

  tellPrompt(): void {
    const anatomy = this.#untoldPrompt
    this.#untoldPrompt = undefined
    const { saidPrompt } = this.#notes
    if (anatomy === undefined || (saidPrompt && isSamePrompt(saidPrompt, anatomy))) return
    this.handle.emit("prompt_assembled", promptAssembledOf(anatomy), { inferredBy: "dialects" })
  }

  /** Tells how this try ended to the call it belongs to. */
  reportTo(listener: (result: ModelEnding) => void): void {
    this.#onResult = listener
  }

  finishWire(end: FinishedWire): void {
    const ending = this.#endingOf(end)
    const said = end.folded?.text ?? ""
    const isTry = this.#notes.attemptNo !== undefined || this.#firstTry !== undefined
    if (said !== "" && !isTry) judgeOutput(this.handle, said, false)
    // A first try took what it took from the opening of the call on, also where that is found out later.
    if (this.#firstTry)
      this.#firstTry.closeWith("model_result", { ...ending.payload, latency_ms: this.handle.elapsedMs() }, ending)
    else this.handle.closeWith("model_result", { ...ending.payload, latency_ms: this.handle.endedAfterMs() }, ending)
    this.#onResult?.(ending)
  }

  // The first try was opened as the call itself, because most calls need no second. So it is recorded once more as a child, and the call goes on.
  becomeFirstTry(): RetriedCall {
    this.#firstTry = markedChild(this.handle, this.#notes, 1)
    const { payload, refs, redaction, attributes } = this.#opening
    const extras = { refs, redaction, attributes: { ...attributes, repeats_call: true } }
    this.#firstTry.emit("model_called", payload, extras)
    return new OpenRetriedCall(this.handle, this)
  }

  #endingOf(end: FinishedWire): ModelEnding {
    const bodies = new BodiesOfEvent(this.handle.run.builder, "model_result")
    const stored = this.storedResponse(bodies, "response", end)
    const result = modelResultOf(end, bodies, stored, this.handle.summarize)
    const { attributes } = end.notes
    return {
      payload: { response_ref: stored?.hash ?? null, ...result },
      ...bodies.extras(),
      ...(attributes ? { attributes } : {}),
    }
  }
}

interface ModelEnding {
  readonly payload: Omit<PayloadOf<"model_result">, "latency_ms">
  readonly refs: BodiesOfEvent["refs"]
  readonly bodies: BodiesOfEvent["bodies"]
  readonly redaction: BodiesOfEvent["redaction"]
  readonly attributes?: LogAttributes
}

class OpenRetriedCall implements RetriedCall {
  readonly stepId: string
  readonly #handle: StepHandle
  /** By the number of their try: one may end behind a later one, when its client leaves it unread. */
  readonly #endings: ModelEnding[] = []
  #tries = 1

  constructor(handle: StepHandle, first: ModelWire) {
    this.stepId = handle.id
    this.#handle = handle
    this.#keepEnding(first, 1)
  }

  openTry(request: WireRequest, notes: WireNotes, known?: KnownRequest): WireCall | undefined {
    const attemptNo = ++this.#tries
    const call = openWireCall(this.#handle, request, { ...notes, attemptNo }, known)
    if (call?.step instanceof ModelWire) this.#keepEnding(call.step, attemptNo)
    return call
  }

  #keepEnding(wire: ModelWire, attemptNo: number): void {
    wire.reportTo((ending) => {
      this.#endings[attemptNo] = ending
    })
  }

  close(): void {
    const last = this.#endings.at(-1)
    if (last === undefined) return
    // The bodies came with the try; the call only names them.
    const { payload, refs, redaction } = last
    const latency_ms = this.#handle.endedAfterMs()
    this.#handle.closeWith("model_result", { ...payload, latency_ms }, { refs, redaction })
  }
}

class HttpWire extends WireBase {
  constructor(handle: StepHandle) {
    super(handle, "step_ended")
  }

  finishWire(end: FinishedWire): void {
    const bodies = new BodiesOfEvent(this.handle.run.builder, "step_ended")
    const stored = this.storedResponse(bodies, "body", end)
    const failure = failureOf(end.err, end.folded, this.handle.summarize, end.head)
    this.handle.closeWith(
      "step_ended",
      {
        status: statusOf(end),
        latency_ms: this.handle.endedAfterMs(),
        error_class: failure && (nameOrNull(failure.errorClass) ?? undefined),
        error_summary: failure?.summary,
        body_ref: stored?.hash,
      },
      {
        ...bodies.extras(),
        attributes: { http_status: httpStatusOf(end), stream_end: end.how, ...end.notes.attributes },
      },
    )
  }
}

/** Where no content is kept, a path is content. */
function nameOf(handle: StepHandle, method: string, url: string): string {
  const where = handle.capture.mode === "hashed" ? hostOf(url) : pathOf(url)
  return `${method} ${where}`.slice(0, 512)
}

function hostOf(url: string): string {
  return pathOf(url).split("/", 1)[0]!
}

function pathOf(url: string): string {
  try {
    const { host, pathname } = new URL(url)
    return `${host}${pathname}`
  } catch {
    return url
  }
}
