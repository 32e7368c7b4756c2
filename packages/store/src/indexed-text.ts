import { hash } from "node:crypto"
import { readableText } from "@orangebox/dialects"
import { textSegments } from "./text-segments.js"

/** Beyond this a body's text is not indexed; it is still stored and can be read. */
export const MAX_INDEXED_BYTES = 4 * 1024 * 1024
const DIGEST_BYTES = 12

/** What is searched in a body: a streamed answer as the text it adds up to, JSON as its strings. Bad bytes have no words. */
export function bodySegments(bytes: Uint8Array, mime: string | null): string[] {
  try {
    return textSegments(readableText(bytes.subarray(0, MAX_INDEXED_BYTES), mime ?? "application/octet-stream"))
  } catch {
    return []
  }
}

export function textDigest(text: string): Buffer {
  return hash("sha256", text, "buffer").subarray(0, DIGEST_BYTES)
}

/** As much of a body as is searched. */
export function headOf(bytes: Uint8Array | Iterable<Uint8Array>): Uint8Array {
  if (bytes instanceof Uint8Array) return bytes.subarray(0, MAX_INDEXED_BYTES)
  const pieces: Uint8Array[] = []
  let length = 0
  for (const piece of bytes) {
    pieces.push(piece)
    length += piece.length
    if (length >= MAX_INDEXED_BYTES) break
  }
  return Buffer.concat(pieces).subarray(0, MAX_INDEXED_BYTES)
}
