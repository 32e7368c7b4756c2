import { isUtf8 } from "node:buffer"
import { looksLikeJson } from "./json-structure.js"
import type { KnownValues } from "./known-values.js"
import { MASK_MIDDLE, type Mask, maskedSecret, secretTag } from "./mask.js"
import { redactText } from "./redact-text.js"
import type { Ruleset } from "./ruleset.js"
import type { SeenText } from "./seen-text.js"

export interface RedactedBytes {
  /** The same object where nothing was masked. */
  readonly bytes: Uint8Array
  /** Offsets and lengths in bytes. */
  readonly masks: readonly Mask[]
  /** The bytes are no UTF-8 text: the rules could not look into them, and they are as they came. */
  readonly isUndecodable?: true
  readonly failed?: string
}

/**
 * A body with every secret masked. It is searched message by message, so that with a memory the messages an agent sends again and again are
 * searched once.
 */
export function redactBytes(bytes: Uint8Array, ruleset: Ruleset, seen?: SeenText): RedactedBytes {
  if (!isUtf8(bytes)) return { bytes, masks: [], isUndecodable: true }
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const parts: Uint8Array[] = []
  const masks: Mask[] = []
  // Each segment begins outside all strings.
  const isJson = looksLikeJson(whole.toString("latin1", 0, 160))
  const redact = (segment: Buffer): RedactedBytes => redactSegment(segment, ruleset, isJson)
  let length = 0
  for (const segment of messageSegments(whole)) {
    const redacted = seen === undefined ? redact(segment) : seen.once(segment, parts.length, redact)
    if (redacted.failed !== undefined) return redacted
    for (const mask of redacted.masks) masks.push({ ...mask, offset: mask.offset + length })
    parts.push(redacted.bytes)
    length += redacted.bytes.length
  }
  const redacted = masks.length === 0 ? { bytes, masks } : { bytes: Buffer.concat(parts), masks }
  return ruleset.known === undefined ? redacted : maskKnown(redacted, ruleset.known, ruleset.key)
}

/** Outside the memory of what was searched: what is known grows, and nothing that is remembered has to be forgotten because of it. */
function maskKnown(redacted: RedactedBytes, known: KnownValues, key: Uint8Array): RedactedBytes {
  const { bytes } = redacted
  const places = known.findInBytes(bytes)
  if (places.length === 0) return redacted
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const parts: Buffer[] = []
  const masks: Mask[] = []
  const earlier = redacted.masks
  let length = 0
  let at = 0
  let next = 0
  const keepUpTo = (end: number): void => {
    for (; next < earlier.length && earlier[next]!.offset < end; next++) {
      const mask = earlier[next]!
      if (mask.offset >= at) masks.push({ ...mask, offset: mask.offset - at + length })
    }
    parts.push(whole.subarray(at, end))
    length += end - at
    at = end
  }
  for (const { start, end, rule, plain } of places) {
    keepUpTo(start)
    const secret = whole.toString("utf8", start, end)
    const masked = Buffer.from(maskedSecret(secret))
    masks.push({ offset: length, length: masked.length, rule, tag: secretTag(key, plain ?? secret) })
    parts.push(masked)
    length += masked.length
    at = end
  }
  keepUpTo(whole.length)
  return { bytes: Buffer.concat(parts), masks }
}

function redactSegment(segment: Buffer, ruleset: Ruleset, isJson: boolean): RedactedBytes {
  const redacted = redactText(segment.toString("utf8"), ruleset, isJson)
  if (redacted.failed !== undefined) {
    return { bytes: Buffer.from(MASK_MIDDLE), masks: [], failed: redacted.failed }
  }
  if (redacted.masks.length === 0) return { bytes: segment, masks: [] }
  return { bytes: Buffer.from(redacted.text), masks: masksInBytes(redacted.text, redacted.masks) }
}

/** Masks of a text, counted in the bytes of its UTF-8 form. */
export function masksInBytes(text: string, masks: readonly Mask[]): Mask[] {
  let at = 0
  let offset = 0
  return masks.map((mask) => {
    offset += Buffer.byteLength(text.slice(at, mask.offset))
    const start = offset
    offset += Buffer.byteLength(text.slice(mask.offset, mask.offset + mask.length))
    at = mask.offset + mask.length
    return { ...mask, offset: start, length: offset - start }
  })
}

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

const ROLE = Buffer.from('"role"')
const SHORTEST_SEGMENT = 2048

/**
 * Cuts a request between its messages: before the `"role"` of each, which is found at the speed of memory and cannot stand inside a
 * secret. Short messages stay together. The cuts depend on nothing behind them, so a body that begins like the last one is cut like it.
 */
function* messageSegments(body: Buffer): Generator<Buffer> {
  let start = 0
  while (body.length - start > SHORTEST_SEGMENT) {
    const role = body.indexOf(ROLE, start + SHORTEST_SEGMENT)
    if (role < 0) break
    const cut = body[role - 1] === 0x7b ? role - 1 : role
    yield body.subarray(start, cut)
    start = cut
  }
  yield body.subarray(start)
}
