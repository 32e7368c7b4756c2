import { types } from "node:util"
import type { TokenUsage } from "@orangebox/contract"
import type { Capture } from "../capture/capture.js"
import { learnHeaders } from "../capture/known-credentials.js"
import { asThrown } from "../described-error.js"
import { safeStringify } from "../safe-stringify.js"
import type { ModelCall, ModelDescription, ModelStep, Step } from "../step.js"
import { StepHandle } from "../step-handle.js"
import { safeHeaders } from "../wire/safe-headers.js"

/**
 * Middleware for `wrapLanguageModel` of the AI SDK: every call of the model becomes a model step below the given one. What the application
 * built (the call options, after all other middleware) is kept as the prompt before; with a provider that was made with
 * `fetch: recorder.fetch`, what went over the wire is kept below it, as attempts of the same call.
 *
 * ```ts
 * const model = wrapLanguageModel({ model: provider("model-x"), middleware: recordAiSdk(step) })
 * ```
 */
export function recordAiSdk(step: Step): AiSdkMiddleware {
  return {
    specificationVersion: "v3",
    async wrapGenerate({ doGenerate, model, params }) {
      if (step.isReplaying) return replayedResult(step, model, params)
      const call = startCall(step, model, params)
      try {
        const result = await (isCorrelated(call) ? model.doGenerate(withHeaders(params, call)) : doGenerate())
        call.endModel({ ...describeResult(result), response: keptResult(result) })
        return result
      } catch (err) {
        call.endModel({ err: asThrown(err), ...statusOf(err) })
        throw err
      }
    },
    async wrapStream({ doStream, model, params }) {
      if (step.isReplaying) return replayedStream(step, model, params)
      const call = startCall(step, model, params)
      try {
        const result = await (isCorrelated(call) ? model.doStream(withHeaders(params, call)) : doStream())
        // With recording off there is nothing to watch, and the stream stays the very one the provider made.
        return call instanceof StepHandle ? { ...result, stream: recordedParts(result.stream, call) } : result
      } catch (err) {
        call.endModel({ err: asThrown(err), ...statusOf(err) })
        throw err
      }
    },
  }
}

/** The same call through the handle that answers from a tape; the model itself is asked only where the tape sends it to the world. */
async function replayedResult<P extends AiSdkCallOptions, R extends AiSdkResult>(
  step: Step,
  model: AiSdkModel & { doGenerate(params: P): PromiseLike<R> },
  params: P,
): Promise<R> {
  return step
    .model<R>(callOf(step, model, params), async (_send, call) => {
      const result = await model.doGenerate(withHeaders(params, call))
      call.endModel({ ...describeResult(result), response: keptResult(result) })
      return result
    })
    .catch(rethrown)
}

/** A stream comes off the tape as the parts it had. One that is really asked for is read whole first: a replay is in no hurry. */
async function replayedStream<P extends AiSdkCallOptions, T extends AiSdkPart, R extends { stream: ReadableStream<T> }>(
  step: Step,
  model: AiSdkModel & { doStream(params: P): PromiseLike<R> },
  params: P,
): Promise<R> {
  const heard = await step
    .model<HeardParts<T> | ReadableStream<T>>(callOf(step, model, params), async (_send, call) => {
      const { stream } = await model.doStream(withHeaders(params, call))
      return hear(recordedParts(stream, call))
    })
    .catch(rethrown)
  return { stream: streamOf(heard instanceof ReadableStream ? await hearAgain(heard) : heard) } as R
}

interface HeardParts<T> {
  readonly parts: readonly T[]
  /** What the stream broke off with. */
  readonly failure: unknown
}

async function hear<T>(stream: ReadableStream<T>): Promise<HeardParts<T>> {
  const parts: T[] = []
  try {
    for await (const part of stream) parts.push(part)
    return { parts, failure: undefined }
  } catch (failure) {
    return { parts, failure }
  }
}

/** JSON has no errors and no dates: what a part told of is put back as the application knew it. */
async function hearAgain<T extends AiSdkPart>(stream: ReadableStream<T>): Promise<HeardParts<T>> {
  const { parts, failure } = await hear(stream)
  const isTold = parts.some(({ type }) => type === "error")
  const revived = parts.map((part) => {
    const { timestamp } = part as { timestamp?: unknown }
    if (part.type === "error") return { ...part, error: asAiSdkError(failure) ?? part.error }
    return typeof timestamp === "string" ? { ...part, timestamp: new Date(timestamp) } : part
  })
  return { parts: revived, failure: isTold ? undefined : asAiSdkError(failure) }
}

function streamOf<T>({ parts, failure }: HeardParts<T>): ReadableStream<T> {
  let next = 0
  return new ReadableStream<T>(
    {
      pull(controller) {
        if (next < parts.length) controller.enqueue(parts[next++]!)
        else if (failure === undefined) controller.close()
        else controller.error(failure)
      },
    },
    { highWaterMark: 0 },
  )
}

const rethrown = (err: unknown): never => {
  throw asAiSdkError(err)
}

/** The AI SDK tells by marks, not by class, which errors are worth another try; an error off a tape gets the marks it had. */
function asAiSdkError(err: unknown): unknown {
  if (!(err instanceof Error) || err.name !== "AI_APICallError") return err
  const { status } = err as { status?: unknown }
  const statusCode = typeof status === "number" ? status : undefined
  const isRetryable = statusCode !== undefined && (RETRIED.has(statusCode) || statusCode >= 500)
  return Object.assign(err, {
    [Symbol.for("vercel.ai.error")]: true,
    [Symbol.for("vercel.ai.error.AI_APICallError")]: true,
    statusCode,
    isRetryable,
  })
}

const RETRIED = new Set([408, 409, 429])

function statusOf(err: unknown): Pick<ModelDescription, "httpStatus"> {
  const status: unknown = types.isNativeError(err) ? (err as { statusCode?: unknown }).statusCode : undefined
  return typeof status === "number" && Number.isInteger(status) && status >= 100 && status <= 999
    ? { httpStatus: status }
    : {}
}

/** The part of the AI SDK's middleware that is used, told by its shape: the package itself is not needed to record. */
export interface AiSdkMiddleware {
  readonly specificationVersion: "v3"
  wrapGenerate<P extends AiSdkCallOptions, R extends AiSdkResult>(options: {
    readonly doGenerate: () => PromiseLike<R>
    readonly params: P
    readonly model: AiSdkModel & { doGenerate(params: P): PromiseLike<R> }
  }): Promise<R>
  wrapStream<P extends AiSdkCallOptions, T extends AiSdkPart, R extends { stream: ReadableStream<T> }>(options: {
    readonly doStream: () => PromiseLike<R>
    readonly params: P
    readonly model: AiSdkModel & { doStream(params: P): PromiseLike<R> }
  }): Promise<R>
}

export interface AiSdkModel {
  readonly provider: string
  readonly modelId: string
}

export interface AiSdkCallOptions {
  readonly prompt?: unknown
  readonly headers?: Readonly<Record<string, string | undefined>>
}

export interface AiSdkResult {
  readonly content: readonly { readonly type: string }[]
  readonly finishReason: AiSdkFinishReason
  readonly usage: AiSdkUsage
  readonly response?: { readonly modelId?: string }
}

export interface AiSdkPart {
  readonly type: string
  readonly delta?: unknown
  readonly error?: unknown
  readonly modelId?: unknown
  readonly finishReason?: AiSdkFinishReason
  readonly usage?: AiSdkUsage
}

interface AiSdkFinishReason {
  readonly unified: string
  readonly raw: string | undefined
}

interface AiSdkUsage {
  readonly inputTokens: {
    readonly total: number | undefined
    readonly cacheRead: number | undefined
    readonly cacheWrite: number | undefined
  }
  readonly outputTokens: { readonly total: number | undefined; readonly reasoning: number | undefined }
  readonly raw?: unknown
}

function startCall(step: Step, model: AiSdkModel, params: AiSdkCallOptions): ModelStep {
  const asked = callOf(step, model, params)
  const call = step instanceof StepHandle ? step.startClientModel(asked) : step.startModel(asked)
  call.promptRendered({ prompt: asked.request })
  return call
}

function callOf(step: Step, model: AiSdkModel, params: AiSdkCallOptions): ModelCall {
  const { capture } = step as { readonly capture?: Capture }
  if (capture !== undefined && params.headers !== undefined) learnHeaders(capture, textHeaders(params.headers))
  return { provider: model.provider, model: model.modelId, request: plainOptions(params) }
}

/** The call options as JSON can hold them: secrets in headers masked, bytes of files in base64, the abort signal left out. */
function plainOptions(params: AiSdkCallOptions): unknown {
  const { abortSignal: _, headers, prompt, ...rest } = params as AiSdkCallOptions & { abortSignal?: unknown }
  return {
    ...rest,
    prompt: Array.isArray(prompt) ? prompt.map(plainMessage) : prompt,
    ...(headers === undefined ? {} : { headers: maskedHeaders(headers) }),
  }
}

function plainMessage(message: { readonly content?: unknown } | null): unknown {
  if (!Array.isArray(message?.content)) return message
  return { ...message, content: message.content.map(plainPart) }
}

function plainPart(part: unknown): unknown {
  const { data } = (part ?? {}) as { data?: unknown }
  return types.isUint8Array(data) ? { ...(part as object), data: Buffer.from(data).toString("base64") } : part
}

const PARTS_TYPE = "application/x-ndjson"
const lineOf = (part: AiSdkPart): Buffer => Buffer.from(`${safeStringify(plainPart(part))}\n`)

function maskedHeaders(headers: NonNullable<AiSdkCallOptions["headers"]>): Record<string, string> {
  return Object.fromEntries(safeHeaders(textHeaders(headers)))
}

const textHeaders = (headers: NonNullable<AiSdkCallOptions["headers"]>): [string, string][] =>
  Object.entries(headers).filter((entry): entry is [string, string] => typeof entry[1] === "string")

const isCorrelated = (call: ModelStep): boolean => Object.keys(call.send.headers).length > 0

function withHeaders<P extends AiSdkCallOptions>(params: P, call: ModelStep): P {
  return { ...params, headers: { ...params.headers, ...call.send.headers } }
}

function describeResult(result: AiSdkResult): ModelDescription {
  const texts = result.content.flatMap((part) => ("text" in part && part.type === "text" ? [String(part.text)] : []))
  return {
    ...describeEnd(result),
    ...(result.response?.modelId === undefined ? {} : { model: result.response.modelId }),
    ...toolsOf(result.content),
    ...(texts.length === 0 ? {} : { outputText: texts.join("\n") }),
  }
}

function describeEnd({ finishReason, usage }: Pick<AiSdkPart, "finishReason" | "usage">): ModelDescription {
  const reason = finishReason?.raw ?? finishReason?.unified
  return {
    ...(reason ? { finishReason: reason } : {}),
    ...(usage ? { usage: tokensOf(usage) } : {}),
    ...(usage?.raw === undefined ? {} : { rawUsage: usage.raw }),
  }
}

function tokensOf({ inputTokens, outputTokens }: AiSdkUsage): Partial<TokenUsage> {
  return {
    prompt: inputTokens?.total ?? null,
    completion: outputTokens?.total ?? null,
    cache_read: inputTokens?.cacheRead ?? null,
    cache_write: inputTokens?.cacheWrite ?? null,
    reasoning: outputTokens?.reasoning ?? null,
  }
}

function toolsOf(
  parts: readonly { readonly type: string; readonly toolName?: unknown; readonly toolCallId?: unknown }[],
): Pick<ModelDescription, "requestedTools" | "requestedToolIds"> {
  const calls = parts.filter(({ type }) => type === "tool-call")
  if (calls.length === 0) return {}
  return {
    requestedTools: calls.map(({ toolName }) => String(toolName)),
    requestedToolIds: calls.map(({ toolCallId: id }) => (typeof id === "string" && id !== "" ? id : null)),
  }
}

/** Without what the provider says about its own request and answer: that is the wire's to tell, and names secrets. */
function keptResult(result: AiSdkResult): unknown {
  const { request: _, response: __, ...kept } = result as AiSdkResult & { request?: unknown }
  return { ...kept, content: result.content.map(plainPart) }
}

/** The same parts; each is in the journal before the caller has it, as a line of JSON, unless the wire keeps the bytes they came from. */
function recordedParts<T extends AiSdkPart>(stream: ReadableStream<T>, call: ModelStep): ReadableStream<T> {
  const reader = stream.getReader()
  const seen = new SeenParts()
  const isOnWire = (call as { hasWire?: () => boolean }).hasWire?.() ?? false
  const end = (how: { err?: unknown; status?: "partial" }): void =>
    call.endModel({ ...seen.describe(), responseMimeType: PARTS_TYPE, ...how })
  return new ReadableStream<T>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read()
          if (done) {
            end(seen.failure === undefined ? {} : { err: seen.failure })
            controller.close()
            return
          }
          seen.take(value)
          if (!isOnWire) call.chunk(lineOf(value))
          controller.enqueue(value)
        } catch (err) {
          end({ err: asThrown(err) })
          controller.error(err)
        }
      },
      async cancel(reason) {
        end({ status: "partial" })
        await reader.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
}

class SeenParts {
  failure: unknown
  #text = ""
  #end: ModelDescription = {}
  #model: ModelDescription = {}
  readonly #toolCalls: { readonly type: string }[] = []

  take(part: AiSdkPart): void {
    if (part.type === "text-delta") this.#text += String(part.delta)
    else if (part.type === "tool-call") this.#toolCalls.push(part)
    else if (part.type === "error") this.failure = part.error ?? new Error("the stream told of an error")
    else if (part.type === "finish") this.#end = describeEnd(part)
    else if (part.type === "response-metadata" && typeof part.modelId === "string")
      this.#model = { model: part.modelId }
  }

  describe(): ModelDescription {
    return {
      ...this.#model,
      ...this.#end,
      ...toolsOf(this.#toolCalls),
      ...(this.#text === "" ? {} : { outputText: this.#text }),
    }
  }
}
