import { crc32 } from "node:zlib"
import { type BodyHash, isNestedDeeper } from "@orangebox/contract"
import {
  type BodyEntry,
  CHECKED_FROM,
  EXIT_LINE,
  FORMAT_VERSION,
  GAP,
  type JournalLine,
  LINE_START,
  PROCESS_LINE,
  SHORTEST_LINE,
  STREAM_START,
} from "./line-format.js"
import { A_LIST, AN_OBJECT, count, number, text } from "./line-shape.js"

const LINE_START_BYTES = Buffer.from(LINE_START, "latin1")

/** Whether `bytes` (one line without its newline) carries its own checksum. */
export function checksumHolds(bytes: Buffer): boolean {
  if (bytes.length < SHORTEST_LINE || !startsLine(bytes)) return false
  const stated = Number.parseInt(bytes.toString("latin1", LINE_START.length, LINE_START.length + 8), 16)
  // Compared as text as well: parseInt is lenient, and a flipped bit must not turn one spelling of a digit into another.
  return (
    stated === crc32(bytes.subarray(CHECKED_FROM)) &&
    bytes.toString("latin1", LINE_START.length, CHECKED_FROM) === `${stated.toString(16).padStart(8, "0")}",`
  )
}

function startsLine(bytes: Buffer): boolean {
  return bytes.compare(LINE_START_BYTES, 0, LINE_START_BYTES.length, 0, LINE_START_BYTES.length) === 0
}

export type Decoded =
  | { readonly line: JournalLine }
  | { readonly problem: "unknown_format" | "unknown_line"; readonly reason: string }

/** What is nested deeper overflows the stack of a walk over it; recorders cut values long before. */
const DEEPEST = 500

/**
 * Reads one line whose checksum holds. A checksum shows that the line is as it was written, not who wrote it, so the shape
 * is checked member by member all the same.
 */
export function decodeLine(bytes: Buffer): Decoded {
  try {
    const json = bytes.toString("utf8")
    if (bytes.length > 2 * DEEPEST && isNestedDeeper(json, DEEPEST))
      return unknownLine(`it is nested deeper than ${DEEPEST} levels`)
    return decodeValue(JSON.parse(json))
  } catch (error) {
    return unknownLine(error instanceof Error ? error.message : String(error))
  }
}

function decodeValue(value: unknown): Decoded {
  const line = AN_OBJECT.read(value, "line")
  switch (line["k"]) {
    case "event": {
      const bodies = line["b"] === undefined ? [] : A_LIST.read(line["b"], "b").map(bodyEntry)
      return { line: { kind: "event", event: line["e"], bodies } }
    }
    case "chunk":
      return {
        line: {
          kind: "chunk",
          streamId: text.read(line["s"], "s"),
          start: line["of"] === undefined ? null : STREAM_START.read(line["of"], "of"),
          streamOffset: count.read(line["o"], "o"),
          atUs: number.read(line["us"], "us"),
          bytes: bodyEntry(line["d"]),
          withheldBytes: line["held"] === undefined ? 0 : count.read(line["held"], "held"),
        },
      }
    case "gap":
      return { line: { kind: "gap", gap: GAP.read(line, "gap") } }
    case "exit":
      return { line: { kind: "exit", ...EXIT_LINE.read(line, "exit") } }
    case "process": {
      const version = count.read(line["format_version"], "format_version")
      if (version <= FORMAT_VERSION) return { line: { kind: "process", ...PROCESS_LINE.read(line, "process") } }
      const reason = `the journal is format v${version}, this build reads up to v${FORMAT_VERSION}`
      return { problem: "unknown_format", reason }
    }
    default:
      return unknownLine(`its kind is ${JSON.stringify(line["k"])?.slice(0, 64)}`)
  }
}

const unknownLine = (reason: string): Decoded => ({ problem: "unknown_line", reason })

function bodyEntry(value: unknown): BodyEntry {
  const { h, n, t, b64, at, s } = AN_OBJECT.read(value, "body")
  const hash = h === undefined ? null : hashOf(h)
  const byteSize = count.read(n, "n")
  if (t !== undefined) return { form: "text", hash, byteSize, text: text.read(t, "t") }
  if (b64 !== undefined) return { form: "base64", hash, byteSize, base64: text.read(b64, "b64") }
  if (at !== undefined) return { form: "sidecar", hash, byteSize, offset: count.read(at, "at") }
  return { form: "streamed", hash, byteSize, streamId: text.read(s, "s") }
}

function hashOf(value: unknown): BodyHash {
  const hash = text.read(value, "h")
  if (/^sha256:[0-9a-f]{64}$/.test(hash)) return hash as BodyHash
  throw new Error("h is not a body hash")
}
