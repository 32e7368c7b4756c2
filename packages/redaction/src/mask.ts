import { createHmac } from "node:crypto"
import { MASK_MIDDLE } from "@orangebox/contract"

export { MASK_MIDDLE }

/** One mask in a redacted text. */
export interface Mask {
  /** Where the mask stands in the redacted text: UTF-16 units in a string, bytes in a body. */
  readonly offset: number
  readonly length: number
  /** The rule that found the secret. */
  readonly rule: string
  /** Tells different secrets apart that mask alike, and equal ones together; worthless without the store's key. */
  readonly tag: string
}

/**
 * A secret with its middle taken out: present and comparable, so that a rotated key shows as a change, and useless to a thief. The longer
 * it is, the more of its ends may be seen.
 */
export function maskedSecret(secret: string): string {
  const shown = shownLength(secret.length)
  if (shown === 0 || hasFragileEnds(secret, shown)) return MASK_MIDDLE
  return secret.slice(0, shown) + MASK_MIDDLE + secret.slice(-shown)
}

function shownLength(length: number): number {
  return length >= 13 ? 3 : length >= 11 ? 2 : length >= 8 ? 1 : 0
}

// Half an escape would break the JSON or the address around it, half a surrogate pair the UTF-8, and an odd byte the UTF-16 (the middle of
// a mask has an even number). No JSON escape is longer than six characters; written inside a second string its backslash doubles.
const LONGEST_ESCAPE = 8
const PART_OF_ESCAPE = /[\\%&\x00-\x1f]/

function hasFragileEnds(secret: string, shown: number): boolean {
  const head = secret.slice(0, shown)
  const tail = secret.slice(-LONGEST_ESCAPE)
  return (
    PART_OF_ESCAPE.test(head) ||
    PART_OF_ESCAPE.test(tail) ||
    isHighSurrogate(secret.charCodeAt(shown - 1)) ||
    isLowSurrogate(secret.charCodeAt(secret.length - shown))
  )
}

const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdbff
const isLowSurrogate = (code: number): boolean => code >= 0xdc00 && code <= 0xdfff

/**
 * Whether a text is a mask and nothing else. Exact on purpose: the mask's middle inside a longer text proves nothing, and must not be a
 * way to smuggle a secret past the rules.
 */
export function isMask(text: string): boolean {
  const shown = (text.length - MASK_MIDDLE.length) / 2
  return shown >= 0 && shown <= 3 && Number.isInteger(shown) && text.startsWith(MASK_MIDDLE, shown)
}

/** Whether the last characters before `at` end a mask: what follows then is the shown end of a secret, not a text of its own. */
export function isEndOfMask(text: string, at: number): boolean {
  for (let shown = 0; shown <= 3; shown++) {
    const end = at - shown
    if (end >= MASK_MIDDLE.length && text.charCodeAt(end - 1) === 0x2026) {
      return text.startsWith(MASK_MIDDLE, end - MASK_MIDDLE.length)
    }
  }
  return false
}

const TAG_LENGTH = 24

/**
 * The keyed tag of a secret. Line breaks do not count, so that a private key has one tag whether it stands in a file, in a JSON string or
 * in an environment variable.
 */
export function secretTag(key: Uint8Array, secret: string): string {
  const plain = secret.replace(/\\{1,7}[nr]|[\s\\]/g, "")
  return createHmac("sha256", key).update(plain).digest("hex").slice(0, TAG_LENGTH)
}
