import type { BodyHash } from "@orangebox/contract"
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
export interface ProcessLine {
  readonly kind: "process"
  readonly formatVersion: number
  readonly writerId: string
  readonly fileNo: number
  readonly process: ProcessIdentity
  readonly appId: string
  readonly recorderVersion: string
  readonly runtime: string
  readonly openedMs: number
  readonly openedMonoUs: number
}

/** An event and the bodies it introduces. The event itself is checked by the contract, not here. */
export interface EventLineRead {
  readonly kind: "event"
  readonly event: unknown
  readonly bodies: readonly BodyEntry[]
}

export interface StreamStart {
  readonly runId: string
  readonly stepId: string
  /** What the body is to its step: `response`, `stdout` … */
  readonly role: string
}

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
}

export interface RunRange {
  readonly runId: string
  /** Null when none of the records had a sequence number. */
  readonly firstSequenceNo: number | null
  readonly lastSequenceNo: number | null
  readonly count: number
}

export const GAP_REASONS = ["write_failed", "slow_write", "total_cap", "unlinked", "truncated", "sync_failed"] as const

/**
 * - `write_failed`  records were dropped because the disk would not take them
 * - `slow_write`    bodies were left out for a while because a write took too long
 * - `total_cap`     journal files that were not collected were deleted to stay under the cap
 * - `unlinked`, `truncated`  another process deleted or emptied the file being written; its records may be lost
 * - `sync_failed`   the disk refused to sync; the records are written but might not survive a power cut
 */
export type GapReason = (typeof GAP_REASONS)[number]

/** What is missing, or may be, and why. */
export interface Gap {
  /** Counts the gaps of one writer from 1; the reserve file uses it to name a gap that never reached the journal. */
  readonly gapNo: number
  readonly reason: GapReason
  /** The errno name, where one is known. */
  readonly failure: string | null
  readonly fromMs: number
  readonly toMs: number
  readonly records: number
  readonly chunks: number
  readonly bytes: number
  readonly runs: readonly RunRange[]
  /** Records of runs beyond the bounded list, and of no run. */
  readonly recordsNotListed: number
  readonly files: readonly string[]
  readonly filesNotListed: number
}

export interface GapLine {
  readonly kind: "gap"
  readonly gap: Gap
}

export type ExitReason = "exit" | "uncaught_exception" | "closed"

export interface ExitLine {
  readonly kind: "exit"
  readonly exitCode: number | null
  readonly reason: ExitReason
  readonly recordsWritten: number
  readonly recordsDropped: number
  readonly atMs: number
  readonly atMonoUs: number
}

export type JournalLine = ProcessLine | EventLineRead | ChunkLine | GapLine | ExitLine
