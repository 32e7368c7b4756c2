/** Spans and log records as plain values, whatever they came in. Ids are lower-case hex, times are milliseconds since 1970. */

export type Attributes = Readonly<Record<string, unknown>>

export interface PlainSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | null
  readonly name: string
  readonly startMs: number
  readonly endMs: number
  readonly attributes: Attributes
  readonly events: readonly PlainSpanEvent[]
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[]
  /** The span said that it failed. */
  readonly isError: boolean
  readonly statusMessage: string
  readonly service: string
  readonly scope: string
  /** What was said of the process that made it. */
  readonly resource: Attributes
}

export interface PlainSpanEvent {
  readonly name: string
  readonly atMs: number
  readonly attributes: Attributes
}

export interface PlainLog {
  readonly traceId: string | null
  readonly spanId: string | null
  readonly atMs: number
  /** 1 to 24; 0 where none is given. */
  readonly severity: number
  readonly name: string
  readonly body: unknown
  readonly attributes: Attributes
  readonly service: string
  readonly scope: string
}

/** What one request held. */
export interface PlainRequest {
  readonly spans: readonly PlainSpan[]
  readonly logs: readonly PlainLog[]
  /** Records that have no usable ids. */
  readonly rejected: number
  readonly rejectedWhy: string
}

/** A request that cannot be understood, in words for whoever sent it. */
export class BadRequest extends Error {
  override readonly name = "BadRequest"
}

export const NO_SERVICE = "unknown_service"

export const isTraceId = (id: string): boolean => /^[0-9a-f]{32}$/.test(id) && !/^0+$/.test(id)
export const isSpanId = (id: string): boolean => /^[0-9a-f]{16}$/.test(id) && !/^0+$/.test(id)

/** Later times have no four-digit year, and earlier ones none at all. */
const LAST_MS = 253_402_300_799_999

/** Nanoseconds since 1970, as any of the forms they come in, to milliseconds with their fraction; 0 is unknown. */
export function msOfNanos(nanos: unknown): number {
  let ms = 0
  if (typeof nanos === "bigint") ms = Number(nanos / 1000n) / 1000
  else if (typeof nanos === "string" && /^\d{1,20}$/.test(nanos)) ms = Number(BigInt(nanos) / 1000n) / 1000
  else if (typeof nanos === "number") ms = nanos / 1e6
  return ms > 0 && ms <= LAST_MS ? ms : 0
}
