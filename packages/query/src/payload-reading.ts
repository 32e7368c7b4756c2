import type { Event } from "@orangebox/contract"

/**
 * Events are kept even when they break the contract or come from a newer minor version, so a reader trusts no payload's shape.
 * A value of the wrong type reads as unknown.
 */
export interface LoosePayload {
  readonly [name: string]: unknown
}

export function payloadOf(event: Event | undefined): LoosePayload {
  const payload: unknown = event?.payload
  return isRecord(payload) ? payload : NOTHING
}

export function textIn(payload: LoosePayload, name: string): string | undefined {
  const value = payload[name]
  return typeof value === "string" && value !== "" ? value : undefined
}

export function numberIn(payload: LoosePayload, name: string): number | undefined {
  const value = payload[name]
  return typeof value === "number" && Number.isFinite(value) ? value : undefined
}

/** A count is never negative; what claims to be is unknown. */
export function countIn(payload: LoosePayload, name: string): number | undefined {
  const value = numberIn(payload, name)
  return value !== undefined && value >= 0 ? value : undefined
}

export function textsIn(payload: LoosePayload, name: string): readonly string[] {
  const value = payload[name]
  return Array.isArray(value) ? value.filter((entry): entry is string => typeof entry === "string") : []
}

export function recordsIn(payload: LoosePayload, name: string): readonly LoosePayload[] {
  const value = payload[name]
  return Array.isArray(value) ? value.filter(isRecord) : []
}

export function recordIn(payload: LoosePayload, name: string): LoosePayload {
  const value = payload[name]
  return isRecord(value) ? value : NOTHING
}

const NOTHING: LoosePayload = {}

function isRecord(value: unknown): value is LoosePayload {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}
