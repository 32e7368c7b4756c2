import type { TokenUsage } from "@orangebox/contract"
import { BodiesOfEvent } from "./bodies-of-event.js"
import type { CapturedStream } from "./capture/captured-stream.js"
import { describeError } from "./described-error.js"
import { askGuards } from "./guard.js"
import { summaryOf } from "./lifecycle-events.js"
import type { RunState } from "./run-state.js"
import { GENERIC_CANON_VERSION, modelSignature } from "./signature.js"
import type { ModelCall, ModelDescription, ModelSend, ModelStep, RenderedPrompt, StepOutcome } from "./step.js"
import { StepHandle, type StepState } from "./step-handle.js"
import { nameOrNull } from "./wire/contract-values.js"
import { STEP_HEADER, type WireTarget } from "./wire/fetch-edge.js"
import { requestIdOf, statusOf, toolNamesOf, type WireCall, httpStatusOf as wireStatusOf } from "./wire/wire-call.js"

/** Opens the step of a model call: the request is recorded before anything is sent. */
export function openModelStep(parent: StepHandle, call: ModelCall, attemptNo: number | undefined): ModelStep {
  parent.assertMayGoOn()
  parent.assertHasManifest()
  const { run } = parent
  const bodies = new BodiesOfEvent(run.builder, "model_called")
  const request = bodies.add("request", call.request ?? null)!
  const signature = modelSignature(call.provider, call.request, request)
  const step = new ModelStepHandle(run, parent.newChild(attemptNo, true), parent.source, call)
  const parameters = parametersOf(call.request)
  step.emit(
    "model_called",
    {
      provider: call.provider,
      model_id: call.model,
      model_api_version: call.apiVersion ?? null,
      temperature: parameters("temperature"),
      top_p: parameters("top_p", "topP"),
      max_tokens: parameters("max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens"),
      seed: parameters("seed"),
      request_ref: request.hash,
      capture_mode: parent.capture.mode,
      call_signature_hash: signature,
      canon_version: GENERIC_CANON_VERSION,
    },
    { attributes: call.attributes, links: step.followLinks(), ...bodies.extras() },
  )
  if (attemptNo !== undefined) return step
  try {
    askGuards(run.guards, { kind: "model", name: call.model, args: call.request, signature, step })
  } catch (err) {
    step.endModel({ err })
    throw err
  }
  return step
}

class ModelStepHandle extends StepHandle implements ModelStep {
  readonly #call: ModelCall
  #stream: CapturedStream | undefined
  #attempts = 0
  #lastWire: WireCall | undefined
  #openWires = 0
  #endsWithWire = false
  #isRendered = false

  constructor(run: RunState, state: StepState, source: string, call: ModelCall) {
    super(run, state, source)
    this.#call = call
  }

  /** Each request on the wire is an attempt of this call; what the application built is kept beside it as the prompt before. */
  override wireTarget(): WireTarget {
    if (!this.#isRendered) this.promptRendered({ prompt: this.#call.request })
    return {
      step: this,
      notes: { attemptNo: ++this.#attempts },
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
    builder.callsByHeader.set(this.id, this)
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
      this.#stream ??= this.captureResponse("model_result", "response_ref")
      this.#stream.write(bytes, this.monoUs() - this.state.openedAt.monoUs)
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
    this.run.builder.callsByHeader.delete(this.id)
    const result = { ...describeWire(this.#lastWire), ...given }
    const bodies = new BodiesOfEvent(this.run.builder, "model_result")
    const error = result.err === undefined ? undefined : describeError(result.err, this.summarize)
    const responseRef = this.#responseRef(bodies, result)
    const usageRef = bodies.ref("usage", result.rawUsage)
    this.emitClose(
      "model_result",
      {
        provider: this.#call.provider,
        model_id: result.model ?? this.#call.model,
        finish_reason: result.finishReason ?? null,
        token_usage: usageOf(result.usage),
        response_ref: responseRef,
        latency_ms: this.elapsedMs(),
        status: result.status ?? (error ? "error" : "success"),
        http_status: result.httpStatus ?? httpStatusOf(result.err),
        error_class: error?.errorClass ?? null,
        error_ref: (error && bodies.ref("error", error.chain)) ?? null,
        error_summary: error?.summary,
        first_byte_ms: result.firstByteMs,
        thinking_ms: result.thinkingMs,
        usage_ref: usageRef,
        provider_request_id: result.requestId,
        requested_tools: result.requestedTools as string[] | undefined,
        ...(result.outputText === undefined
          ? {}
          : summaryOf("output_summary", () => this.summarize(result.outputText!))),
      },
      bodies,
    )
  }

  #responseRef(bodies: BodiesOfEvent, result: { response?: unknown; responseMimeType?: string }): string | null {
    if (this.#stream) {
      return bodies.addStreamed("response", result.responseMimeType ?? "text/event-stream", this.#stream.finish())
    }
    const given = bodies.ref("response", result.response)
    if (given !== undefined) return given
    // The bytes came with the attempt; the call only names them.
    const received = this.#lastWire?.step.response
    if (received) bodies.refs.push(received)
    return received?.artifact_hash ?? null
  }
}

function usageOf(usage: Partial<TokenUsage> | undefined): TokenUsage {
  const prompt = usage?.prompt ?? null
  const completion = usage?.completion ?? null
  return {
    ...usage,
    prompt,
    completion,
    total: usage?.total ?? (prompt === null || completion === null ? null : prompt + completion),
  }
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

/** What the wire said about the answer, for all that the caller does not say itself. */
function describeWire(call: WireCall | undefined): ModelDescription {
  const finished = call?.finished
  if (!finished) return {}
  const { folded, firstByteMs } = finished
  const model = nameOrNull(finished.model)
  const finishReason = nameOrNull(folded?.finishReason)
  const httpStatus = wireStatusOf(finished)
  const requestId = requestIdOf(finished)
  const requestedTools = toolNamesOf(finished)
  return {
    ...(model === null ? {} : { model }),
    ...(finishReason === null ? {} : { finishReason }),
    ...(folded ? { usage: folded.usage.tokens } : {}),
    ...(folded?.usage.raw ? { rawUsage: folded.usage.raw } : {}),
    ...(httpStatus === null ? {} : { httpStatus }),
    ...(requestId === null ? {} : { requestId }),
    ...(firstByteMs === undefined ? {} : { firstByteMs }),
    ...(requestedTools.length === 0 ? {} : { requestedTools }),
    ...(folded && folded.text !== "" ? { outputText: folded.text } : {}),
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
