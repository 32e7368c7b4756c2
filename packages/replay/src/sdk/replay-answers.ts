import { OrangeboxError } from "@orangebox/contract"
import {
  type Capture,
  callOfRequest,
  type Fetch,
  type ModelCall,
  type ModelSend,
  type ModelStep,
  type RequestHead,
  type RetrievalCall,
  type RetrievedChunk,
  recordingFetch,
  type Step,
  type ToolCall,
  type ToolContext,
  type ToolStep,
  type WireTarget,
} from "@orangebox/recorder"
import type { Denied, Outcome, Served } from "../match/ask.js"
import type { ReplaySession } from "../match/session.js"
import { type WireAnswer, wireAnswer } from "../stream/wire-answer.js"
import type { TapeCall } from "../tape/tape.js"
import { AnswerQueue } from "./answer-queue.js"
import { retrievalAsk } from "./ask-of-event.js"
import { ReplayDivergence } from "./replay-divergence.js"
import { ReplayModelStep, ReplayStep } from "./replay-steps.js"
import { servedResponse } from "./served-response.js"
import { isOfParts, servedError, servedParts, servedValue } from "./served-value.js"
import type { TapeSink } from "./tape-sink.js"

/** Awaited before the call of a step is answered by a model, recorded or real: the agent does not work in its files then. */
export type BeforeAnswer = (stepId: string) => Promise<void>

/**
 * Answers what agents ask, in the place of the world. By the time it is called the step is open, so its question was already put to the
 * session by the sink; what is left is to hand the answer over in the form the caller expects.
 */
export class ReplayAnswers {
  readonly #session: ReplaySession
  readonly #sink: TapeSink
  readonly #queue: AnswerQueue
  readonly #openModels = new Map<string, ModelStep>()

  readonly #beforeAnswer: BeforeAnswer | undefined

  constructor(session: ReplaySession, sink: TapeSink, beforeAnswer?: BeforeAnswer) {
    this.#session = session
    this.#beforeAnswer = beforeAnswer
    this.#sink = sink
    this.#queue = new AnswerQueue(session)
  }

  async answerTool<T>(
    call: ToolCall<T>,
    context: ToolContext,
    run: (context: ToolContext) => T | PromiseLike<T>,
  ): Promise<T> {
    const outcome = this.#outcomeOf(context.step)
    if (outcome.outcome === "live") {
      return run({ ...context, step: new ReplayStep(context.step, this) })
    }
    const step = context.step as ToolStep
    if (outcome.outcome === "denied") {
      const result = blocked(call.name, outcome)
      step.endTool({ result, status: "success" })
      return result as T
    }
    await this.turnOf(outcome)
    this.#session.servedWhole(outcome.source?.stepId ?? "")
    const { answer, bytes } = outcome
    if (answer.error !== null) {
      const err = servedError(answer.error, null)
      step.endTool({ err, status: answer.status, ...(bytes === null ? {} : { result: bytes }) })
      throw err
    }
    step.endTool({
      status: answer.status,
      ...(bytes === null ? {} : { result: bytes }),
      ...(answer.exitCode === null ? {} : { exitCode: answer.exitCode }),
    })
    return servedValue(answer, bytes) as T
  }

  async answerModel<T>(
    call: ModelCall<T>,
    send: ModelSend,
    step: ModelStep,
    ask: (send: ModelSend, step: ModelStep) => T | PromiseLike<T>,
  ): Promise<T> {
    const outcome = this.#outcomeOf(step)
    if (outcome.outcome === "denied") throw denial(call.model, outcome)
    if (this.#beforeAnswer) await this.#beforeAnswer(step.id)
    if (outcome.outcome === "live" || this.#cameThroughClient(outcome)) {
      // The client reads the recorded bytes again, and so gives the agent the very object it gave before: a stream, a class of its own.
      const asked = this.#session.state.tickets
      this.#openModels.set(step.id, step)
      try {
        const reply = await ask(send, new ReplayModelStep(step, this))
        if (outcome.outcome === "served" && this.#session.state.tickets === asked) throw unheard(call.model)
        return reply
      } finally {
        this.#openModels.delete(step.id)
      }
    }
    await this.turnOf(outcome)
    this.#session.servedWhole(outcome.source?.stepId ?? "")
    const { answer, bytes } = outcome
    const described = {
      ...(bytes === null || answer.body === null ? {} : { response: bytes, responseMimeType: answer.body.mimeType }),
      status: answer.status,
      ...(answer.httpStatus === null ? {} : { httpStatus: answer.httpStatus }),
      ...(answer.model === null ? {} : modelFacts(answer.model)),
    }
    const err = answer.error === null ? undefined : servedError(answer.error, answer.httpStatus)
    step.endModel({ ...described, ...(err === undefined ? {} : { err }) })
    // The application had the first parts before anything failed.
    if (bytes !== null && isOfParts(answer)) return servedParts(bytes, err) as T
    if (err !== undefined) throw err
    return servedValue(answer, bytes) as T
  }

  /** The model call that a request belongs to, as the recorder tells it. */
  openModel(request: RequestHead, body: Uint8Array): Step | undefined {
    return callOfRequest(this.#openModels, request, body)
  }

  expectRetrieval(call: RetrievalCall, capture: Capture | undefined): void {
    this.#sink.expectRetrieval(retrievalAsk(call, capture))
  }

  async answerRetrieval<T extends readonly RetrievedChunk[]>(
    call: RetrievalCall,
    context: ToolContext,
    retrieve: (context: ToolContext) => T | PromiseLike<T>,
  ): Promise<T> {
    const outcome = this.#outcomeOf(context.step)
    if (outcome.outcome === "live") return retrieve({ ...context, step: new ReplayStep(context.step, this) })
    if (outcome.outcome === "denied") throw denial(call.retriever, outcome)
    await this.turnOf(outcome)
    this.#session.servedWhole(outcome.source?.stepId ?? "")
    if (outcome.answer.error !== null) throw servedError(outcome.answer.error, null)
    return this.#chunks(outcome) as readonly RetrievedChunk[] as T
  }

  /** A `fetch` whose requests are recorded below a step and answered from the tape. */
  fetchFor(stepOf: (head: RequestHead, body: Uint8Array) => Step | undefined): Fetch {
    let current: string | undefined
    // The call is open when its target hears of it, and the upstream is asked for right after: nothing comes between.
    return recordingFetch(
      (head, body) => {
        const step = stepOf(head, body)
        if (!step) return undefined
        const target = targetOf(step)
        return {
          ...target,
          onCall: (call) => {
            current = call.step.id
            target.onCall?.(call)
          },
        }
      },
      () => this.#upstream(current),
    )
  }

  #upstream(stepId: string | undefined): Fetch {
    return async (input, init) => {
      const outcome = stepId === undefined ? undefined : this.#sink.outcomeOf(stepId)
      const signal = init?.signal ?? (input instanceof Request ? input.signal : undefined)
      if (outcome === undefined) throw unheard("fetch")
      const answer = wireAnswer(outcome, this.#session.policy)
      if (this.#beforeAnswer) await this.#beforeAnswer(stepId!)
      if (answer.does === "forward") return this.#forward(answer, input, init)
      if (outcome.outcome === "served") await this.turnOf(outcome)
      signal?.throwIfAborted()
      return servedResponse(answer, signal ?? undefined)
    }
  }

  async #forward(
    answer: Extract<WireAnswer, { does: "forward" }>,
    input: Parameters<Fetch>[0],
    init: Parameters<Fetch>[1],
  ): Promise<Response> {
    this.#session.wentLive()
    if (!answer.isChanged) return globalThis.fetch(input, init)
    const request = new Request(input, init)
    const { method, signal } = request
    const headers = new Headers(request.headers)
    headers.delete("content-length")
    const body = new Uint8Array(await request.arrayBuffer())
    const sent = answer.rewrite({ method, url: request.url, headers: [...headers], body })
    return globalThis.fetch(sent.url ?? request.url, { method, headers, body: Buffer.from(sent.body), signal })
  }

  #outcomeOf(step: Step): Exclude<Outcome, { outcome: "diverged" }> {
    const outcome = this.#sink.outcomeOf(step.id)
    if (outcome === undefined) throw unheard(step.id)
    if (outcome.outcome === "diverged") throw new ReplayDivergence(outcome.divergence)
    return outcome
  }

  /** Resolves when an answer may be given: concurrent calls are answered in their recorded order. */
  async turnOf({ source }: Served): Promise<void> {
    if (source) await this.#queue.turnOf(source)
  }

  /** Whether the answer was handed out while its bytes still came: then there was no value to record, only the bytes of its last try. */
  #cameThroughClient({ source, mode }: Served): boolean {
    if (source === null || mode === "simulated") return false
    const hash = source.answer?.body?.hash
    return this.#session.tape.calls.some(
      (call) => call.parentStepId === source.stepId && call.wire !== null && call.answer?.body?.hash === hash,
    )
  }

  #chunks({ bytes }: Served): RetrievedChunk[] {
    const list = JSON.parse(Buffer.from(bytes ?? Buffer.from("[]")).toString("utf8")) as Record<string, unknown>[]
    return list.map((entry) => ({
      chunkId: String(entry["chunk_id"]),
      ...(typeof entry["document_id"] === "string" ? { documentId: entry["document_id"] } : {}),
      ...(typeof entry["score"] === "number" ? { score: entry["score"] } : {}),
      ...(typeof entry["source_uri"] === "string" ? { sourceUri: entry["source_uri"] } : {}),
      ...this.#content(entry),
    }))
  }

  #content(entry: Record<string, unknown>): { content?: unknown } {
    if ("content" in entry) return { content: entry["content"] }
    const hash = entry["content_ref"]
    const bytes = typeof hash === "string" ? this.#session.tape.bodies.get(hash) : undefined
    return bytes ? { content: Buffer.from(bytes).toString("utf8") } : {}
  }
}

/** A model step of the recorder knows which try of it a request is; any other step only takes it in. */
function targetOf(step: Step): WireTarget {
  const own = (step as { wireTarget?: () => WireTarget }).wireTarget
  return own ? own.call(step) : { step }
}

function modelFacts(facts: NonNullable<TapeCall["answer"]>["model"] & object): object {
  return {
    ...(facts.modelId === null ? {} : { model: facts.modelId }),
    ...(facts.finishReason === null ? {} : { finishReason: facts.finishReason }),
    usage: facts.usage,
    ...(facts.requestId === null ? {} : { requestId: facts.requestId }),
    ...(facts.requestedTools.length === 0 ? {} : { requestedTools: facts.requestedTools }),
    ...(facts.outputSummary === null ? {} : { outputText: facts.outputSummary }),
  }
}

const blocked = (name: string, { reason }: Denied): string => `[blocked by replay] ${name} was not run: ${reason}`

const denial = (name: string, { reason }: Denied): OrangeboxError =>
  new OrangeboxError("EFFECT_DENIED", { what: `${name} was not run: ${reason}` })

/** What is to be answered without having been asked in the sink would get past the tape, and must not. */
const unheard = (name: string): OrangeboxError =>
  new OrangeboxError("COVERAGE_GAP", {
    what: `${name}: the call did not come through the recorder, so nothing on the tape could answer it`,
    next: "Give the client step.fetch or recorder.fetch",
  })
