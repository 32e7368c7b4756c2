import type { Secret } from "./find-secrets.js"
import { looksLikeJson, sparingStructure } from "./json-structure.js"
import { MASK_MIDDLE, type Mask, maskedSecret, secretTag } from "./mask.js"
import type { Ruleset } from "./ruleset.js"
import { searchText } from "./search-text.js"

export interface RedactedText {
  readonly text: string
  readonly masks: readonly Mask[]
  /** A rule threw: the value is gone, the raw one with it, and this says which way it went. */
  readonly failed?: string
}

/**
 * A text with every secret masked. Never throws: where a rule does, the whole value is dropped.
 *
 * @param isJson also where the text is only a piece of the JSON, from outside its strings on
 */
export function redactText(text: string, ruleset: Ruleset, isJson = looksLikeJson(text)): RedactedText {
  try {
    const { secrets: found } = searchText(text, ruleset)
    const secrets = isJson ? sparingStructure(text, found, ruleset) : found
    return secrets.length === 0 ? { text, masks: NO_MASKS } : applyMasks(text, secrets, ruleset.key)
  } catch (error) {
    return failedText(error)
  }
}

const NO_MASKS: readonly Mask[] = Object.freeze([])

export function applyMasks(text: string, secrets: readonly Secret[], key: Uint8Array): RedactedText {
  const masks: Mask[] = []
  // The same secret over and over is common in a log, and its tag costs more than finding it.
  const tags = new Map<string, string>()
  const tagOf = (secret: string): string => {
    const known = tags.get(secret) ?? secretTag(key, secret)
    tags.set(secret, known)
    return known
  }
  let redacted = ""
  let at = 0
  for (const { start, end, rule, plain, isNumber } of secrets) {
    const secret = text.slice(start, end)
    const masked = maskedSecret(secret)
    const quote = isNumber ? '"' : ""
    redacted += text.slice(at, start) + quote
    masks.push({ offset: redacted.length, length: masked.length, rule, tag: tagOf(plain ?? secret) })
    redacted += masked + quote
    at = end
  }
  return { text: redacted + text.slice(at), masks }
}

// The class of the error and nothing else: its message may quote the text.
export function failedText(error: unknown): RedactedText {
  return { text: MASK_MIDDLE, masks: NO_MASKS, failed: error instanceof Error ? error.constructor.name : typeof error }
}
