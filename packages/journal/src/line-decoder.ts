import { crc32 } from "node:zlib"
import type { BodyHash } from "@orangebox/contract"
import {
  type BodyEntry,
  CHECKED_FROM,
  type ExitReason,
  FORMAT_VERSION,
  GAP_REASONS,
  type Gap,
  type JournalLine,
  LINE_START,
  type RunRange,
  SHORTEST_LINE,
  type StreamStart,
} from "./line-format.js"
import type { ProcessIdentity } from "./process-identity.js"

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

/**
 * Reads one line whose checksum holds. A checksum shows that the line is as it was written, not who wrote it, so the shape
 * is checked member by member all the same.
 */
export function decodeLine(bytes: Buffer): Decoded {
  try {
    return decodeValue(JSON.parse(bytes.toString("utf8")))
  } catch (error) {
    return unknownLine(error instanceof Error ? error.message : String(error))
  }
}

function decodeValue(value: unknown): Decoded {
  const line = objectOf(value, "line")
  switch (line.k) {
    case "event":
      return {
        line: { kind: "event", event: line.e, bodies: line.b === undefined ? [] : listOf(line.b, "b", bodyEntry) },
      }
    case "chunk":
      return {
        line: {
          kind: "chunk",
          streamId: textOf(line.s, "s"),
          start: line.of === undefined ? null : streamStart(line.of),
          streamOffset: countOf(line.o, "o"),
          atUs: numberOf(line.us, "us"),
          bytes: bodyEntry(line.d),
        },
      }
    case "gap":
      return { line: { kind: "gap", gap: gapFromJson(line) } }
    case "exit":
      return {
        line: {
          kind: "exit",
          exitCode: line.exit_code === null ? null : numberOf(line.exit_code, "exit_code"),
          reason: oneOf(line.reason, "reason", ["exit", "uncaught_exception", "closed"] satisfies ExitReason[]),
          recordsWritten: countOf(line.records_written, "records_written"),
          recordsDropped: countOf(line.records_dropped, "records_dropped"),
          atMs: numberOf(line.at_ms, "at_ms"),
          atMonoUs: numberOf(line.at_mono_us, "at_mono_us"),
        },
      }
    case "process":
      return processLine(line)
    default:
      return unknownLine(`its kind is ${JSON.stringify(line.k)?.slice(0, 64)}`)
  }
}

function processLine(line: JsonObject): Decoded {
  const formatVersion = countOf(line.format_version, "format_version")
  if (formatVersion > FORMAT_VERSION) {
    return {
      problem: "unknown_format",
      reason: `the journal is format v${formatVersion}, this build reads up to v${FORMAT_VERSION}`,
    }
  }
  return {
    line: {
      kind: "process",
      formatVersion,
      writerId: textOf(line.writer_id, "writer_id"),
      fileNo: countOf(line.file_no, "file_no"),
      process: processIdentity(line.process),
      appId: textOf(line.app_id, "app_id"),
      recorderVersion: textOf(line.recorder_version, "recorder_version"),
      runtime: textOf(line.runtime, "runtime"),
      openedMs: numberOf(line.opened_ms, "opened_ms"),
      openedMonoUs: numberOf(line.opened_mono_us, "opened_mono_us"),
    },
  }
}

function processIdentity(value: unknown): ProcessIdentity {
  const identity = objectOf(value, "process")
  return {
    pid: countOf(identity.pid, "pid"),
    threadId: countOf(identity.thread_id, "thread_id"),
    startTicks: identity.start_ticks === null ? null : countOf(identity.start_ticks, "start_ticks"),
    bootId: nullableText(identity.boot_id, "boot_id"),
    pidNamespace: nullableText(identity.pid_namespace, "pid_namespace"),
    hostname: textOf(identity.hostname, "hostname"),
    machineId: nullableText(identity.machine_id, "machine_id"),
  }
}

function bodyEntry(value: unknown): BodyEntry {
  const entry = objectOf(value, "body")
  const hash = entry.h === undefined ? null : hashOf(entry.h)
  const byteSize = countOf(entry.n, "n")
  if (entry.t !== undefined) return { form: "text", hash, byteSize, text: textOf(entry.t, "t") }
  if (entry.b64 !== undefined) return { form: "base64", hash, byteSize, base64: textOf(entry.b64, "b64") }
  if (entry.at !== undefined) return { form: "sidecar", hash, byteSize, offset: countOf(entry.at, "at") }
  return { form: "streamed", hash, byteSize, streamId: textOf(entry.s, "s") }
}

function streamStart(value: unknown): StreamStart {
  const start = objectOf(value, "of")
  return {
    runId: textOf(start.run_id, "run_id"),
    stepId: textOf(start.step_id, "step_id"),
    role: textOf(start.role, "role"),
  }
}

/** Inverse of `gapToJson`. */
export function gapFromJson(value: unknown): Gap {
  const gap = objectOf(value, "gap")
  return {
    gapNo: countOf(gap.gap_no, "gap_no"),
    reason: oneOf(gap.reason, "reason", GAP_REASONS),
    failure: nullableText(gap.failure, "failure"),
    fromMs: numberOf(gap.from_ms, "from_ms"),
    toMs: numberOf(gap.to_ms, "to_ms"),
    records: countOf(gap.records, "records"),
    chunks: countOf(gap.chunks, "chunks"),
    bytes: countOf(gap.bytes, "bytes"),
    runs: listOf(gap.runs, "runs", runRange),
    recordsNotListed: countOf(gap.records_not_listed, "records_not_listed"),
    files: listOf(gap.files, "files", (file) => textOf(file, "files")),
    filesNotListed: countOf(gap.files_not_listed, "files_not_listed"),
  }
}

function runRange(value: unknown): RunRange {
  const range = objectOf(value, "runs")
  return {
    runId: textOf(range.run_id, "run_id"),
    firstSequenceNo: range.first_sequence_no === null ? null : countOf(range.first_sequence_no, "first_sequence_no"),
    lastSequenceNo: range.last_sequence_no === null ? null : countOf(range.last_sequence_no, "last_sequence_no"),
    count: countOf(range.count, "count"),
  }
}

type JsonObject = Record<string, unknown>

/** Thrown and caught within this file: a member that is not what its place asks for. */
class ShapeError extends Error {}

const unknownLine = (reason: string): Decoded => ({ problem: "unknown_line", reason })

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

export function objectOf(value: unknown, name: string): JsonObject {
  if (isObject(value)) return value
  throw new ShapeError(`${name} is not an object`)
}

export function textOf(value: unknown, name: string): string {
  if (typeof value === "string") return value
  throw new ShapeError(`${name} is not text`)
}

function nullableText(value: unknown, name: string): string | null {
  return value === null ? null : textOf(value, name)
}

export function numberOf(value: unknown, name: string): number {
  if (typeof value === "number") return value
  throw new ShapeError(`${name} is not a number`)
}

export function countOf(value: unknown, name: string): number {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value
  throw new ShapeError(`${name} is not a count`)
}

function oneOf<T extends string>(value: unknown, name: string, allowed: readonly T[]): T {
  const found = allowed.find((one) => one === value)
  if (found !== undefined) return found
  throw new ShapeError(`${name} is not one of ${allowed.join(", ")}`)
}

function listOf<T>(value: unknown, name: string, read: (item: unknown) => T): T[] {
  if (Array.isArray(value)) return value.map(read)
  throw new ShapeError(`${name} is not a list`)
}

function isBodyHash(text: string): text is BodyHash {
  return /^sha256:[0-9a-f]{64}$/.test(text)
}

function hashOf(value: unknown): BodyHash {
  const text = textOf(value, "h")
  if (isBodyHash(text)) return text
  throw new ShapeError("h is not a body hash")
}
