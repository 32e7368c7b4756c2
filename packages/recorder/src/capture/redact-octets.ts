import { MASK_MIDDLE, type Mask, type RedactedBytes, type Ruleset, redactText } from "../redaction/index.js"

/** Bytes that are no UTF-8: secrets are plain letters wherever they stand, so each byte is read as one character and the rest stays as it is. */
export function redactOctets(bytes: Uint8Array, ruleset: Ruleset): RedactedBytes {
  const { text, masks, failed } = redactText(
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1"),
    ruleset,
  )
  if (failed !== undefined) return { bytes: Buffer.from(MASK_MIDDLE), masks: [], failed }
  if (masks.length === 0) return { bytes, masks: [] }
  return octetsWithMasks(text, masks)
}

/** The masks are ours and UTF-8; everything around them goes back to the bytes it came from. */
export function octetsWithMasks(text: string, masks: readonly Mask[]): { bytes: Uint8Array; masks: Mask[] } {
  const parts: Buffer[] = []
  const placed: Mask[] = []
  let at = 0
  let length = 0
  for (const mask of masks) {
    const before = Buffer.from(text.slice(at, mask.offset), "latin1")
    at = mask.offset + mask.length
    const masked = Buffer.from(text.slice(mask.offset, at), "utf8")
    placed.push({ ...mask, offset: length + before.length, length: masked.length })
    parts.push(before, masked)
    length += before.length + masked.length
  }
  parts.push(Buffer.from(text.slice(at), "latin1"))
  return { bytes: Buffer.concat(parts), masks: placed }
}
