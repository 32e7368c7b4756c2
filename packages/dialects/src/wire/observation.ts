import type { CallAddress } from "../dialect.js"
import type { FoldedResponse } from "../fold-response.js"
import type { JsonBody } from "../json/body.js"

/** What a proxy sees. Calls have ids of the observer's own choice. */
export type WireObservation = RequestObserved | ResponseObserved

export interface RequestObserved extends CallAddress {
  readonly kind: "request"
  readonly call: string
  readonly atMs: number
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string | undefined>>
  readonly body?: Uint8Array | JsonBody
}

export interface ResponseObserved {
  readonly kind: "response"
  readonly call: string
  readonly atMs: number
  /** Null when none came. */
  readonly status: number | null
  readonly end: "complete" | "client_abort" | "upstream_reset" | "timeout"
  /** Undefined when the body is of no known dialect. */
  readonly answer?: FoldedResponse
}
