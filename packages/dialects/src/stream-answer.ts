import type { Dialect } from "./dialect.js"
import { decodeUtf8 } from "./json/body.js"
import { isRecord, parseJson } from "./json/value.js"

/**
 * A whole answer in the form in which the provider streams it: the inverse of folding a stream. Undefined where the bytes are no answer of
 * this dialect.
 */
export function streamAnswer(dialect: Dialect, whole: Uint8Array): Uint8Array | undefined {
  const text = decodeUtf8(whole)
  const value = parseJson(text)
  if (!isRecord(value) || !dialect.claimsAnswer(value)) return undefined
  const frames = dialect
    .streamEvents({ value, text })
    .map(({ event, data }) => `${event === null ? "" : `event: ${event}\n`}data: ${data}\n\n`)
  return new TextEncoder().encode(frames.join(""))
}
