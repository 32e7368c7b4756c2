import type { PayloadOf, TokenUsage } from "@orangebox/contract"
import {
  callSignature,
  type Dialect,
  dialectOfBytes,
  type ExpectedPrompt,
  type FoldedResponse,
  foldResponse,
  GENERIC_CANON_VERSION,
  NO_PATH,
  type RequestAnatomy,
  type ResponseFolder,
  responseFolder,
} from "@orangebox/dialects"
import { type AddedBody, BodiesOfEvent } from "./bodies-of-event.js"
import type { CapturedStream } from "./capture/captured-stream.js"
import { judgeOutput } from "./classify.js"
import { deriveManifest, takeManifest } from "./faults/call-manifest.js"
import { askGuards } from "./guard.js"
import { summaryOf } from "./lifecycle-events.js"
import type { RunState } from "./run-state.js"
import { modelSignature } from "./signature.js"
import type { ModelCall, ModelDescription, ModelSend, ModelStep, RenderedPrompt, Step, StepOutcome } from "./step.js"
import { StepHandle, type StepState } from "./step-handle.js"
import { answerStamps } from "./wire/answer-stamps.js"
import { heldByProvider, isSamePrompt, promptAccount, promptAssembledOf, toldStamps } from "./wire/call-stamps.js"
import { nameOrNull } from "./wire/contract-values.js"
import { STEP_HEADER, type WireTarget } from "./wire/fetch-edge.js"
import { type KnownRequest, knowRequest, knowTold, memoryOf } from "./wire/known-request.js"
import type { RequestHead } from "./wire/outgoing-request.js"
import { failureOf, requestIdOf, statusOf, type WireCall, httpStatusOf as wireStatusOf } from "./wire/wire-call.js"

/** Opens the step of a model call: the request is recorded before anything is sent. */
export function openModelStep(
  parent: StepHandle,
  call: ModelCall,
  attemptNo: number | undefined,
  isDerived = false,
): ModelStep {
  parent.assertMayGoOn()
  const { run } = parent
  const told = parent instanceof ModelStepHandle || isDerived ? undefined : takeManifest(parent)
  const expected = parent instanceof ModelStepHandle ? parent.expected : (told?.expected ?? null)
  const bodies = new BodiesOfEvent(run.builder, "model_called")
  const request = bodies.add("request", call.request ?? null)!
  // What is stamped on the call is read from the form in which secrets are replaced by their tags.
  const known = knowTold(request.comparable(), call, memoryOf(run.builder))
  const stamps = toldStamps(known, run.builder.capture, call.cacheUse) ?? genericStamps(call, request, known)
  const step = new ModelStepHandle(run, parent.newChild(attemptNo, true), parent.source, call, known, expected)
  const held = heldByProvider(known)
  const called: PayloadOf<"model_called"> = {
    provider: call.provider,
    model_id: call.model,
    model_api_version: call.apiVersion ?? null,
    request_ref: request.hash,
    capture_mode: parent.capture.mode,
    prompt_account: expected === null ? undefined : accountOf(request, call, known, expected),
    ...stamps,
  }
  step.emit("model_called", called, {
    attributes: held ? { ...held, ...call.attributes } : call.attributes,
    links: step.followLinks(),
    ...bodies.extras(),
  })
  if (isDerived) deriveManifest(step, called, known.anatomy && promptAssembledOf(known.anatomy))
  // What a client library turns into another protocol is read off the wire, where that is recorded, as it was sent.
  const isForWire = known.dialect === undefined && run.builder.correlatesByHeader
  if (!isForWire) step.tellPrompt(parent instanceof ModelStepHandle ? parent.known.anatomy : undefined)
  if (attemptNo !== undefined) return step
  run.builder.openCalls.set(step.id, step)
  try {
    askGuards(run.guards, parent, {
      kind: "model",
      name: call.model,
      args: call.request,
      signature: stamps.call_signature_hash,
      step,
    })
  } catch (err) {
    step.endModel({ err })
    throw err
  }
  return step
}

/** The request as it was told, not as it is stored: a secret that was masked in it is there all the same. */
function accountOf(request: AddedBody, call: ModelCall, known: KnownRequest, expected: ExpectedPrompt) {
  return promptAccount(request.isComparedAsGiven ? known : knowTold(request.given, call), expected)
}

/** Of a call whose protocol no dialect knows: what it is made of stays unknown, whether it is the same question as another does not. */
function genericStamps(call: ModelCall, request: AddedBody, { json }: KnownRequest) {
  const parameters = parametersOf(call.request)
  return {
    temperature: parameters("temperature"),
    top_p: parameters("top_p", "topP"),
    max_tokens: parameters("max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens"),
    seed: parameters("seed"),
    call_signature_hash: modelSignature(call.provider, call.request, request),
    canon_version: GENERIC_CANON_VERSION,
    wire_digest: callSignature({ body: json, dialect: undefined, method: "POST", path: NO_PATH }).wire,
    prefix_fingerprint: null,
    prefix_length: null,
    cache_use: call.cacheUse ?? ("unknown" as const),
  }
}

/**
 * The open call that a request belongs to: the one its header names, and without one the only call that was told with the very prompt it sends.
 * Of two calls with one prompt neither is taken.
 */
export function callOfRequest(
  calls: ReadonlyMap<string, Step>,
  { method, url, headers }: RequestHead,
  body: Uint8Array,
): StepHandle | undefined {
  const named = calls.get(headers.get(STEP_HEADER)?.split("/")[1] ?? "")
  if (named !== undefined || calls.size === 0) return named instanceof StepHandle ? named : undefined
  let sent: RequestAnatomy | undefined
  const alike = [...calls.values()].filter((call): call is ModelStepHandle => {
    if (!(call instanceof ModelStepHandle) || call.known.anatomy === undefined) return false
    const { builder } = call.run
    const mimeType = headers.get("content-type") ?? ""
    const stored = new BodiesOfEvent(builder, "model_called").addAs("request", body, mimeType)
    sent ??= knowRequest({ method, url, headers: [...headers], body: stored.comparable() }, memoryOf(builder)).anatomy
    return sent !== undefined && isSamePrompt(call.known.anatomy, sent)
  })
  return alike.length === 1 ? alike[0] : undefined
}

class ModelStepHandle extends StepHandle implements ModelStep {
  /** The request as the application told it. */
  readonly known: KnownRequest
  /** The prompt that was compiled or told for this call. */
  readonly expected: ExpectedPrompt | null
  readonly #call: ModelCall
  #folder: ResponseFolder | undefined
  #firstByteMs: number | undefined
  #isPromptTold = false
  #stream: CapturedStream | undefined
  #attempts = 0
  #lastWire: WireCall | undefined
  #openWires = 0
  #endsWithWire = false
  #isRendered = false

  constructor(
    run: RunState,
    state: StepState,
    source: string,
    call: ModelCall,
    known: KnownRequest,
    expected: ExpectedPrompt | null,
  ) {
    super(run, state, source)
    this.#call = call
    this.known = known
    this.expected = expected
  }

  /** Says what the prompt is made of, unless that was said of the call this is a try of. */
  tellPrompt(said?: RequestAnatomy): void {
    const { anatomy } = this.known
    this.#isPromptTold = true
    if (anatomy === undefined || (said && isSamePrompt(said, anatomy))) return
    this.emit("prompt_assembled", promptAssembledOf(anatomy), { inferredBy: "dialects" })
  }

  /** Each request on the wire is an attempt of this call; what the application built is kept beside it as the prompt before. */
  override wireTarget(): WireTarget {
    if (!this.#isRendered) this.promptRendered({ prompt: this.#call.request })
    return {
      step: this,
      notes: {
        attemptNo: ++this.#attempts,
        saidPrompt: this.known.anatomy,
        cacheUse: this.#call.cacheUse,
        expected: this.expected,
      },
      onCall: (call) => {
        this.#lastWire = call
        this.#openWires++
      },
      onEnd: () => {
        this.#openWires--
        if (this.#endsWithWire && this.#openWires === 0) this.#endAsWireDid()
      },
    }
  }

  override promptRendered(prompt: RenderedPrompt): void {
    this.#isRendered = true
    super.promptRendered(prompt)
  }

  get send(): ModelSend {
    const headersNow = (): ModelSend["headers"] => this.#correlatingHeaders()
    return {
      signal: this.signal,
      // Asked when the client takes them: one that is made inside the call reads `recorder.fetch` before that, but after `send` was handed out.
      get headers() {
        return headersNow()
      },
    }
  }

  /** None where no `recorder.fetch` and no proxy would take them off again: they must not leave the machine. */
  #correlatingHeaders(): ModelSend["headers"] {
    const { builder } = this.run
    if (!builder.correlatesByHeader) return {}
    return { [STEP_HEADER]: `${this.runId}/${this.id}` }
  }

  override hasWire(): boolean {
    return this.#lastWire !== undefined
  }

  override endWithWire(): boolean {
    this.#endsWithWire = this.#openWires > 0
    return this.#endsWithWire
  }

  #endAsWireDid(): void {
    const finished = this.#lastWire?.finished
    this.endModel(finished ? { status: statusOf(finished), err: finished.err } : {})
  }

  chunk(bytes: Uint8Array): void {
    try {
      const micros = this.monoUs() - this.state.openedAt.monoUs
      this.#firstByteMs ??= micros / 1000
      this.#stream ??= this.captureResponse("model_result", "response_ref")
      this.#stream.write(bytes, micros)
      this.#folder ??= folderFor(this.known.dialect ?? dialectOfBytes(bytes))
      this.#folder.push(bytes, micros / 1000)
    } catch {
      // Telemetry: the answer still reaches the application.
    }
  }

  attempt(call: ModelCall): ModelStep {
    return openModelStep(this, call, ++this.#attempts)
  }

  override end(outcome: StepOutcome = {}): void {
    this.endModel({
      ...(outcome.err === undefined ? {} : { err: outcome.err }),
      ...(outcome.status === undefined ? {} : { status: outcome.status }),
      ...(outcome.body === undefined ? {} : { response: outcome.body }),
    })
  }

  endModel(given: { response?: unknown; responseMimeType?: string; err?: unknown } & ModelDescription): void {
    if (!this.close()) return
    if (!this.#isPromptTold && this.#lastWire?.known.anatomy === undefined) this.tellPrompt()
    this.run.builder.openCalls.delete(this.id)
    const bodies = new BodiesOfEvent(this.run.builder, "model_result")
    const { ref: responseRef, folded } = this.#answer(bodies, given)
    const said = folded?.text ?? given.outputText
    if (said !== undefined && said !== "" && this.state.attemptNo === undefined) judgeOutput(this, said, false)
    const stamps = answerStamps(folded, bodies, this.summarize)
    const wire = this.#lastWire?.finished
    const failure = failureOf(given.err, wire ? undefined : folded, this.summarize)
    this.emitClose(
      "model_result",
      {
        provider: this.#call.provider,
        model_id: given.model ?? nameOrNull(wire?.model ?? folded?.model) ?? this.#call.model,
        response_ref: responseRef,
        latency_ms: this.endedAfterMs(),
        status: given.status ?? (failure ? "error" : "success"),
        http_status: given.httpStatus ?? (wire && wireStatusOf(wire)) ?? httpStatusOf(given.err),
        error_class: failure?.errorClass ?? null,
        error_ref: (failure && bodies.ref("error", failure.chain)) ?? null,
        error_summary: failure?.summary,
        first_byte_ms: given.firstByteMs ?? wire?.firstByteMs ?? this.#firstByteMs,
        provider_request_id: given.requestId ?? (wire && requestIdOf(wire)) ?? undefined,
        ...stamps,
        thinking_ms: given.thinkingMs ?? stamps.thinking_ms,
        finish_reason: given.finishReason ?? stamps.finish_reason,
        token_usage: usageOf(stamps.token_usage, given.usage),
        usage_ref: stamps.usage_ref ?? bodies.ref("usage", given.rawUsage),
        ...(given.requestedTools === undefined
          ? {}
          : {
              requested_tools: given.requestedTools as string[],
              requested_tool_ids:
                (given.requestedToolIds as string[] | undefined) ?? sameCalls(given.requestedTools, stamps),
            }),
        ...(given.outputText === undefined ? {} : summaryOf("output_summary", () => this.summarize(given.outputText!))),
      },
      bodies,
    )
  }

  /** The answer as it is stored, and as it reads. */
  #answer(
    bodies: BodiesOfEvent,
    given: { response?: unknown; responseMimeType?: string },
  ): { ref: string | null; folded: FoldedResponse | undefined } {
    if (this.#stream) {
      const ref = bodies.addStreamed("response", given.responseMimeType ?? "text/event-stream", this.#stream.finish())
      return { ref, folded: foldedBy(this.#folder) }
    }
    const wire = this.#lastWire?.finished?.folded
    const told = bodies.add("response", given.response)
    if (told !== undefined) return { ref: told.hash, folded: wire ?? foldedTold(this.known.dialect, told.given) }
    // The bytes came with the attempt; the call only names them.
    const received = this.#lastWire?.step.response
    if (received) bodies.refs.push(received)
    return { ref: received?.artifact_hash ?? null, folded: wire }
  }
}

/** The application may name what was asked for by itself; the ids are those of the answer where it names the same calls. */
function sameCalls(
  names: readonly string[],
  read: { requested_tools: string[] | undefined; requested_tool_ids: (string | null)[] | undefined },
): (string | null)[] | undefined {
  const isSame =
    names.length === read.requested_tools?.length && names.every((name, at) => name === read.requested_tools![at])
  return isSame ? read.requested_tool_ids : undefined
}

const folderFor = (dialect: Dialect | undefined): ResponseFolder => (dialect ? responseFolder(dialect) : NOTHING_READ)

const NOTHING_READ: ResponseFolder = {
  push: () => {},
  answerIfOver: () => undefined,
  finish: () => {
    throw new Error("an answer in no known protocol")
  },
}

function foldedBy(folder: ResponseFolder | undefined): FoldedResponse | undefined {
  try {
    return folder?.finish()
  } catch {
    return undefined
  }
}

/** Undefined where it is in no known protocol: an application may hand over anything it made of the answer. */
function foldedTold(asked: Dialect | undefined, answer: Uint8Array): FoldedResponse | undefined {
  try {
    const dialect = asked ?? dialectOfBytes(answer)
    return dialect && foldResponse(dialect, answer)
  } catch {
    return undefined
  }
}

/**
 * The counts as the provider gave them, read as everywhere; where its answer holds none, what the application read out of it. The two are
 * not mixed: they may count cached tokens differently.
 */
function usageOf(read: TokenUsage, told: Partial<TokenUsage> | undefined): TokenUsage {
  if (told === undefined || read.prompt !== null || read.completion !== null) return read
  const prompt = told.prompt ?? null
  const completion = told.completion ?? null
  const total = told.total ?? (prompt === null || completion === null ? null : prompt + completion)
  return { ...told, prompt, completion, total }
}

function parametersOf(request: unknown): (...names: string[]) => number | null {
  if (typeof request !== "object" || request === null) return () => null
  return (...names) => {
    for (const name of names) {
      try {
        const value = (request as Record<string, unknown>)[name]
        if (typeof value === "number" && Number.isFinite(value)) return value
      } catch {
        // An unreadable request has no parameters we know of.
      }
    }
    return null
  }
}

function httpStatusOf(err: unknown): number | null {
  try {
    const status = (err as { status?: unknown } | null | undefined)?.status
    return typeof status === "number" && Number.isInteger(status) && status >= 100 && status <= 999 ? status : null
  } catch {
    return null
  }
}
