import { canonicalJson, type Link, TOLD_MESSAGES } from "@orangebox/contract"
import type { ForeignBody } from "@orangebox/recorder"
import { jsonText } from "../told-values.js"
import { factOf, isContent, textFact } from "./names.js"
import type { Attributes, PlainSpan } from "./plain.js"

/** What events of a told span are made of. */

/** Who deduced what no span states. */
export const OTLP = "otlp"

export const endOf = ({ startMs, endMs }: PlainSpan): number => Math.max(startMs, endMs)
export const latencyOf = (span: PlainSpan): number => endOf(span) - span.startMs

export const textBody = (field: string, content: string): ForeignBody => ({
  field,
  content,
  mimeType: "text/plain; charset=utf-8",
})
export const jsonBody = (field: string, value: unknown): ForeignBody => ({
  field,
  content: canonicalJson(value),
  mimeType: TOLD_MESSAGES,
})

export function firstOf(spans: readonly PlainSpan[], fact: "conversation" | "agentVersion"): string | undefined {
  for (const { attributes } of spans) {
    const value = textFact(attributes, fact)
    if (value !== undefined) return value
  }
  return undefined
}

export function textOfFact(attributes: Attributes, fact: "runInput" | "runOutput"): string | undefined {
  const value = factOf(attributes, fact)
  return value === undefined || value === "" ? undefined : jsonText(value)
}

/** Attributes that are not content; what is no scalar stands as JSON. */
export function flat(attributes: Attributes): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(attributes)
      .filter(([name]) => !isContent(name))
      .map(([name, value]) => [name, typeof value === "object" && value !== null ? JSON.stringify(value) : value]),
  )
}

export const linksOf = ({ links }: PlainSpan): Link[] =>
  links.slice(0, 128).map(({ traceId, spanId }) => ({ kind: "mentions", trace_id: traceId, step_id: spanId }))

export const nameOrNull = (value: unknown): string | null =>
  typeof value === "string" && value !== "" ? value.slice(0, 512) : null
