import { types } from "node:util"
import { maskProxyTokens } from "@orangebox/contract"
import type { Fetch } from "./fetch-edge.js"

/** What a request says before its body. */
export interface RequestHead {
  readonly method: string
  /** As it may be recorded: the part that opens a running proxy is left out. */
  readonly url: string
  readonly headers: Headers
}

/** A request on its way out: what it says, and the way to send it on. */
export interface OutgoingRequest {
  readonly head: RequestHead
  readonly signal: AbortSignal | undefined
  /** The exact bytes of the body. Only a body that is not at hand, such as a stream, makes the caller wait for them. */
  readBody(): Uint8Array | Promise<Uint8Array>
  /** Sends it with the headers of `head`, as they are by then. */
  send(fetch: Fetch): Promise<Response>
}

type Input = Parameters<Fetch>[0]
type Init = NonNullable<Parameters<Fetch>[1]>

/** Undefined for what is no valid request: then `fetch` itself has to say what is wrong with it. */
export function readOutgoing(input: Input, init: Init | undefined): OutgoingRequest | undefined {
  try {
    const isPlain = typeof input === "string" || input instanceof URL
    const body = isPlain ? bytesAtHand(init?.body) : undefined
    return isPlain && body !== undefined ? plainRequest(input, init, body) : wholeRequest(new Request(input, init))
  } catch {
    return undefined
  }
}

/**
 * The way almost every client calls: an address, and a body in memory. The arguments go on as they came, so that nothing changes for a
 * `fetch` that the application replaced; building a Request to look at them would cost more than everything else here.
 */
function plainRequest(input: string | URL, init: Init | undefined, body: Uint8Array): OutgoingRequest {
  const headers = new Headers(init?.headers)
  const impliedType = impliedContentType(init?.body)
  if (impliedType !== undefined && !headers.has("content-type")) headers.set("content-type", impliedType)
  const before = [...headers].join("\n")
  return {
    head: { method: methodOf(init?.method), url: maskProxyTokens(new URL(input).href), headers },
    signal: init?.signal ?? undefined,
    readBody: () => body,
    send: (fetch) => fetch(input, [...headers].join("\n") === before ? init : { ...init, headers }),
  }
}

/**
 * A Request, or a body that is a form, a blob or a stream. It is read to its end first, because it has to be in the journal before its last
 * byte leaves; a form would also get another boundary each time it is written.
 */
function wholeRequest(request: Request): OutgoingRequest {
  const headers = new Headers(request.headers)
  let sent: { readonly body: NonNullable<Init["body"]>; readonly duplex?: "half" } | undefined
  return {
    head: { method: request.method, url: maskProxyTokens(request.url), headers },
    signal: request.signal,
    async readBody() {
      if (request.body === null) return NOTHING
      try {
        const body = await untilAborted(request.arrayBuffer(), request.signal)
        sent = { body }
        return new Uint8Array(body)
      } catch (error) {
        // The body failed, or the caller left. What is sent fails the same way, so the caller hears of it as it would have.
        sent = { body: failingStream(error), duplex: "half" }
        return NOTHING
      }
    },
    send: (fetch) => fetch(new Request(request, { headers, ...sent })),
  }
}

const NOTHING = new Uint8Array(0)

function bytesAtHand(body: Init["body"]): Uint8Array | undefined {
  if (body === undefined || body === null) return NOTHING
  if (typeof body === "string") return Buffer.from(body, "utf8")
  if (types.isUint8Array(body)) return body
  if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength)
  if (types.isAnyArrayBuffer(body)) return new Uint8Array(body)
  return body instanceof URLSearchParams ? Buffer.from(body.toString(), "utf8") : undefined
}

function impliedContentType(body: Init["body"]): string | undefined {
  if (typeof body === "string") return "text/plain;charset=UTF-8"
  return body instanceof URLSearchParams ? "application/x-www-form-urlencoded;charset=UTF-8" : undefined
}

function methodOf(method: string | undefined): string {
  if (method === undefined) return "GET"
  return /^(?:delete|get|head|options|post|put)$/i.test(method) ? method.toUpperCase() : method
}

function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = (): void => reject(signal.reason)
    if (signal.aborted) leave()
    signal.addEventListener("abort", leave, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", leave))
  })
}

function failingStream(error: unknown): ReadableStream {
  return new ReadableStream({ start: (controller) => controller.error(error) })
}
