import { OrangeboxError } from "@orangebox/contract"
import type { Step } from "../step.js"
import { openWireCall } from "./open-wire-call.js"
import { type OutgoingRequest, type RequestHead, readOutgoing } from "./outgoing-request.js"
import { WatchedExchange } from "./watched-exchange.js"
import type { CacheUse, WireCall, WireNotes } from "./wire-call.js"

export type Fetch = typeof globalThis.fetch

/** Names the step a request belongs to. Taken off before the request leaves this machine. */
export const STEP_HEADER = "x-orangebox-step"

/** Says `warm` for a call that only fills the provider's cache, `real` for one whose answer is wanted. Taken off in the same way. */
export const CACHE_USE_HEADER = "x-orangebox-cache-use"

export function cacheUseSaid(value: string | null | undefined): CacheUse | undefined {
  const said = value?.trim().toLowerCase()
  return said === "warm" || said === "real" ? said : undefined
}

/** Who a request belongs to, and what is known about it. */
export interface WireTarget {
  readonly step: Step
  readonly notes?: WireNotes
  /** Told once the call is open. */
  readonly onCall?: (call: WireCall) => void
  /** Told once it has ended, with what made it fail if it did. */
  readonly onEnd?: (error?: unknown) => void
}

/** Undefined lets the request pass unrecorded. */
export type FindTarget = (request: RequestHead, body: Uint8Array) => WireTarget | undefined

/**
 * A `fetch` that records what passes. The caller sees what it would have seen without it: the same bytes in the same pieces, the same
 * errors and aborts, and back-pressure all the way to the socket.
 */
export function recordingFetch(find: FindTarget, upstream: () => Fetch): Fetch {
  return async (input, init) => {
    const outgoing = readOutgoing(input, init)
    if (!outgoing) return upstream()(input, init)
    const reading = outgoing.readBody()
    const body = reading instanceof Promise ? await reading : reading
    const target = find(outgoing.head, body)
    const cacheUse = cacheUseSaid(outgoing.head.headers.get(CACHE_USE_HEADER))
    outgoing.head.headers.delete(STEP_HEADER)
    outgoing.head.headers.delete(CACHE_USE_HEADER)
    if (!target) return outgoing.send(upstream())

    const call = recordCall(target, outgoing, body, cacheUse)
    if (!call) return outgoing.send(upstream())
    target.onCall?.(call)
    markForProxy(outgoing.head, call)
    const answer = outgoing.send(upstream())
    // Only now: `fetch` has seen the signal and made room for many listeners on it, where one more would bring a warning.
    const exchange = new WatchedExchange(call, outgoing.signal, target.onEnd)
    try {
      return exchange.response(await answer)
    } catch (error) {
      exchange.fail(error)
      throw error
    }
  }
}

/** What the recorder refuses on purpose is thrown; what it fails at must not stop the request. */
function recordCall(
  target: WireTarget,
  { head }: OutgoingRequest,
  body: Uint8Array,
  cacheUse: CacheUse | undefined,
): WireCall | undefined {
  const { method, url } = head
  try {
    return openWireCall(target.step, { method, url, headers: [...head.headers], body, cacheUse }, target.notes)
  } catch (error) {
    if (error instanceof OrangeboxError) throw error
    target.step.log.error("a request could not be recorded", { err: error, http_method: method })
    return undefined
  }
}

/** Under `orangebox run` the same call also passes the recording proxy, which then only links to what is recorded here. */
function markForProxy(head: RequestHead, call: WireCall): void {
  const proxy = process.env["ORANGEBOX_PROXY"]
  if (proxy !== undefined && head.url.startsWith(`${proxy}/`)) {
    head.headers.set(STEP_HEADER, `${call.step.runId}/${call.step.id}`)
  }
}
