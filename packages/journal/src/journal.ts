import type { BodyHash, FsyncPolicy, OrangeboxError } from "@orangebox/contract"
import type { JournalFs } from "./journal-fs.js"
import type { ExitReason, StreamStart } from "./line-format.js"

export interface JournalOptions {
  /** Created with mode 0700 when missing. */
  readonly folder: string
  readonly appId: string
  readonly recorderVersion: string
  /** Every policy survives a killed process; they differ in what a power cut may take. Default `interval`, one second. */
  readonly fsync?: FsyncPolicy
  /** A new file is begun above this size, lines and bodies together. Default 64 MiB. */
  readonly maxFileBytes?: number
  /** A new file is begun after this time. Default one hour. */
  readonly maxFileAgeMs?: number
  /** All journal files of the folder together. Default 2 GiB. */
  readonly maxTotalBytes?: number
  /** A write slower than this makes the journal leave out bodies for a while. Default 250. */
  readonly slowWriteMs?: number
  readonly fs?: JournalFs
  readonly now?: () => { wallMs: number; monoUs: number }
  /** Called once for failures of one kind that follow each other within ten seconds. */
  readonly onWarning?: (warning: OrangeboxError) => void
}

export type BodyToWrite =
  | { readonly hash: BodyHash; readonly bytes: Uint8Array }
  /** A body whose chunks went through a `StreamWriter` before. */
  | { readonly hash: BodyHash; readonly byteSize: number; readonly streamId: string }

export interface EventLine {
  /** The event as JSON text. */
  readonly json: string
  readonly runId: string | null
  readonly sequenceNo: number | null
  readonly bodies: readonly BodyToWrite[]
}

export interface AppendResult {
  /** True: the kernel has the whole line and its bodies, and no death of this process can take them back. */
  readonly written: boolean
}

export interface StreamWriter {
  readonly id: string
  /** True when the piece is in the journal. */
  write(bytes: Uint8Array, withheldBytes?: number): boolean
  /** Hash and size of everything that was passed to `write`; `complete` when all of it is in the journal. */
  finish(): { readonly hash: BodyHash; readonly byteSize: number; readonly complete: boolean }
}

export interface JournalStats {
  readonly recordsWritten: number
  readonly recordsDropped: number
  readonly chunksDropped: number
  /** Of lines; what lies in sidecars is not counted. */
  readonly bytesWritten: number
  readonly filesOpened: number
  readonly gapsWritten: number
  readonly syncFailures: number
}

export interface JournalExit {
  readonly exitCode: number | null
  readonly reason: ExitReason
}

export interface Journal {
  /** 32 hex digits, random. */
  readonly writerId: string
  /** Never throws: what cannot be written is dropped, counted and declared in a gap line later. */
  append(line: EventLine): AppendResult
  /** Returns once the line and its bodies would survive a power cut; throws `SystemError` otherwise. */
  appendDurable(line: EventLine): void
  openStream(stream: StreamStart): StreamWriter
  /** False while the disk is too slow for bodies; ask before building an event, so that it can say what it leaves out. */
  keepsBodies(): boolean
  /** A few words that must get out although the disk is full. Never throws. */
  lastWords(text: string): void
  stats(): JournalStats
  close(exit: JournalExit): void
}
