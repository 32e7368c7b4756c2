import type { AttributeMark } from "./generated.js"

export type AttributeValue = string | number | boolean | null
export type Attributes = { readonly [name: string]: AttributeValue }

export const MAX_ATTRIBUTES = 128
export const MAX_ATTRIBUTE_NAME = 256
export const MAX_ATTRIBUTE_TEXT = 4096

export interface FlatAttributes {
  readonly attributes: Attributes
  readonly marks: { readonly [name: string]: AttributeMark } | undefined
  /** How many attributes were over the limit and are not kept. */
  readonly dropped: number
}

/**
 * Whatever a caller passed, as flat scalars. Nested values become JSON text and are marked `json`; bigints, symbols, functions and
 * non-finite numbers become text and are marked `text`; what cannot be read at all is marked `unreadable`. Never throws.
 */
export function flattenAttributes(input: unknown, stringify: (value: unknown) => string): FlatAttributes | undefined {
  if (input === undefined || input === null) return undefined
  if (typeof input !== "object") return flattenEach({ value: input }, ["value"], 0, stringify)
  let names: string[]
  try {
    names = Object.keys(input)
  } catch {
    return { attributes: {}, marks: { "*": "unreadable" }, dropped: 0 }
  }
  const dropped = Math.max(0, names.length - MAX_ATTRIBUTES)
  if (dropped > 0) names.length = MAX_ATTRIBUTES
  return flattenEach(input as Record<string, unknown>, names, dropped, stringify)
}

type Marks = Record<string, AttributeMark>

function flattenEach(
  input: Record<string, unknown>,
  keys: readonly string[],
  alreadyDropped: number,
  stringify: (value: unknown) => string,
): FlatAttributes {
  const attributes: Record<string, AttributeValue> = {}
  let marks: Marks | undefined
  let dropped = alreadyDropped

  for (const key of keys) {
    let name = key
    if (key.length > MAX_ATTRIBUTE_NAME) {
      name = cut(key, MAX_ATTRIBUTE_NAME)
      if (Object.hasOwn(attributes, name)) {
        dropped++
        continue
      }
      marks = marked(marks, name, "truncated")
    }

    let value: unknown
    let flat: AttributeValue
    try {
      value = input[key]
      if (typeof value === "string" || typeof value === "boolean" || value === null) flat = value
      else if (typeof value === "number" && Number.isFinite(value)) flat = value
      else if (value === undefined) continue
      else {
        flat = typeof value === "object" ? stringify(value) : typeof value === "function" ? "[function]" : String(value)
        marks = marked(marks, name, typeof value === "object" ? "json" : "text")
      }
    } catch {
      flat = null
      marks = marked(marks, name, "unreadable")
    }
    if (typeof flat === "string" && flat.length > MAX_ATTRIBUTE_TEXT) {
      flat = cut(flat, MAX_ATTRIBUTE_TEXT)
      marks = marked(marks, name, "truncated")
    }
    put(attributes, name, flat)
  }
  return { attributes, marks, dropped }
}

function marked(marks: Marks | undefined, name: string, mark: AttributeMark): Marks {
  const all = marks ?? {}
  put(all, name, mark)
  return all
}

// A plain object, because one without a prototype is a hash table to V8 and costs three times as much to fill and to stringify. The one
// name that a plain object does not take by assignment is defined instead.
function put<T>(record: Record<string, T>, name: string, value: T): void {
  if (name === "__proto__") {
    Object.defineProperty(record, name, { value, enumerable: true, writable: true, configurable: true })
  } else {
    record[name] = value
  }
}

/** The first characters of a text, without half a surrogate pair at the end. */
function cut(text: string, length: number): string {
  const last = text.charCodeAt(length - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length)
}
