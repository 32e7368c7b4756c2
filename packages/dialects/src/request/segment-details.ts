import {
  type BodyHash,
  bodyHash,
  canonicalJsonNode,
  type JsonNode,
  readJson,
  type Segment,
  textHash,
} from "@orangebox/contract"
import { objectNode, textNode } from "../json/node.js"
import { decodedMedia } from "../signature/media.js"
import type { PromptPart } from "./outline.js"
import { CACHE_MARKS, writtenText } from "./part-hash.js"
import { type VolatileSpan, volatileSpans, withoutVolatile } from "./volatile-spans.js"

/** What tells the reasons apart for which a part is not the bytes it was before. */
export type SegmentDetails = Pick<
  Segment,
  "canonical_hash" | "media_hash" | "stable_hash" | "volatile" | "volatile_count"
>

/** More is no text with a clock in it but a log; the hash without volatile values covers all of them. */
const MOST_SPANS = 16

/**
 * Worked out once for each text in a process: history comes again with every request, and is looked up by its hash. Only digests and places
 * are kept, no text.
 */
const known = new Map<BodyHash, SegmentDetails>()
const MOST_KNOWN = 8192

export function segmentDetails(part: PromptPart, hash: BodyHash, text: string): SegmentDetails {
  const before = known.get(hash)
  if (before) return before
  const details = newDetails(part, text)
  if (known.size >= MOST_KNOWN) known.delete(known.keys().next().value!)
  known.set(hash, details)
  return details
}

function newDetails({ node, kind }: PromptPart, text: string): SegmentDetails {
  const media = kind === "text" || kind === "tool-def" ? [] : mediaIn(node)
  const canonical_hash = textHash(canonicalJsonNode(orderFree(withoutMarks(node)), { text }))
  // The letters of a picture look like anything.
  if (media.length > 0)
    return { canonical_hash, media_hash: media.length === 1 ? media[0]! : textHash(media.join("\0")) }
  const written = writtenText(node, text)
  const spans = volatileSpans(written)
  if (spans.length === 0) return { canonical_hash }
  return {
    canonical_hash,
    stable_hash: textHash(withoutVolatile(written, spans)),
    volatile: inBytes(written, spans.slice(0, MOST_SPANS)),
    ...(spans.length > MOST_SPANS ? { volatile_count: spans.length } : {}),
  }
}

function inBytes(text: string, spans: readonly VolatileSpan[]): VolatileSpan[] {
  let at = 0
  let bytes = 0
  return spans.map(({ kind, start, length }) => {
    bytes += Buffer.byteLength(text.slice(at, start))
    at = start
    return { kind, start: bytes, length: Buffer.byteLength(text.slice(start, start + length)) }
  })
}

function withoutMarks(node: JsonNode): JsonNode {
  if (node.kind !== "object" || !node.members.some(({ key }) => CACHE_MARKS.has(key))) return node
  return objectNode(
    node.members.filter(({ key }) => !CACHE_MARKS.has(key)),
    node,
  )
}

/** Arguments and results are often JSON inside a text, and come out in another order as easily as any. */
function orderFree(node: JsonNode): JsonNode {
  if (node.kind !== "object") return node.kind === "string" ? orderFreeText(node) : node
  let isChanged = false
  const members = node.members.map((member) => {
    const value = orderFree(member.value)
    if (value !== member.value) isChanged = true
    return value === member.value ? member : { key: member.key, value }
  })
  return isChanged ? objectNode(members, node) : node
}

function orderFreeText(node: Extract<JsonNode, { kind: "string" }>): JsonNode {
  if (!/^\s*[[{]/.test(node.value)) return node
  const reading = readJson(node.value)
  return reading.ok ? textNode(canonicalJsonNode(reading.node), node) : node
}

/** The bytes a part carries in some spelling, each by its hash. */
function mediaIn(root: JsonNode): BodyHash[] {
  const hashes: BodyHash[] = []
  const visit = (node: JsonNode, isData: boolean): void => {
    if (node.kind === "array") for (const item of node.items) visit(item, false)
    else if (node.kind === "object") for (const { key, value } of node.members) visit(value, DATA_MEMBERS.has(key))
    else if (node.kind === "string" && (isData || node.value.startsWith("data:"))) {
      const bytes = decodedMedia(node.value)?.bytes
      if (bytes !== undefined) hashes.push(bodyHash(bytes))
    }
  }
  visit(root, false)
  return hashes
}

/** Where the dialects put bytes; a data URL tells itself. */
const DATA_MEMBERS: ReadonlySet<string> = new Set(["data", "file_data", "bytes"])
