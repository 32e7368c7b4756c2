import { z } from "zod"

export type AttributeValue = string | number | boolean | null
export type Attributes = { readonly [name: string]: AttributeValue }

/** What had to be done to a value to make it a flat scalar. Kept beside the attributes, so that a reader never mistakes one for the other. */
export const AttributeMark = z.enum(["json", "text", "truncated", "unreadable"])
export type AttributeMark = z.infer<typeof AttributeMark>

export const MAX_ATTRIBUTES = 128
export const MAX_ATTRIBUTE_NAME = 256
export const MAX_ATTRIBUTE_TEXT = 4096

export const AttributesSchema = z.record(
  z.string().max(MAX_ATTRIBUTE_NAME),
  z.union([z.string(), z.number(), z.boolean(), z.null()]),
)
export const AttributeMarks = z.record(z.string(), AttributeMark)

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
  // A null prototype, because callers pass keys such as __proto__.
  const attributes: Record<string, AttributeValue> = Object.create(null)
  let marks: Record<string, AttributeMark> | undefined
  const mark = (name: string, what: AttributeMark): void => {
    marks ??= Object.create(null) as Record<string, AttributeMark>
    marks[name] = what
  }

  let names: string[]
  try {
    names = typeof input === "object" ? Object.keys(input) : ["value"]
  } catch {
    return { attributes: {}, marks: { "*": "unreadable" }, dropped: 0 }
  }
  const kept = names.length > MAX_ATTRIBUTES ? names.slice(0, MAX_ATTRIBUTES) : names
  for (const key of kept) {
    const name = key.length > MAX_ATTRIBUTE_NAME ? key.slice(0, MAX_ATTRIBUTE_NAME) : key
    let value: unknown
    try {
      value = typeof input === "object" ? (input as Record<string, unknown>)[key] : input
    } catch {
      attributes[name] = null
      mark(name, "unreadable")
      continue
    }
    switch (typeof value) {
      case "string":
        attributes[name] = value.length > MAX_ATTRIBUTE_TEXT ? cut(value, name, mark) : value
        break
      case "boolean":
        attributes[name] = value
        break
      case "number":
        if (Number.isFinite(value)) attributes[name] = value
        else {
          attributes[name] = String(value)
          mark(name, "text")
        }
        break
      case "undefined":
        break
      case "object":
        if (value === null) attributes[name] = null
        else {
          mark(name, "json")
          attributes[name] = cut(stringify(value), name, mark)
        }
        break
      default:
        mark(name, "text")
        attributes[name] = cut(describe(value), name, mark)
    }
  }
  return { attributes, marks, dropped: names.length - kept.length }
}

function cut(text: string, name: string, mark: (name: string, what: AttributeMark) => void): string {
  if (text.length <= MAX_ATTRIBUTE_TEXT) return text
  mark(name, "truncated")
  return text.slice(0, MAX_ATTRIBUTE_TEXT)
}

function describe(value: unknown): string {
  if (typeof value === "function") return "[function]"
  return String(value as bigint | symbol)
}
