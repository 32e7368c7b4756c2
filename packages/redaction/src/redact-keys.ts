import { type JsonNode, readJson } from "@orangebox/contract"
import { isMask, type Mask, maskedSecret, secretTag } from "./mask.js"
import type { RedactedBytes } from "./redact-bytes.js"
import type { KeyPolicy } from "./redact-value.js"

/**
 * The user's rules about keys, in a body that is JSON: the value under such a key goes as a whole, every other byte stays where it was.
 * A dropped value leaves `null`, so that the body can still be read.
 */
export function redactKeys(redacted: RedactedBytes, key: Uint8Array, policyOfKey: KeyPolicy): RedactedBytes {
  if (redacted.failed !== undefined || !looksLikeJson(redacted.bytes)) return redacted
  const text = Buffer.from(redacted.bytes).toString("utf8")
  const reading = readJson(text)
  if (!reading.ok) return redacted
  const cuts = cutsIn(reading.node, policyOfKey)
  if (cuts.length === 0) return redacted

  const parts: string[] = []
  const ours: Mask[] = []
  const kept: Mask[] = []
  const earlier = [...redacted.masks]
  let at = 0
  let bytesIn = 0
  let bytesOut = 0
  for (const { node, policy } of cuts) {
    const before = text.slice(at, node.start)
    const written = text.slice(node.start, node.end)
    const beforeBytes = Buffer.byteLength(before)
    keepMasks(earlier, bytesIn + beforeBytes, bytesOut - bytesIn, kept)
    const value = node.kind === "string" ? node.value : written
    const replaced = replacement(value, policy, key)
    bytesIn += beforeBytes + Buffer.byteLength(written)
    bytesOut += beforeBytes
    if (policy === "mask" && !isMask(value)) {
      ours.push({
        offset: bytesOut + 1,
        length: Buffer.byteLength(replaced) - 2,
        rule: "user-key",
        tag: secretTag(key, value),
      })
    }
    // What was masked inside the value is gone with it.
    while (earlier.length > 0 && earlier[0]!.offset < bytesIn) earlier.shift()
    bytesOut += Buffer.byteLength(replaced)
    parts.push(before, replaced)
    at = node.end
  }
  keepMasks(earlier, Number.POSITIVE_INFINITY, bytesOut - bytesIn, kept)
  parts.push(text.slice(at))
  const masks = [...kept, ...ours].sort((a, b) => a.offset - b.offset)
  return { bytes: Buffer.from(parts.join("")), masks }
}

function keepMasks(earlier: Mask[], before: number, shift: number, kept: Mask[]): void {
  while (earlier.length > 0 && earlier[0]!.offset < before) {
    const mask = earlier.shift()!
    kept.push({ ...mask, offset: mask.offset + shift })
  }
}

function replacement(value: string, policy: "mask" | "drop" | "hash", key: Uint8Array): string {
  if (policy === "drop") return "null"
  if (isMask(value)) return JSON.stringify(value)
  return JSON.stringify(policy === "hash" ? `hmac:${secretTag(key, value)}` : maskedSecret(value))
}

interface Cut {
  readonly node: JsonNode
  readonly policy: "mask" | "drop" | "hash"
}

/** In the order they stand in the text, none inside another. */
function cutsIn(root: JsonNode, policyOfKey: KeyPolicy): Cut[] {
  const cuts: Cut[] = []
  const open: JsonNode[] = [root]
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (node.kind === "array") for (const item of node.items) open.push(item)
    if (node.kind !== "object") continue
    for (const { key, value } of node.members) {
      const policy = policyOfKey(key)
      const isEmpty = value.kind === "literal" && value.value === null
      if (policy === undefined || policy === "allow" || isEmpty) open.push(value)
      else cuts.push({ node: value, policy })
    }
  }
  return cuts.sort((a, b) => a.node.start - b.node.start)
}

function looksLikeJson(bytes: Uint8Array): boolean {
  const first = bytes.find((byte) => byte > 0x20)
  return first === 0x7b || first === 0x5b
}
