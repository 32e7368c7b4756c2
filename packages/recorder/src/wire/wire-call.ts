import { type PayloadOf, summarizeText, type TokenUsage } from "@orangebox/contract"
import {
  callSignature,
  type Dialect,
  detectDialect,
  type FoldedResponse,
  type RequestAnatomy,
  type ResponseFolder,
  readBody,
  readRequest,
  responseFolder,
} from "@orangebox/dialects"
import type { BodiesOfEvent } from "../bodies-of-event.js"
import { describeError } from "../described-error.js"
import { summaryOf } from "../lifecycle-events.js"
import { type HeaderList, safeHeaders, safeUrl } from "./safe-headers.js"

export interface WireRequest {
  readonly method: string
  readonly url: string
  readonly headers: HeaderList
  /** The bytes that go out, content-decoded. */
  readonly body: Uint8Array
}

export interface WireResponseHead {
  readonly status: number
  readonly headers: HeaderList
}

/** How an exchange came to its end. */
export type WireEnd = "complete" | "client_abort" | "upstream_reset" | "timeout"

/** What an observer of the wire knows beyond the bytes, such as that a call repeats another. */
export interface WireNotes {
  readonly attemptNo?: number
  readonly inferredBy?: string
  readonly isAuxiliary?: boolean
}

/** What a request is, told before it is recorded. */
export interface KnownRequest {
  readonly dialect: Dialect | undefined
  readonly endpoint: string | undefined
  readonly anatomy: RequestAnatomy | undefined
}

/**
 * One exchange with a model, recorded as it goes over the wire: the request before it leaves, the answer's bytes as they come, and at the
 * end what they mean. The fetch edge and the proxy both feed it; it knows no sockets.
 */
export class WireCall {
  readonly step: WireStep
  readonly known: KnownRequest
  readonly #folder: ResponseFolder | undefined
  readonly #provider: string
  readonly #openedMonoUs: number
  readonly #index: [number, number][] = []
  #head: WireResponseHead | undefined
  #bytes = 0
  #firstByteMs: number | undefined
  #folded: FoldedResponse | undefined

  constructor(step: WireStep, known: KnownRequest, provider: string, openedMonoUs: number) {
    this.step = step
    this.known = known
    this.#provider = provider
    this.#openedMonoUs = openedMonoUs
    this.#folder = known.dialect && responseFolder(known.dialect)
  }

  responseStarted(head: WireResponseHead): void {
    this.#head = head
  }

  /** The next bytes of the answer, content-decoded. They are in the journal when this returns. */
  chunk(bytes: Uint8Array, monoUs: number): void {
    if (bytes.length === 0) return
    this.#firstByteMs ??= (monoUs - this.#openedMonoUs) / 1000
    this.#index.push([this.#bytes, monoUs - this.#openedMonoUs])
    this.#bytes += bytes.length
    this.step.writeChunk(bytes)
    try {
      this.#folder?.push(bytes)
    } catch {
      // Reading along is a courtesy; the bytes are kept whatever they mean.
    }
  }

  /** What the answer meant. Known once the exchange has ended. */
  get folded(): FoldedResponse | undefined {
    return this.#folded
  }

  end(how: WireEnd, err?: unknown): void {
    this.#folded = this.#fold()
    this.step.finishWire({
      how,
      err,
      provider: this.#provider,
      model: this.#folded?.model ?? this.known.anatomy?.model ?? null,
      head: this.#head,
      folded: this.#folded,
      firstByteMs: this.#firstByteMs,
      index: this.#index,
      bytes: this.#bytes,
    })
  }

  #fold(): FoldedResponse | undefined {
    try {
      return this.#bytes > 0 ? this.#folder?.finish() : undefined
    } catch {
      return undefined
    }
  }
}

/** The step a wire call writes to. */
export interface WireStep {
  readonly id: string
  readonly runId: string
  writeChunk(bytes: Uint8Array): void
  finishWire(end: FinishedWire): void
}

export interface FinishedWire {
  readonly how: WireEnd
  readonly err: unknown
  readonly provider: string
  readonly model: string | null
  readonly head: WireResponseHead | undefined
  readonly folded: FoldedResponse | undefined
  readonly firstByteMs: number | undefined
  readonly index: readonly (readonly [offset: number, micros: number])[]
  readonly bytes: number
}

export function knowRequest(request: WireRequest): KnownRequest {
  const address = addressOf(request)
  try {
    const body = readBody(request.body)
    const detected = detectDialect({ ...address, requestBody: body })
    if (!detected) return { dialect: undefined, endpoint: undefined, anatomy: undefined }
    const anatomy = detected.endpoint === "generate" ? readRequest(detected.dialect, body, address.path) : undefined
    return { dialect: detected.dialect, endpoint: detected.endpoint, anatomy }
  } catch {
    return { dialect: undefined, endpoint: undefined, anatomy: undefined }
  }
}

/** `model_called` of a request as it goes out, with everything that can be stamped at capture, and its bodies. */
export function modelCalledOf(
  request: WireRequest,
  known: KnownRequest,
  captureMode: "full" | "redacted" | "hashed",
  bodies: BodiesOfEvent,
): PayloadOf<"model_called"> {
  const { anatomy, dialect } = known
  const address = addressOf(request)
  const contentType = headerOf(request.headers, "content-type")
  const signature = callSignature({
    ...address,
    body: request.body,
    dialect,
    headers: Object.fromEntries(request.headers.map(([name, value]) => [name.toLowerCase(), value])),
    ...(contentType === undefined ? {} : { contentType }),
  })
  return {
    provider: providerOf(request, dialect),
    model_id: anatomy?.model ?? null,
    model_api_version: headerOf(request.headers, "anthropic-version") ?? null,
    temperature: anatomy?.sampling.temperature ?? null,
    top_p: anatomy?.sampling.topP ?? null,
    max_tokens: anatomy?.sampling.maxTokens ?? null,
    seed: anatomy?.sampling.seed ?? null,
    request_ref: bodies.addAs("request", request.body, contentType ?? "application/octet-stream"),
    capture_mode: captureMode,
    stream: anatomy?.stream ?? false,
    call_signature_hash: signature.sig,
    wire_digest: signature.wire,
    shape_digest: signature.shape,
    canon_version: signature.canonVersion,
    prefix_fingerprint: anatomy?.prefix.fingerprint ?? null,
    prefix_length: anatomy?.prefix.length ?? null,
    cache_use: "unknown",
    http_method: request.method,
    url: safeUrl(request.url),
    request_headers_ref: bodies.addAs(
      "request_headers",
      JSON.stringify(safeHeaders(request.headers)),
      "application/json",
    ),
  }
}

/** What the prompt was made of, derived from the request. */
export function promptAssembledOf(anatomy: RequestAnatomy): PayloadOf<"prompt_assembled"> {
  return {
    segments: anatomy.segments.map(({ segment }) => segment),
    total_length: anatomy.totalLength,
  }
}

export function modelResultOf(
  end: FinishedWire,
  latencyMs: number,
  bodies: BodiesOfEvent,
): Omit<PayloadOf<"model_result">, "response_ref"> {
  const { folded, head } = end
  const failure = failureOf(end)
  const rawUsage = folded?.usage.raw ?? null
  const requestId = head && (headerOf(head.headers, "request-id") ?? headerOf(head.headers, "x-request-id"))
  return {
    provider: end.provider,
    model_id: end.model,
    finish_reason: folded?.finishReason ?? null,
    token_usage: folded?.usage.tokens ?? NO_USAGE,
    latency_ms: latencyMs,
    status: statusOf(end),
    http_status: head?.status ?? null,
    error_class: failure?.errorClass ?? null,
    error_ref: failure ? bodies.addAs("error", JSON.stringify(failure.chain), "application/json") : null,
    ...(failure ? { error_summary: failure.summary } : {}),
    ...(end.firstByteMs === undefined ? {} : { first_byte_ms: end.firstByteMs }),
    ...(rawUsage === null ? {} : { usage_ref: bodies.addAs("usage", JSON.stringify(rawUsage), "application/json") }),
    ...(head
      ? {
          response_headers_ref: bodies.addAs(
            "response_headers",
            JSON.stringify(safeHeaders(head.headers)),
            "application/json",
          ),
        }
      : {}),
    ...(end.index.length > 1
      ? {
          stream_index_ref: bodies.addAs(
            "stream_index",
            JSON.stringify({ end: end.how, bytes: end.bytes, reads: end.index }),
            "application/json",
          ),
        }
      : {}),
    stream_end: end.how,
    ...(requestId === undefined ? {} : { provider_request_id: requestId }),
    ...(folded && folded.text !== "" ? summaryOf("output_summary", () => summarizeText(folded.text)) : {}),
    ...(folded && folded.toolCalls.length > 0 ? { requested_tools: folded.toolCalls.map((call) => call.name) } : {}),
    stored_bytes: end.bytes,
  }
}

const NO_USAGE: TokenUsage = { prompt: null, completion: null, total: null }

function statusOf({ how, err, head, folded }: FinishedWire): "success" | "timeout" | "error" | "partial" {
  if (how === "timeout") return "timeout"
  if (err !== undefined && head === undefined) return "error"
  if (head !== undefined && head.status >= 400) return "error"
  if (folded?.error) return "error"
  return how === "complete" ? "success" : "partial"
}

function failureOf(end: FinishedWire): { errorClass: string; summary: string; chain: readonly unknown[] } | undefined {
  if (end.err !== undefined) return describeError(end.err)
  const { head, folded } = end
  const said = folded?.error
  if (!said && (head === undefined || head.status < 400)) return undefined
  const errorClass = said?.type ?? said?.code ?? `HTTP ${head?.status ?? "error"}`
  const message = said?.message ?? `HTTP ${head?.status}`
  return { errorClass, summary: summarizeText(message), chain: [{ class: errorClass, message, stack: null }] }
}

function providerOf(request: WireRequest, dialect: Dialect | undefined): string {
  return dialect?.provider ?? hostOf(request.url) ?? "unknown"
}

function addressOf(request: WireRequest): { method: string; path: string; host?: string } {
  try {
    const url = new URL(request.url)
    return { method: request.method, path: url.pathname + url.search, host: url.host }
  } catch {
    return { method: request.method, path: request.url }
  }
}

function hostOf(url: string): string | undefined {
  try {
    return new URL(url).host || undefined
  } catch {
    return undefined
  }
}

export function headerOf(headers: HeaderList, name: string): string | undefined {
  return headers.find(([key]) => key.toLowerCase() === name)?.[1]
}
