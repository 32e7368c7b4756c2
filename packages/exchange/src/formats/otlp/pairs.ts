import type { Json } from "../told-values.js"

/** Attributes as OTLP/JSON writes them. */
export interface Pair {
  readonly key: string
  readonly value: Json
}

export const text = (key: string, value: string): Pair => ({ key, value: { stringValue: value.toWellFormed() } })
export const whole = (key: string, value: number): Pair => ({ key, value: { intValue: String(value) } })
export const optional = (key: string, value: string | undefined): Pair[] =>
  value === undefined ? [] : [text(key, value)]
export const optionalNumber = (key: string, value: number | null | undefined): Pair[] =>
  typeof value === "number" ? [{ key, value: { doubleValue: value } }] : []
