import { parseJson } from "@orangebox/dialects"

/**
 * Events are kept even when they break the contract or come from a newer minor version, so nothing here trusts a payload's shape.
 * A value of the wrong type reads as unknown.
 */
export interface LoosePayload {
  readonly [name: string]: unknown
}

export function payloadOf(event: { readonly payload?: unknown } | null | undefined): LoosePayload {
  return asRecord(event?.payload) ?? NOTHING
}

export function textIn(payload: LoosePayload, name: string): string | undefined {
  const value = payload[name]
  return typeof value === "string" && value !== "" ? value : undefined
}

export function numberIn(payload: LoosePayload, name: string): number | undefined {
  const value = payload[name]
  return typeof value === "number" && Number.isFinite(value) ? value : undefined
}

export function integerIn(payload: LoosePayload, name: string): number | undefined {
  const value = payload[name]
  return typeof value === "number" && Number.isSafeInteger(value) ? value : undefined
}

export function countIn(payload: LoosePayload, name: string): number | undefined {
  const value = integerIn(payload, name)
  return value !== undefined && value >= 0 ? value : undefined
}

export function listIn(payload: LoosePayload, name: string): readonly unknown[] {
  const value = payload[name]
  return Array.isArray(value) ? value : []
}

export function recordsIn(payload: LoosePayload, name: string): readonly LoosePayload[] {
  return listIn(payload, name).flatMap((entry): LoosePayload[] => {
    const record = asRecord(entry)
    return record ? [record] : []
  })
}

export function asRecord(value: unknown): LoosePayload | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as LoosePayload) : undefined
}

const NOTHING: LoosePayload = {}

/** Undefined when the text is not JSON, or nested deeper than anything worth following. */
export const parsedJson = (text: string): unknown => parseJson(text)
