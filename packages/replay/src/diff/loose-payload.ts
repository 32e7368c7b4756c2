import type { Event } from "@orangebox/contract"

/** Events are kept even when they break the contract, so no payload's shape is trusted: a value of the wrong type reads as unknown. */
export interface LoosePayload {
  readonly [name: string]: unknown
}

export function payloadOf(event: Event | undefined): LoosePayload {
  const payload: unknown = event?.payload
  return typeof payload === "object" && payload !== null && !Array.isArray(payload) ? (payload as LoosePayload) : {}
}

export function textIn(payload: LoosePayload, name: string): string | undefined {
  const value = payload[name]
  return typeof value === "string" && value !== "" ? value : undefined
}

export function numberIn(payload: LoosePayload, name: string): number | undefined {
  const value = payload[name]
  return typeof value === "number" && Number.isFinite(value) ? value : undefined
}
