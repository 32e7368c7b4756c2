/**
 * Reading a payload without trusting its shape: events are kept even when they break the contract or come from a newer minor version.
 * A value of the wrong type reads as unknown.
 */
export interface LoosePayload {
  readonly [name: string]: unknown
}

export function payloadOf(event: { readonly payload?: unknown } | null | undefined): LoosePayload {
  return asRecord(event?.payload) ?? NOTHING
}

/** An empty text says nothing, and reads as unknown. */
export function textIn(payload: LoosePayload, name: string): string | undefined {
  const value = payload[name]
  return typeof value === "string" && value !== "" ? value : undefined
}

export function numberIn(payload: LoosePayload, name: string): number | undefined {
  const value = payload[name]
  return typeof value === "number" && Number.isFinite(value) ? value : undefined
}

/** A duration or a sum of money: it may have a fraction and is never negative. */
export function amountIn(payload: LoosePayload, name: string): number | undefined {
  const value = numberIn(payload, name)
  return value !== undefined && value >= 0 ? value : undefined
}

export function integerIn(payload: LoosePayload, name: string): number | undefined {
  const value = payload[name]
  return typeof value === "number" && Number.isSafeInteger(value) ? value : undefined
}

/** How many of something: whole and never negative. */
export function countIn(payload: LoosePayload, name: string): number | undefined {
  const value = integerIn(payload, name)
  return value !== undefined && value >= 0 ? value : undefined
}

export function listIn(payload: LoosePayload, name: string): readonly unknown[] {
  const value = payload[name]
  return Array.isArray(value) ? value : []
}

export function textsIn(payload: LoosePayload, name: string): readonly string[] {
  return listIn(payload, name).filter((entry) => typeof entry === "string")
}

export function recordsIn(payload: LoosePayload, name: string): readonly LoosePayload[] {
  return listIn(payload, name).filter(isRecord)
}

export function recordIn(payload: LoosePayload, name: string): LoosePayload {
  return asRecord(payload[name]) ?? NOTHING
}

export function asRecord(value: unknown): LoosePayload | undefined {
  return isRecord(value) ? value : undefined
}

export function isRecord(value: unknown): value is LoosePayload {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

const NOTHING: LoosePayload = {}
