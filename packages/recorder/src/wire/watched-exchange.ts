import { types } from "node:util"
import type { WireCall, WireEnd } from "./wire-call.js"

/** Passes an answer on to its reader and tells the recorder what passed, and how it ended. */
export class WatchedExchange {
  readonly #call: WireCall
  readonly #signal: AbortSignal | undefined
  readonly #onEnd: ((error?: unknown) => void) | undefined
  #isEnded = false

  constructor(call: WireCall, signal: AbortSignal | undefined, onEnd: ((error?: unknown) => void) | undefined) {
    this.#call = call
    this.#signal = signal
    this.#onEnd = onEnd
    // A caller that aborts may never read again, so the end cannot wait for a read to fail.
    signal?.addEventListener("abort", this.#onAbort, { once: true })
  }

  readonly #onAbort = (): void => this.fail(this.#signal?.reason)

  fail(error: unknown): void {
    this.#end(endOf(error, this.#signal), error)
  }

  #end(how: WireEnd, error?: unknown): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#signal?.removeEventListener("abort", this.#onAbort)
    this.#call.end(how, error)
    this.#onEnd?.(error)
  }

  response(received: Response): Response {
    this.#call.responseStarted({ status: received.status, headers: [...received.headers] })
    const { body } = received
    // A replaced `fetch` may hand out bodies of its own making; those pass as they are.
    if (body === null || typeof body?.getReader !== "function") {
      this.#end("complete")
      return received
    }
    const watched = this.#watch(body, received.status >= 400)
    return likeReceived(new Response(watched, received), received)
  }

  #watch(body: ReadableStream<Uint8Array>, isError: boolean): ReadableStream<Uint8Array> {
    // Like undici's own body this one can be read into the caller's buffers, where the received one can.
    const isByteStream = canFillBuffers(body)
    const reader = body.getReader()
    const source = {
      pull: async (
        controller: ReadableStreamDefaultController<Uint8Array> | ReadableByteStreamController,
      ): Promise<void> => {
        let read: Awaited<ReturnType<typeof reader.read>>
        try {
          read = await reader.read()
        } catch (error) {
          this.fail(error)
          controller.error(error)
          return
        }
        if (read.done) {
          this.#end("complete")
          controller.close()
          if ("byobRequest" in controller) controller.byobRequest?.respond(0)
          return
        }
        this.#pass(read.value)
        controller.enqueue(isByteStream ? movable(read.value) : read.value)
      },
      cancel: async (reason: unknown): Promise<void> => {
        if (isError && !this.#isEnded) {
          // Clients throw an error answer away before they try again. It is what a reader of the recording looks for first.
          void this.#keepRest(reader)
          return
        }
        this.#end("client_abort")
        await reader.cancel(reason)
      },
    }
    // Zero: nothing is read before the caller asks, so that back-pressure reaches the socket as before.
    const watched = isByteStream
      ? (new ReadableStream({ type: "bytes", ...source }) as ReadableStream<Uint8Array>)
      : new ReadableStream<Uint8Array>(source, { highWaterMark: 0 })
    unread.register(watched, () => {
      if (this.#isEnded) return
      this.#end("client_abort")
      reader.cancel().catch(() => {})
    })
    return watched
  }

  #pass(piece: Uint8Array): void {
    if (types.isUint8Array(piece)) this.#call.chunk(piece)
  }

  async #keepRest(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
    let left = LONGEST_REST_BYTES
    const deadline = setTimeout(() => reader.cancel().catch(() => {}), LONGEST_REST_MS)
    deadline.unref()
    try {
      while (left > 0) {
        const { done, value } = await reader.read()
        if (done) return this.#end("complete")
        this.#pass(value)
        left -= value.length
      }
      await reader.cancel()
      this.#end("client_abort")
    } catch (error) {
      this.fail(error)
    } finally {
      clearTimeout(deadline)
    }
  }
}

const LONGEST_REST_BYTES = 256 * 1024
const LONGEST_REST_MS = 1000

/** An answer that the caller neither reads nor holds any more was left: its step ends, and its connection is given back as `fetch` would. */
const unread = new FinalizationRegistry((leave: () => void) => leave())

function canFillBuffers(body: ReadableStream<Uint8Array>): boolean {
  try {
    body.getReader({ mode: "byob" }).releaseLock()
    return true
  } catch {
    return false
  }
}

// A byte stream takes a piece's memory over, so the piece must own all of it.
function movable(piece: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer } = piece
  const ownsIt = buffer instanceof ArrayBuffer && buffer.byteLength === piece.byteLength
  return ownsIt ? new Uint8Array(buffer) : new Uint8Array(piece)
}

/** What the constructor of Response does not let us say. */
function likeReceived(response: Response, received: Response): Response {
  const say = (name: string, value: unknown): void =>
    void Object.defineProperty(response, name, { value, configurable: true })
  say("url", received.url)
  say("redirected", received.redirected)
  say("type", received.type)
  say("clone", () => likeReceived(Response.prototype.clone.call(response), received))
  return response
}

const TIMEOUT_CODES = new Set([
  "UND_ERR_HEADERS_TIMEOUT",
  "UND_ERR_BODY_TIMEOUT",
  "UND_ERR_CONNECT_TIMEOUT",
  "ETIMEDOUT",
])

function endOf(error: unknown, signal: AbortSignal | undefined): WireEnd {
  const reason: unknown = signal?.aborted ? signal.reason : error
  const { name, code } = (reason ?? {}) as { name?: unknown; code?: unknown }
  const { code: causeCode } = ((error as { cause?: unknown } | null | undefined)?.cause ?? {}) as { code?: unknown }
  if (name === "TimeoutError" || TIMEOUT_CODES.has(String(code)) || TIMEOUT_CODES.has(String(causeCode)))
    return "timeout"
  return signal?.aborted ? "client_abort" : "upstream_reset"
}
