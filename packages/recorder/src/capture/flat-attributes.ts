import { type FlatAttributes, flattenAttributes, MAX_ATTRIBUTE_NAME, MAX_ATTRIBUTE_TEXT } from "@orangebox/contract"
import { safeStringify } from "../safe-stringify.js"
import type { Capture } from "./capture.js"

/**
 * Whatever a caller passed, as flat attributes. What will be cut is searched before: half a secret has no form to be known by. The rest
 * is searched with the event it stands in.
 */
export function flatAttributes(capture: Capture, given: unknown): FlatAttributes | undefined {
  if (capture.mode !== "redacted") return flattenAttributes(given, safeStringify)
  return flattenAttributes(withoutLongSecrets(capture, given), (value) =>
    capture.text(safeStringify(value).slice(0, LONGEST)),
  )
}

const LONGEST = 16 * MAX_ATTRIBUTE_TEXT

function withoutLongSecrets(capture: Capture, given: unknown): unknown {
  if (typeof given === "string") return isLong(given) ? capture.text(given.slice(0, LONGEST)) : given
  if (typeof given !== "object" || given === null) return given
  try {
    let copy: Record<string, unknown> | undefined
    for (const [name, value] of Object.entries(given)) {
      const isLongName = name.length > MAX_ATTRIBUTE_NAME
      if (!isLongName && (typeof value !== "string" || !isLong(value))) continue
      copy ??= { ...given }
      if (isLongName) delete copy[name]
      copy[isLongName ? capture.text(name.slice(0, LONGEST)) : name] =
        typeof value === "string" && isLong(value) ? capture.text(value.slice(0, LONGEST)) : value
    }
    return copy ?? given
  } catch {
    // What cannot be read is said to be so where it is made flat.
    return given
  }
}

const isLong = (text: string): boolean => text.length > MAX_ATTRIBUTE_TEXT
