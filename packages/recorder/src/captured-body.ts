import { types } from "node:util"
import type { BodyHash } from "@orangebox/contract"
import { carelessJson } from "./careless-json.js"

/** Bytes as they are stored. */
export interface CapturedBody {
  readonly hash: BodyHash
  readonly bytes: Uint8Array
}

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
  return textBody(carelessJson(value), "application/json")
}

function bytesBody(bytes: Uint8Array): GivenBody {
  return { bytes, mimeType: "application/octet-stream" }
}

function textBody(text: string, mimeType: string): GivenBody {
  return { bytes: Buffer.from(text, "utf8"), mimeType }
}
