import { type JsonNode, readJson } from "@orangebox/contract"

/**
 * A body read once and shared by everything that asks about it: anatomy, signature and lanes of one request are three questions to one
 * tree, and reading the tree is most of their cost.
 */
export interface JsonBody {
  readonly bytes: Uint8Array
  readonly text: string
  /** Undefined when the bytes are not JSON. */
  readonly root: JsonNode | undefined
  /** Where a character of `text` stands in `bytes`. */
  byteOffset(character: number): number
}

export function readBody(bytes: Uint8Array): JsonBody {
  const whole = decodeUtf8(bytes)
  const mark = whole.charCodeAt(0) === 0xfeff ? 1 : 0
  const text = whole.slice(mark)
  const reading = readJson(text)
  return {
    bytes,
    text,
    root: reading.ok ? reading.node : undefined,
    byteOffset: byteOffsets(text, bytes.length, mark === 1 ? 3 : 0),
  }
}

export const bodyOf = (body: Uint8Array | JsonBody): JsonBody => (body instanceof Uint8Array ? readBody(body) : body)

export function decodeUtf8(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8")
}

// Spans are asked for mostly in ascending order, so each answer starts from the last one; a body of plain ASCII needs no counting at all.
function byteOffsets(text: string, byteLength: number, before: number): (character: number) => number {
  if (text.length + before === byteLength) return (character) => character + before
  let lastCharacter = 0
  let lastByte = before
  return (character) => {
    if (character < lastCharacter) {
      lastCharacter = 0
      lastByte = before
    }
    lastByte += Buffer.byteLength(text.slice(lastCharacter, character), "utf8")
    lastCharacter = character
    // Bytes that are not UTF-8 decode to a replacement three bytes long; a span never points behind the body because of them.
    return Math.min(lastByte, byteLength)
  }
}
