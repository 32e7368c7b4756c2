import { closeSync, fstatSync, readSync } from "node:fs"
import { OrangeboxError } from "@orangebox/contract"
import { failureCode } from "./journal-fs.js"
import { checksumHolds, decodeLine } from "./line-decoder.js"
import { type JournalLine, LINE_START, MAX_LINE_BYTES, TORN_MARK } from "./line-format.js"
import { openPrivateFile } from "./private-file.js"

/**
 * - `corrupt_line`    the checksum does not hold
 * - `torn_line`       a fragment the writer itself noticed and marked; its record was written again or declared in a gap
 * - `nul_run`         zero bytes where a line should be, the shape a power cut leaves
 * - `over_long_line`  longer than the reader's limit; skipped without being held in memory
 * - `truncated`       the file is shorter than the place to go on from; reading starts again at its beginning
 * - `unknown_format`, `unknown_line`  whole, but not something this build knows
 */
export type JournalProblemCode =
  | "corrupt_line"
  | "torn_line"
  | "nul_run"
  | "over_long_line"
  | "truncated"
  | "unknown_format"
  | "unknown_line"

export interface JournalProblem {
  readonly code: JournalProblemCode
  readonly offset: number
  readonly length: number
  readonly reason: string
}

export type JournalItem =
  | { readonly kind: "line"; readonly line: JournalLine; readonly offset: number; readonly nextOffset: number }
  | { readonly kind: "problem"; readonly problem: JournalProblem; readonly nextOffset: number }

export interface TailEnd {
  /** Where to go on from, always the start of a line. */
  readonly offset: number
  /** How much of a last, unfinished line there is so far. Whether that is a death or a writer in mid-line is for the caller to judge. */
  readonly tornBytes: number
}

export interface TailOptions {
  /** The `nextOffset` or `TailEnd.offset` of an earlier reading. */
  readonly from?: number
  readonly maxLineBytes?: number
  /** Read as if the file ended here. */
  readonly until?: number
}

const WINDOW_BYTES = 512 * 1024
const NEWLINE = 0x0a
const TORN_MARK_BYTE = TORN_MARK.charCodeAt(0)

/**
 * Every whole line from `from` to the end so far, and every place that is not one. Stops at the end of the file; call again with
 * the returned offset for what has been appended since. Memory is bounded by the longest line it accepts.
 */
export function* tailJournal(file: string, options: TailOptions = {}): Generator<JournalItem, TailEnd> {
  const fd = openForReading(file)
  try {
    const from = options.from ?? 0
    const until = options.until ?? Number.POSITIVE_INFINITY
    const size = fstatSync(fd).size
    const maxLineBytes = options.maxLineBytes ?? MAX_LINE_BYTES
    if (from <= size) return yield* readLines(new Window(fd, from, until, size), maxLineBytes)
    yield problemItem("truncated", from, 0, `the file has ${size} bytes, reading was at ${from}`, 0)
    return yield* readLines(new Window(fd, 0, until, size), maxLineBytes)
  } finally {
    closeSync(fd)
  }
}

function openForReading(file: string): number {
  try {
    return openPrivateFile(file, "read")
  } catch (error) {
    if (error instanceof OrangeboxError) throw error
    throw new OrangeboxError("JOURNAL_UNREADABLE", {
      what: `the journal file cannot be opened (${failureCode(error)})`,
      where: file,
      next: "Check that it is there and that you may read it",
      cause: error,
    })
  }
}

function* readLines(window: Window, maxLineBytes: number): Generator<JournalItem, TailEnd> {
  for (;;) {
    const nulStart = window.offset
    while (window.skipNuls() && window.fill()) {}
    const nulBytes = window.offset - nulStart
    if (nulBytes > 0) {
      if (window.length === 0) return { offset: nulStart, tornBytes: nulBytes }
      yield problemItem("nul_run", nulStart, nulBytes, "zero bytes, as a power cut leaves them", window.offset)
    }
    const lineEnd = findLineEnd(window, maxLineBytes)
    if (lineEnd === "end") return { offset: window.offset, tornBytes: window.length }
    if (lineEnd === "too long") {
      yield skipOverLongLine(window, maxLineBytes)
      continue
    }
    const offset = window.offset
    const bytes = window.take(lineEnd)
    if (bytes.length > 0) yield* itemsOf(bytes, offset)
  }
}

/** The length of the line at the start of the window, reading on as needed; each byte is looked at once. */
function findLineEnd(window: Window, maxLineBytes: number): number | "end" | "too long" {
  let searched = 0
  for (;;) {
    const found = window.indexOf(NEWLINE, searched)
    if (found !== -1) return found > maxLineBytes ? "too long" : found
    searched = window.length
    if (searched > maxLineBytes) return "too long"
    if (!window.fill()) return "end"
  }
}

/** Drops bytes up to the next newline. A line that has no end yet is given up as far as it goes, so that no later reading starts over. */
function skipOverLongLine(window: Window, maxLineBytes: number): JournalItem {
  const offset = window.offset
  for (;;) {
    const found = window.indexOf(NEWLINE, 0)
    window.take(found === -1 ? window.length : found)
    if (found !== -1 || !window.fill()) break
  }
  const length = window.offset - offset - (window.lastTakenHadNewline ? 1 : 0)
  return problemItem("over_long_line", offset, length, `longer than ${maxLineBytes} bytes`, window.offset)
}

function* itemsOf(bytes: Buffer, offset: number): Generator<JournalItem, void> {
  const nextOffset = offset + bytes.length + 1
  if (checksumHolds(bytes)) {
    yield itemOf(bytes, offset, nextOffset)
    return
  }
  const torn = bytes[bytes.length - 1] === TORN_MARK_BYTE
  const glued = torn ? -1 : findGluedLine(bytes)
  const badLength = glued === -1 ? bytes.length : glued
  yield torn
    ? problemItem("torn_line", offset, badLength, "a short write, noticed and marked by the writer", nextOffset)
    : problemItem(
        "corrupt_line",
        offset,
        badLength,
        "its checksum does not hold",
        glued === -1 ? nextOffset : offset + glued,
      )
  if (glued !== -1) yield itemOf(bytes.subarray(glued), offset + glued, nextOffset)
}

function itemOf(bytes: Buffer, offset: number, nextOffset: number): JournalItem {
  const decoded = decodeLine(bytes)
  return "line" in decoded
    ? { kind: "line", line: decoded.line, offset, nextOffset }
    : problemItem(decoded.problem, offset, bytes.length, decoded.reason, nextOffset)
}

/**
 * A lost newline glues a fragment to the whole line after it. That line ends where the glued one ends, so its start is looked for from
 * the back. Trying is limited in bytes, or a hostile line full of starts would cost the square of its length.
 */
function findGluedLine(bytes: Buffer): number {
  let budget = 4 * bytes.length
  let candidate = bytes.length
  for (;;) {
    candidate = candidate === 0 ? -1 : bytes.lastIndexOf(LINE_START, candidate - 1, "latin1")
    if (candidate <= 0 || budget <= 0) return -1
    const rest = bytes.subarray(candidate)
    if (checksumHolds(rest)) return candidate
    budget -= rest.length
  }
}

function problemItem(
  code: JournalProblemCode,
  offset: number,
  length: number,
  reason: string,
  nextOffset: number,
): JournalItem {
  return { kind: "problem", problem: { code, offset, length, reason }, nextOffset }
}

/** The unread part of what has been read: a buffer that slides over the file and grows only for a line that does not fit. */
class Window {
  readonly #fd: number
  readonly #until: number
  #buffer: Buffer
  #start = 0
  #end = 0
  /** File offset of the first unread byte. */
  offset: number
  lastTakenHadNewline = false

  constructor(fd: number, offset: number, until: number, fileSize: number) {
    this.#fd = fd
    this.#until = until
    this.offset = offset
    // Files are mostly read again for the few lines appended since. The byte to spare is where the end of the file shows.
    const expected = Math.min(fileSize, until) - offset + 1
    this.#buffer = Buffer.allocUnsafeSlow(Math.min(Math.max(expected, 1024), WINDOW_BYTES))
  }

  get length(): number {
    return this.#end - this.#start
  }

  indexOf(byte: number, from: number): number {
    return this.#buffer.subarray(this.#start, this.#end).indexOf(byte, from)
  }

  /** The first `length` bytes, and past the newline behind them where there is one. Valid until the next `fill`. */
  take(length: number): Buffer {
    const bytes = this.#buffer.subarray(this.#start, this.#start + length)
    this.lastTakenHadNewline = length < this.length
    this.#advance(length + (this.lastTakenHadNewline ? 1 : 0))
    return bytes
  }

  /** Passes zero bytes; true when it stopped only because the window was empty. */
  skipNuls(): boolean {
    let at = this.#start
    while (at < this.#end && this.#buffer[at] === 0) at++
    this.#advance(at - this.#start)
    return this.length === 0
  }

  /** Reads on; false at the end of the file. */
  fill(): boolean {
    const left = this.#until - (this.offset + this.length)
    if (left <= 0) return false
    if (this.#end === this.#buffer.length) this.#makeRoom()
    const room = Math.min(this.#buffer.length - this.#end, left)
    const read = readSync(this.#fd, this.#buffer, this.#end, room, this.offset + this.length)
    this.#end += read
    return read > 0
  }

  #advance(bytes: number): void {
    this.#start += bytes
    this.offset += bytes
  }

  #makeRoom(): void {
    const length = this.length
    // Moving is cheap while it frees at least half; a line that fills more than that will need more.
    const target = length * 2 > this.#buffer.length ? Buffer.allocUnsafeSlow(this.#buffer.length * 2) : this.#buffer
    this.#buffer.copy(target, 0, this.#start, this.#end)
    this.#buffer = target
    this.#start = 0
    this.#end = length
  }
}
