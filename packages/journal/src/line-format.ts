import type { BodyHash } from "@orangebox/contract"
import { count, list, nullable, number, object, oneOf, type Shape, text, type ValueOf } from "./line-shape.js"
import type { ProcessIdentity } from "./process-identity.js"

/**
 * One journal line is `{"crc":"xxxxxxxx","k":"<kind>",…}` and a newline. The checksum is the CRC-32 of every byte after
 * `{"crc":"xxxxxxxx",` up to the newline, so the line is plain JSON to any tool and can be checked without parsing it.
 */
export const FORMAT_VERSION = 1

export const LINE_START = '{"crc":"'
/** `{"crc":"xxxxxxxx",` */
export const CHECKED_FROM = LINE_START.length + 8 + 2
/** The shortest line there can be; anything shorter is not one of ours. */
export const SHORTEST_LINE = CHECKED_FROM + 1

/** Readers skip longer lines, so writing one would be losing it without a word. */
export const MAX_LINE_BYTES = 64 * 1024 * 1024

/**
 * Ends a fragment that a short write left behind, before the next line starts. Without it, a fragment that lacks nothing but
 * its newline would become a whole line again, although its record was already declared lost or written a second time.
 */
export const TORN_MARK = "#"

/** Where the bytes of a body or of a chunk are. `hash` is null for chunks, which are not addressed by content. */
export type BodyEntry =
  | { readonly form: "text"; readonly hash: BodyHash | null; readonly byteSize: number; readonly text: string }
  | { readonly form: "base64"; readonly hash: BodyHash | null; readonly byteSize: number; readonly base64: string }
  | { readonly form: "sidecar"; readonly hash: BodyHash | null; readonly byteSize: number; readonly offset: number }
  | { readonly form: "streamed"; readonly hash: BodyHash | null; readonly byteSize: number; readonly streamId: string }

/** The first line of every file. */
export const PROCESS_LINE = object({
  formatVersion: count,
  writerId: text,
  fileNo: count,
  process: object({
    pid: count,
    threadId: count,
    startTicks: nullable(count),
    bootId: nullable(text),
    pidNamespace: nullable(text),
    hostname: text,
    machineId: nullable(text),
  }) satisfies Shape<ProcessIdentity>,
  appId: text,
  recorderVersion: text,
  runtime: text,
  openedMs: number,
  openedMonoUs: number,
})
export type ProcessLine = { readonly kind: "process" } & ValueOf<typeof PROCESS_LINE>

/** An event and the bodies it introduces. The event itself is checked by the contract, not here. */
export interface EventLineRead {
  readonly kind: "event"
  readonly event: unknown
  readonly bodies: readonly BodyEntry[]
}

export const STREAM_START = object({
  runId: text,
  stepId: text,
  /** What the body is to its step: `response`, `stdout` … */
  role: text,
})
export type StreamStart = ValueOf<typeof STREAM_START>

/** The next piece of a body that is still arriving. */
export interface ChunkLine {
  readonly kind: "chunk"
  readonly streamId: string
  /** On the first chunk of the stream in each file. */
  readonly start: StreamStart | null
  /** Where in the stream this piece begins; more than what was read so far means that pieces are missing. */
  readonly streamOffset: number
  /** Microseconds since the stream was opened. */
  readonly atUs: number
  readonly bytes: BodyEntry
  /** So many bytes had come behind this piece that the writer could not judge yet, and did not write. */
  readonly withheldBytes: number
}

export const RUN_RANGE = object({
  runId: text,
  /** Null when none of the records had a sequence number. */
  firstSequenceNo: nullable(count),
  lastSequenceNo: nullable(count),
  count,
})
export type RunRange = ValueOf<typeof RUN_RANGE>

export const GAP_REASONS = ["write_failed", "slow_write", "total_cap", "unlinked", "truncated", "sync_failed"] as const

/**
 * - `write_failed`  records were dropped because the disk would not take them
 * - `slow_write`    bodies were left out for a while because a write took too long
 * - `total_cap`     journal files that were not collected were deleted to stay under the cap
 * - `unlinked`, `truncated`  another process deleted or emptied the file being written; its records may be lost
 * - `sync_failed`   the disk refused to sync; the records are written but might not survive a power cut
 */
export type GapReason = (typeof GAP_REASONS)[number]

/** What is missing, or may be, and why; as it stands in a journal line and in the reserve file. */
export const GAP = object({
  /** Counts the gaps of one writer from 1; the reserve file uses it to name a gap that never reached the journal. */
  gapNo: count,
  reason: oneOf(GAP_REASONS),
  /** The errno name, where one is known. */
  failure: nullable(text),
  fromMs: number,
  toMs: number,
  records: count,
  chunks: count,
  bytes: count,
  runs: list(RUN_RANGE),
  /** Records of runs beyond the bounded list, and of no run. */
  recordsNotListed: count,
  files: list(text),
  filesNotListed: count,
})
export type Gap = ValueOf<typeof GAP>

export interface GapLine {
  readonly kind: "gap"
  readonly gap: Gap
}

export type ExitReason = "exit" | "uncaught_exception" | "closed"

export const EXIT_LINE = object({
  exitCode: nullable(number),
  reason: oneOf<ExitReason>(["exit", "uncaught_exception", "closed"]),
  recordsWritten: count,
  recordsDropped: count,
  atMs: number,
  atMonoUs: number,
})
export type ExitLine = { readonly kind: "exit" } & ValueOf<typeof EXIT_LINE>

export type JournalLine = ProcessLine | EventLineRead | ChunkLine | GapLine | ExitLine
