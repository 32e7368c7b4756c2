/** Plain JSON values, for folding: an answer is read once, changed while it streams, and handed out as the API would have given it. */
export type JsonValue = null | boolean | number | string | JsonValue[] | JsonRecord
export interface JsonRecord {
  [key: string]: JsonValue
}

export function isRecord(value: JsonValue | undefined): value is JsonRecord {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

export const recordOf = (value: JsonValue | undefined): JsonRecord => (isRecord(value) ? value : {})
export const listOf = (value: JsonValue | undefined): JsonValue[] => (Array.isArray(value) ? value : [])
export const recordsOf = (value: JsonValue | undefined): JsonRecord[] => listOf(value).filter(isRecord)
export const textOf = (value: JsonValue | undefined): string | null => (typeof value === "string" ? value : null)

/** A count a provider reported; anything else (absent, null, negative, a fraction) is unknown, and unknown is not zero. */
export function countOf(value: JsonValue | undefined): number | null {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : null
}

/** A place in a list as a stream names it. Streams are hostile, so it only ever becomes a map key, never an array length. */
export const indexOf = (value: JsonValue | undefined): number => countOf(value) ?? 0

/**
 * Undefined when the text is not JSON, or nested deeper than any answer is: folding merges and copies values with the call stack, and a
 * hostile body must not be able to end the process that reads it.
 */
export function parseJson(text: string): JsonValue | undefined {
  if (isTooDeep(text)) return undefined
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return undefined
  }
}

const DEEPEST = 1_000

function isTooDeep(text: string): boolean {
  // Depth needs a bracket on either side, so most stream events are too short to be looked at.
  if (text.length < 2 * DEEPEST) return false
  let depth = 0
  let isInString = false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (isInString) {
      if (code === 0x5c) at++
      else if (code === 0x22) isInString = false
    } else if (code === 0x22) isInString = true
    else if (code === 0x5b || code === 0x7b) {
      if (++depth > DEEPEST) return true
    } else if (code === 0x5d || code === 0x7d) depth--
  }
  return false
}

/** Assignment that cannot reach the prototype: a recorded body may well have a key called `__proto__`. */
export function setOwn(target: JsonRecord, key: string, value: JsonValue): void {
  if (key !== "__proto__") target[key] = value
  else Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true })
}

export function assignOwn(target: JsonRecord, source: JsonRecord): void {
  for (const key of Object.keys(source)) setOwn(target, key, source[key]!)
}

/** The values of a map in the order of its numeric keys. */
export function inOrder<T>(byIndex: ReadonlyMap<number, T>): T[] {
  return [...byIndex.entries()].sort((a, b) => a[0] - b[0]).map((entry) => entry[1])
}
