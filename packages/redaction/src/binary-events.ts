import { crc32 } from "node:zlib"
import { MASK_MIDDLE } from "./mask.js"

/**
 * One message of a binary event stream (`…eventstream` media types): lengths of the whole and of its headers, a checksum of both, headers, payload,
 * a checksum of everything. Payloads are JSON; some hold their event once more, as base64 under `bytes`.
 */
export interface BinaryEvent {
  readonly whole: Buffer
  readonly headers: Buffer
  readonly payload: Buffer
}

const PRELUDE = 12
const CHECKSUM = 4
const LONGEST = 16 * 1024 * 1024

/** The message that begins a buffer; undefined where it has not all come, and `damaged` where no more bytes can make it one. */
export function readBinaryEvent(buffer: Buffer): BinaryEvent | undefined | "damaged" {
  if (buffer.length < PRELUDE) return undefined
  if (!hasPrelude(buffer)) return "damaged"
  const length = buffer.readUInt32BE(0)
  const headersLength = buffer.readUInt32BE(4)
  if (buffer.length < length) return undefined
  const whole = buffer.subarray(0, length)
  if (whole.readUInt32BE(length - CHECKSUM) !== crc32(whole.subarray(0, length - CHECKSUM))) return "damaged"
  const payloadAt = PRELUDE + headersLength
  return { whole, headers: whole.subarray(PRELUDE, payloadAt), payload: whole.subarray(payloadAt, length - CHECKSUM) }
}

export function writeBinaryEvent(headers: Uint8Array, payload: Uint8Array): Buffer {
  const length = PRELUDE + headers.length + payload.length + CHECKSUM
  const whole = Buffer.alloc(length)
  whole.writeUInt32BE(length, 0)
  whole.writeUInt32BE(headers.length, 4)
  whole.writeUInt32BE(crc32(whole.subarray(0, 8)), 8)
  whole.set(headers, PRELUDE)
  whole.set(payload, PRELUDE + headers.length)
  whole.writeUInt32BE(crc32(whole.subarray(0, length - CHECKSUM)), length - CHECKSUM)
  return whole
}

/** Where the payload of a message begins. */
export const payloadStart = (headers: Uint8Array): number => PRELUDE + headers.length

/** What a payload says, as one line of JSON, and how to write another line in its place; undefined where it is no JSON. */
export function lineOfPayload(
  payload: Uint8Array,
): { readonly line: string; readonly isEncoded: boolean; write(line: string): Buffer } | undefined {
  try {
    const outer = JSON.parse(Buffer.from(payload).toString("utf8")) as unknown
    const encoded = encodedEvent(outer)
    if (encoded === undefined)
      return { line: oneLine(payload, outer), isEncoded: false, write: (line) => Buffer.from(line) }
    const inner = Buffer.from(encoded, "base64")
    const line = oneLine(inner, JSON.parse(inner.toString("utf8")))
    return {
      line,
      isEncoded: true,
      write: (redacted) =>
        Buffer.from(JSON.stringify({ ...(outer as object), bytes: Buffer.from(redacted).toString("base64") })),
    }
  } catch {
    return undefined
  }
}

function encodedEvent(payload: unknown): string | undefined {
  if (typeof payload !== "object" || payload === null || !("bytes" in payload)) return undefined
  return typeof payload.bytes === "string" ? payload.bytes : undefined
}

/** As it was written, where it is one line already. */
function oneLine(bytes: Uint8Array, value: unknown): string {
  const text = Buffer.from(bytes).toString("utf8")
  return /[\r\n]/.test(text) ? JSON.stringify(value) : text
}

/** What the messages of a whole body say, one line each. */
export interface BinaryEventLines {
  readonly lines: readonly string[]
  /** Some of it is no whole message, or carries no JSON. What can be read of it is among the lines all the same. */
  readonly isDamaged: boolean
}

export function linesOfBinaryEvents(bytes: Uint8Array): BinaryEventLines {
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const lines: string[] = []
  let isDamaged = body.length === 0
  for (let at = 0; at < body.length; ) {
    const rest = body.subarray(at)
    // What a recorder withheld of a damaged stream is gone, and no damage to what it kept.
    if (rest.equals(WITHHELD)) break
    const payload = payloadOf(rest)
    if (payload === undefined) {
      isDamaged = true
      at += nextPrelude(rest)
      continue
    }
    const line = payload.bytes.length === 0 ? "" : lineOfPayload(payload.bytes)?.line
    isDamaged ||= payload.isDamaged || line === undefined
    lines.push(line ?? payload.bytes.toString("utf8"))
    at += payload.end
  }
  return { lines, isDamaged }
}

const WITHHELD = Buffer.from(MASK_MIDDLE)

/** The payload of the message that begins here, also where its end is cut off or its checksum is wrong; undefined where its lengths are no lengths. */
function payloadOf(
  rest: Buffer,
): { readonly bytes: Buffer; readonly isDamaged: boolean; readonly end: number } | undefined {
  const event = readBinaryEvent(rest)
  if (event !== undefined && event !== "damaged")
    return { bytes: event.payload, isDamaged: false, end: event.whole.length }
  if (!hasPrelude(rest)) return undefined
  const end = Math.min(rest.length, rest.readUInt32BE(0))
  const bytes = rest.subarray(Math.min(end, PRELUDE + rest.readUInt32BE(4)), Math.max(PRELUDE, end - CHECKSUM))
  return { bytes, isDamaged: true, end }
}

function hasPrelude(rest: Buffer): boolean {
  if (rest.length < PRELUDE) return false
  const length = rest.readUInt32BE(0)
  if (length > LONGEST || length < PRELUDE + rest.readUInt32BE(4) + CHECKSUM) return false
  return rest.readUInt32BE(8) === crc32(rest.subarray(0, 8))
}

/** How far it is to the next lengths with a right checksum. */
function nextPrelude(rest: Buffer): number {
  let at = 1
  while (at < rest.length && !hasPrelude(rest.subarray(at, at + PRELUDE))) at++
  return at
}
