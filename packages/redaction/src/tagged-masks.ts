import type { Mask } from "./mask.js"

/**
 * A redacted body with the tag of each secret in the place of its mask. Whatever is signed or hashed to be compared is taken from this form:
 * two secrets that mask alike stay two, and a short one cannot be guessed from the hash, because the tag is keyed.
 */
export function taggedBytes(bytes: Uint8Array, masks: readonly Pick<Mask, "offset" | "length" | "tag">[]): Uint8Array {
  if (masks.length === 0) return bytes
  const parts: Uint8Array[] = []
  let at = 0
  for (const { offset, length, tag } of masks) {
    parts.push(bytes.subarray(at, offset), Buffer.from(tagText(tag)))
    at = offset + length
  }
  parts.push(bytes.subarray(at))
  return Buffer.concat(parts)
}

export function taggedText(text: string, masks: readonly Pick<Mask, "offset" | "length" | "tag">[]): string {
  let tagged = ""
  let at = 0
  for (const { offset, length, tag } of masks) {
    tagged += text.slice(at, offset) + tagText(tag)
    at = offset + length
  }
  return tagged + text.slice(at)
}

const tagText = (tag: string): string => `…redacted:${tag}…`
