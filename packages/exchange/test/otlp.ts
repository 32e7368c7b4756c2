import type { Event } from "@orangebox/contract"
import { runDigest } from "@orangebox/contract"
import { MemorySink, Recorder } from "@orangebox/recorder"
import { OtlpDoor } from "../src/index.js"

export interface TestDoor {
  readonly door: OtlpDoor
  readonly sink: MemorySink
  send(signal: "traces" | "logs", body: object): Promise<number>
  /** The runs that came of it, by their id, each with its own events in order. */
  runs(): Promise<Map<string, Event[]>>
  digests(): Promise<string[]>
}

const KEY = new Uint8Array(32).fill(7)

/** A door over a recorder that keeps everything in memory. */
export function openDoor(sink = new MemorySink()): TestDoor {
  const recorder = Recorder.open({ app: "otlp-test", sink, key: KEY, enabled: true })
  const door = new OtlpDoor({ recorder, lookUp: async () => undefined })
  const runs = async (): Promise<Map<string, Event[]>> => {
    await door.flush()
    const found = new Map<string, Event[]>()
    for (const event of sink.events) {
      if (event.run_id === null) continue
      const known = found.get(event.run_id)
      if (known === undefined) found.set(event.run_id, [event])
      else known.push(event)
    }
    return found
  }
  return {
    door,
    sink,
    runs,
    async send(signal, body) {
      const answer = await door.handle(
        `/v1/${signal}`,
        { "content-type": "application/json" },
        Buffer.from(JSON.stringify(body)),
      )
      return answer.status
    },
    async digests() {
      return [...(await runs()).values()].map((events) => runDigest(events)).sort()
    },
  }
}

export interface SpanGiven {
  readonly id: number
  readonly parent?: number
  readonly name?: string
  readonly trace?: number
  /** Milliseconds from the start of the trace. */
  readonly from?: number
  readonly to?: number
  readonly attributes?: Readonly<Record<string, unknown>>
  readonly events?: readonly { readonly name: string; readonly attributes: Readonly<Record<string, unknown>> }[]
  readonly error?: string
}

export const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, "0")
export const T0_NANOS = 1_770_000_000_000_000_000n

const nanos = (ms: number): string => String(T0_NANOS + BigInt(Math.round(ms * 1e6)))

export function spanJson({
  id,
  parent,
  name = `span ${id}`,
  trace = 1,
  from = id * 10,
  to = from + 5,
  attributes = {},
  events = [],
  error,
}: SpanGiven): object {
  return {
    traceId: hex(trace, 32),
    spanId: hex(id, 16),
    ...(parent === undefined ? {} : { parentSpanId: hex(parent, 16) }),
    name,
    startTimeUnixNano: nanos(from),
    endTimeUnixNano: nanos(to),
    attributes: attributesJson(attributes),
    events: events.map((event) => ({
      name: event.name,
      timeUnixNano: nanos(from),
      attributes: attributesJson(event.attributes),
    })),
    ...(error === undefined ? {} : { status: { code: 2, message: error } }),
  }
}

export const attributesJson = (attributes: Readonly<Record<string, unknown>>): object[] =>
  Object.entries(attributes).map(([key, value]) => ({ key, value: anyJson(value) }))

function anyJson(value: unknown): object {
  if (typeof value === "string") return { stringValue: value }
  if (typeof value === "boolean") return { boolValue: value }
  if (typeof value === "number") return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value }
  if (Array.isArray(value)) return { arrayValue: { values: value.map(anyJson) } }
  return { kvlistValue: { values: attributesJson(value as Record<string, unknown>) } }
}

export const tracesJson = (
  spans: readonly object[],
  service = "shop",
  resource: Record<string, unknown> = {},
): object => ({
  resourceSpans: [
    {
      resource: { attributes: attributesJson({ "service.name": service, ...resource }) },
      scopeSpans: [{ scope: { name: "test" }, spans }],
    },
  ],
})

export const logsJson = (logRecords: readonly object[], service = "shop", scope = "test"): object => ({
  resourceLogs: [
    {
      resource: { attributes: attributesJson({ "service.name": service }) },
      scopeLogs: [{ scope: { name: scope }, logRecords }],
    },
  ],
})
