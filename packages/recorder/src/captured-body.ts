import { types } from "node:util"
import type { BodyHash } from "@orangebox/contract"
import { safeStringify } from "./safe-stringify.js"

/** Bytes as they are stored. */
export interface CapturedBody {
  readonly hash: BodyHash
  readonly bytes: Uint8Array
}

/**
 * Bodies that went through the capture mode. What else is handed to an event as a body has not been searched for secrets, and the event
 * builder does not write it, unless everything is kept.
 */
const captured = new WeakSet<object>()

export function markCaptured<T extends object>(body: T): T {
  captured.add(body)
  return body
}

export const isMarkedCaptured = (body: object): boolean => captured.has(body)

/** A value as bytes, and what they are. */
export interface GivenBody {
  readonly bytes: Uint8Array
  readonly mimeType: string
}

/**
 * Any value as a body. Bytes stay as they are; a string is its UTF-8 text; everything else is its JSON. A string with lone surrogates has
 * no UTF-8 form (it would come back changed), so it is kept as a JSON string, where they survive as escapes.
 */
export function bytesOf(value: unknown): GivenBody {
  // Not `instanceof`: it asks the value for its prototype, and a proxy may refuse.
  if (types.isUint8Array(value)) return bytesBody(value)
  if (types.isArrayBuffer(value)) return bytesBody(new Uint8Array(value))
  if (typeof value === "string" && value.isWellFormed()) return textBody(value, "text/plain; charset=utf-8")
  return textBody(safeStringify(value), "application/json")
}

function bytesBody(bytes: Uint8Array): GivenBody {
  return { bytes, mimeType: "application/octet-stream" }
}

function textBody(text: string, mimeType: string): GivenBody {
  return { bytes: Buffer.from(text, "utf8"), mimeType }
}
