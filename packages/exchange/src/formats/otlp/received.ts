import { listOf, recordOf } from "../told-values.js"
import { NO_SERVICE, type PlainLog, type PlainSpan } from "./plain.js"

/**
 * What was received, as it stands in the journal until runs are made of it: the plain records without what most of them leave empty, and with
 * the names of attributes beside their values, because a secret is often known by its name.
 */
export function encodeReceived(spans: readonly PlainSpan[], logs: readonly PlainLog[]): string {
  return JSON.stringify({ spans: spans.map(spanWritten), logs })
}

export function decodeReceived(text: string): { readonly spans: PlainSpan[]; readonly logs: PlainLog[] } {
  const value = recordOf(JSON.parse(text))
  return {
    spans: listOf(value["spans"]).map((span) => ({ ...EMPTY, ...(recordOf(span) as Partial<PlainSpan>) }) as PlainSpan),
    logs: listOf(value["logs"]) as PlainLog[],
  }
}

const EMPTY = {
  parentSpanId: null,
  events: [],
  links: [],
  isError: false,
  statusMessage: "",
  service: NO_SERVICE,
  scope: "",
} as const

function spanWritten({
  events,
  links,
  isError,
  statusMessage,
  scope,
  parentSpanId,
  service,
  ...span
}: PlainSpan): object {
  return {
    ...span,
    service,
    ...(parentSpanId === null ? {} : { parentSpanId }),
    ...(events.length === 0 ? {} : { events }),
    ...(links.length === 0 ? {} : { links }),
    ...(isError ? { isError } : {}),
    ...(statusMessage === "" ? {} : { statusMessage }),
    ...(scope === "" ? {} : { scope }),
  }
}
