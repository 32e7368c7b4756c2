import { isUtf8 } from "node:buffer"
import type { BodyToWrite } from "./journal.js"
import type { OpenJournalFile } from "./journal-file.js"

/**
 * Up to here a body stands in the line itself, above it goes raw into the sidecar. Measured with Node 20 on ext4, distinct bodies: at 512
 * bytes escaping and a second write(2) cost about the same (2 to 5 µs), at 1 KiB and above the write is cheaper, quotes or not.
 */
export const INLINE_BYTES = 512

/** `,"b":[…]}`, the end of an event line, after making sure that the bytes it refers to are in the file. */
export function bodiesJson(file: OpenJournalFile, bodies: readonly BodyToWrite[]): string {
  let json = ',"b":['
  for (let i = 0; i < bodies.length; i++) {
    if (i > 0) json += ","
    json += bodyJson(file, bodies[i]!)
  }
  return `${json}]}`
}

function bodyJson(file: OpenJournalFile, body: BodyToWrite): string {
  if ("streamId" in body) return `{"h":"${body.hash}","n":${body.byteSize},"s":${JSON.stringify(body.streamId)}}`
  const { hash, bytes } = body
  return bytes.length <= INLINE_BYTES
    ? `{"h":"${hash}",${inlineJson(bytes)}}`
    : `{"h":"${hash}","n":${bytes.length},"at":${file.placeBody(hash, bytes)}}`
}

/** A piece of a stream; it has no address of its own. */
export function chunkJson(file: OpenJournalFile, bytes: Uint8Array): string {
  return bytes.length <= INLINE_BYTES
    ? `{${inlineJson(bytes)}}`
    : `{"n":${bytes.length},"at":${file.placeBytes(bytes)}}`
}

function inlineJson(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  // Decoding is lossless only for well-formed UTF-8; anything else would come back as replacement characters.
  return isUtf8(buffer)
    ? `"n":${bytes.length},"t":${JSON.stringify(buffer.toString("utf8"))}`
    : `"n":${bytes.length},"b64":"${buffer.toString("base64")}"`
}
