import type { Step } from "../step.js"
import { openWireCall } from "./open-wire-call.js"
import type { HeaderList } from "./safe-headers.js"
import type { WireCall, WireEnd, WireNotes } from "./wire-call.js"

export type Fetch = typeof globalThis.fetch

/** Names the step a request belongs to. Taken off before the request leaves this machine. */
export const STEP_HEADER = "x-orangebox-step"

/** Who a request belongs to, and what is known about it. */
export interface WireTarget {
  readonly step: Step
  readonly notes?: WireNotes
  /** Told once the call is open. */
  readonly onCall?: (call: WireCall) => void
  /** Told once it has ended, however it did. */
  readonly onEnd?: () => void
}

/** Undefined lets the request pass unrecorded. */
export type FindTarget = (request: Request) => WireTarget | undefined

/**
 * A `fetch` that records what passes. The caller sees what it would have seen without it: the same bytes in the same pieces, the same
 * errors and aborts, and back-pressure all the way to the socket.
 */
export function recordingFetch(find: FindTarget, upstream: () => Fetch): Fetch {
  return async (input, init) => {
    const request = new Request(input, init)
    const found = find(request)
    request.headers.delete(STEP_HEADER)
    if (!found) return upstream()(request)

    const { outgoing, body } = await withKnownBody(request)
    const call = openWireCall(
      found.step,
      { method: request.method, url: request.url, headers: headerList(request.headers), body },
      found.notes,
    )
    if (!call) return upstream()(outgoing)
    found.onCall?.(call)
    markForProxy(outgoing, call)
    const watch = new WatchedCall(call, request.signal, found.onEnd)
    try {
      return watch.response(await upstream()(outgoing))
    } catch (error) {
      watch.end(endOf(error, request.signal), error)
      throw error
    }
  }
}

/**
 * The exact bytes of the body, and a request that still has them. Model clients send text they hold in memory; a body that is a stream of
 * its own is read to its end first, because it has to be in the journal before its last byte leaves.
 */
async function withKnownBody(request: Request): Promise<{ outgoing: Request; body: Uint8Array }> {
  if (request.body === null) return { outgoing: request, body: new Uint8Array(0) }
  const body = new Uint8Array(await request.arrayBuffer())
  // The constructor takes everything else over from the request it is given; only the body is ours.
  return { outgoing: new Request(request, { body }), body }
}

/** Under `orangebox run` the same call also passes the recording proxy, which then only links to what is recorded here. */
function markForProxy(request: Request, call: WireCall): void {
  const proxy = process.env["ORANGEBOX_PROXY"]
  if (proxy !== undefined && request.url.startsWith(`${proxy}/`)) {
    request.headers.set(STEP_HEADER, `${call.step.runId}/${call.step.id}`)
  }
}

class WatchedCall {
  readonly #call: WireCall
  readonly #signal: AbortSignal
  readonly #onEnd: (() => void) | undefined
  #isEnded = false

  constructor(call: WireCall, signal: AbortSignal, onEnd: (() => void) | undefined) {
    this.#call = call
    this.#signal = signal
    this.#onEnd = onEnd
  }

  end(how: WireEnd, err?: unknown): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#call.end(how, err)
    this.#onEnd?.()
  }

  response(received: Response): Response {
    this.#call.responseStarted({ status: received.status, headers: headerList(received.headers) })
    if (received.body === null) {
      this.end("complete")
      return received
    }
    return likeReceived(new Response(this.#watched(received.body), received), received)
  }

  #watched(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
    const reader = body.getReader()
    // Zero: nothing is read before the caller asks, so that back-pressure reaches the socket as before.
    return new ReadableStream(
      {
        pull: async (controller) => {
          try {
            const { done, value } = await reader.read()
            if (done) {
              this.end("complete")
              controller.close()
              return
            }
            this.#call.chunk(value, Math.floor(performance.now() * 1000))
            controller.enqueue(value)
          } catch (error) {
            this.end(endOf(error, this.#signal), error)
            controller.error(error)
          }
        },
        cancel: async (reason) => {
          this.end("client_abort")
          await reader.cancel(reason)
        },
      },
      { highWaterMark: 0 },
    )
  }
}

/** What the constructor of Response does not let us say. */
function likeReceived(response: Response, received: Response): Response {
  for (const property of ["url", "redirected", "type"] as const) {
    Object.defineProperty(response, property, { value: received[property], configurable: true })
  }
  return response
}

function endOf(error: unknown, signal: AbortSignal): WireEnd {
  const reason: unknown = signal.aborted ? signal.reason : error
  if ((reason as { name?: unknown } | null | undefined)?.name === "TimeoutError") return "timeout"
  return signal.aborted ? "client_abort" : "upstream_reset"
}

function headerList(headers: Headers): HeaderList {
  return [...headers]
}
