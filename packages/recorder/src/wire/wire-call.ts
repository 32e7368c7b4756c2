import type { ArtifactRef, PayloadOf } from "@orangebox/contract"
import {
  type ExpectedPrompt,
  type FoldedResponse,
  type RequestAnatomy,
  type ResponseFolder,
  responseFolder,
} from "@orangebox/dialects"
import type { BodiesOfEvent, BodyMarks } from "../bodies-of-event.js"
import type { StoredStream } from "../capture/captured-stream.js"
import { describeError } from "../described-error.js"
import type { LogAttributes } from "../logger.js"
import { answerStamps } from "./answer-stamps.js"
import { nameOrNull } from "./contract-values.js"
import type { KnownRequest } from "./known-request.js"
import { type HeaderList, headerOf, safeHeaders } from "./safe-headers.js"

export interface WireRequest {
  readonly method: string
  readonly url: string
  readonly headers: HeaderList
  /** The bytes that go out, content-decoded. */
  readonly body: Uint8Array
  readonly bodyMarks?: BodyMarks
  /** Whether its sender wants an answer, or only the prompt in the provider's cache; undefined where that was not said. */
  readonly cacheUse?: CacheUse | undefined
}

export interface WireResponseHead {
  readonly status: number
  readonly headers: HeaderList
}

/** How an exchange came to its end. */
export type WireEnd = "complete" | "client_abort" | "upstream_reset" | "timeout"

export type CacheUse = "warm" | "real"

/** What an observer of the wire knows beyond the bytes, such as that a call repeats another. */
export interface WireNotes {
  readonly attemptNo?: number
  /** The application did not compile the prompt, so its manifest is read off the request. */
  readonly derivesManifest?: boolean
  readonly inferredBy?: string
  readonly isAuxiliary?: boolean
  readonly laneId?: string
  /** What the prompt was made of is recorded by `tellPrompt`, when the request is on its way and the caller does not wait. */
  readonly tellsPromptLater?: boolean
  /** What the prompt is made of, as far as that was said of the call this is a try of. */
  readonly saidPrompt?: RequestAnatomy | undefined
  /** The prompt that was compiled or told for the call this is a try of. */
  readonly expected?: ExpectedPrompt | null | undefined
  /** What was said of the call this is a try of. */
  readonly cacheUse?: CacheUse | undefined
  readonly attributes?: LogAttributes
  /** The steps this call goes on from, where that was deduced. Left out, it follows its parent's sibling. */
  readonly follows?: { readonly stepIds: readonly string[]; readonly inferredBy: string }
}

/** What an observer of the wire knows about the end of an exchange beyond how it came. */
export interface WireEndNotes {
  readonly attributes?: LogAttributes
  readonly bodyMarks?: BodyMarks
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
  #head: WireResponseHead | undefined
  #bytes = 0
  #firstByteMs: number | undefined
  #finished: FinishedWire | undefined

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
  chunk(bytes: Uint8Array, monoUs: number = this.step.monoUs()): void {
    this.#take(bytes, monoUs, false)
  }

  /** All bytes of the answer at once. They are in the journal when the exchange has ended, in one record with what they mean. */
  whole(bytes: Uint8Array, monoUs: number = this.step.monoUs()): void {
    this.#take(bytes, monoUs, true)
  }

  #take(bytes: Uint8Array, monoUs: number, isWhole: boolean): void {
    if (bytes.length === 0) return
    const micros = Math.max(0, monoUs - this.#openedMonoUs)
    this.#firstByteMs ??= micros / 1000
    this.#bytes += bytes.length
    this.step.writeChunk(bytes, micros, this.#head, isWhole)
    try {
      this.#folder?.push(bytes, micros / 1000)
    } catch {
      // Reading along is a courtesy; the bytes are kept whatever they mean.
    }
  }

  /** Says, before any byte comes, that the recorder cannot decode them. */
  responseNotDecoded(): void {
    this.step.responseNotDecoded()
  }

  /** What the answer meant. Known once the exchange has ended. */
  get folded(): FoldedResponse | undefined {
    return this.#finished?.folded
  }

  /** How it ended; undefined while it goes on. */
  get finished(): FinishedWire | undefined {
    return this.#finished
  }

  /**
   * What the client has been told, once it can go on from it: that its request failed, or an answer that has said its last. The connection
   * may stay open behind that. Undefined before.
   */
  get told(): { readonly status: number; readonly answer: FoldedResponse | undefined } | undefined {
    const status = this.#head?.status
    if (status === undefined) return undefined
    if (status >= 400) return { status, answer: undefined }
    const answer = this.#folder?.answerIfOver()
    return answer && { status, answer }
  }

  /** Says what the prompt was made of, once, where that was left for later. */
  tellPrompt(): void {
    this.step.tellPrompt?.()
  }

  /** Whether the answer has come to its own end, whatever the connection does: a client that leaves now has not aborted. */
  hasWholeAnswer(): boolean {
    return this.#fold()?.ended === "complete"
  }

  end(how: WireEnd, err?: unknown, notes: WireEndNotes = {}): void {
    this.over(how, err, notes)
    this.recordEnd()
  }

  /** Nothing more comes: `folded` is known from here on. The end is on record with `recordEnd`. */
  over(how: WireEnd, err?: unknown, notes: WireEndNotes = {}): void {
    this.#finished = this.#finish(how, err, notes)
  }

  recordEnd(): void {
    if (this.#finished) this.step.finishWire(this.#finished)
  }

  /** This exchange is the first try of a call that is or may be tried again; it may still go on. Undefined for what is no model call. */
  becomeFirstTry(): RetriedCall | undefined {
    return this.step.becomeFirstTry?.()
  }

  #finish(how: WireEnd, err: unknown, notes: WireEndNotes): FinishedWire {
    const folded = this.#fold()
    // Who leaves after the terminal event did not abort: the answer was whole.
    const isWhole = how === "client_abort" && folded?.ended === "complete"
    return {
      how: isWhole ? "complete" : how,
      err: isWhole ? undefined : err,
      notes,
      provider: this.#provider,
      model: folded?.model ?? this.known.model,
      head: this.#head,
      folded,
      firstByteMs: this.#firstByteMs,
    }
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
  /** The answer's body, once it is stored. */
  readonly response: ArtifactRef | undefined
  monoUs(): number
  writeChunk(bytes: Uint8Array, micros: number, head: WireResponseHead | undefined, isWhole: boolean): void
  responseNotDecoded(): void
  tellPrompt?(): void
  finishWire(end: FinishedWire): void
  becomeFirstTry?(): RetriedCall
}

/** A model call whose first try failed: its step stays open, and every try is a child of it. */
export interface RetriedCall {
  readonly stepId: string
  /** Undefined with recording off. */
  openTry(request: WireRequest, notes: WireNotes, known?: KnownRequest): WireCall | undefined
  /** The call ends as its last try did. Every try has to be over. */
  close(): void
}

export interface FinishedWire {
  readonly how: WireEnd
  readonly err: unknown
  readonly notes: WireEndNotes
  readonly provider: string
  readonly model: string | null
  readonly head: WireResponseHead | undefined
  readonly folded: FoldedResponse | undefined
  readonly firstByteMs: number | undefined
}

export function modelResultOf(
  end: FinishedWire,
  bodies: BodiesOfEvent,
  stored: StoredStream | undefined,
  summarize: (text: string) => string,
): Omit<PayloadOf<"model_result">, "response_ref" | "latency_ms"> {
  const { folded, head } = end
  const failure = failureOf(end.err, folded, summarize, head)
  const json = (type: string, value: unknown) => bodies.refAs(type, JSON.stringify(value), "application/json")
  return {
    provider: end.provider,
    model_id: nameOrNull(end.model),
    status: statusOf(end),
    http_status: httpStatusOf(end),
    error_class: nameOrNull(failure?.errorClass),
    error_ref: failure ? json("error", failure.chain) : null,
    error_summary: failure?.summary,
    first_byte_ms: end.firstByteMs,
    response_headers_ref: head && json("response_headers", safeHeaders(head.headers)),
    stream_index_ref:
      stored !== undefined && stored.index.length > 1
        ? json("stream_index", { end: end.how, bytes: stored.byteSize, reads: stored.index })
        : undefined,
    stream_end: end.how,
    provider_request_id: requestIdOf(end) ?? undefined,
    stored_bytes: stored?.byteSize ?? 0,
    ...answerStamps(folded, bodies, summarize),
  }
}

export function requestIdOf({ head }: FinishedWire): string | null {
  return nameOrNull(head && (headerOf(head.headers, "request-id") ?? headerOf(head.headers, "x-request-id")))
}

/** Null where there was none, or where a redirect was kept from view. */
export function httpStatusOf({ head }: FinishedWire): number | null {
  return head !== undefined && head.status >= 100 ? head.status : null
}

export function statusOf({ how, err, head, folded }: FinishedWire): "success" | "timeout" | "error" | "partial" {
  if (how === "timeout") return "timeout"
  if (err !== undefined && head === undefined) return "error"
  if (head !== undefined && head.status >= 400) return "error"
  if (folded?.error) return "error"
  return how === "complete" ? "success" : "partial"
}

/** What went wrong: the error that was thrown, else what the answer says of one. */
export function failureOf(
  err: unknown,
  folded: FoldedResponse | undefined,
  summarize: (text: string) => string,
  head?: WireResponseHead,
): { errorClass: string; summary: string; chain: readonly unknown[] } | undefined {
  if (err !== undefined) return describeError(err, summarize)
  const said = folded?.error
  if (!said && (head === undefined || head.status < 400)) return undefined
  const errorClass = nameOrNull(said?.type) ?? nameOrNull(said?.code) ?? `HTTP ${head?.status ?? "error"}`
  const message = said?.message ?? `HTTP ${head?.status}`
  return { errorClass, summary: summarize(message), chain: [{ class: errorClass, message, stack: null }] }
}

/** As it may stand on a ref. */
export function mimeTypeOf(headers: HeaderList): string {
  return nameOrNull(headerOf(headers, "content-type"), 256) ?? "application/octet-stream"
}
