import { decodeUtf8 } from "./json/body.js"

/** One event of a `text/event-stream`, with the bytes it was made of. */
export interface SseFrame {
  /** The `event:` line; null when there was none. */
  readonly event: string | null
  /** The `data:` lines, joined by line feeds. */
  readonly data: string
  readonly id: string | null
  /**
   * Byte offsets in the stream: from the frame's first line to behind the first byte of the empty line's end (a following LF of a CRLF is
   * not waited for, so that a frame leaves with the byte that completes it).
   */
  readonly start: number
  readonly end: number
}

export interface SseParser {
  /** The frames that became complete with these bytes. Bytes may be cut anywhere, also inside a character. */
  push(bytes: Uint8Array): SseFrame[]
  /** What was left when the stream ended without its last empty line: usually an aborted answer. */
  finish(): SseFrame | undefined
}

const LF = 0x0a
const CR = 0x0d

/**
 * The event-stream format of the HTML standard: lines end in CRLF, LF or CR, a byte order mark may stand first, lines that begin with a
 * colon are comments, several `data` lines make one value.
 *
 * Text is decoded a whole line at a time. No byte of a multi-byte character is a line end, so a character cut by the network is whole
 * again before anybody decodes it. A line's pieces are kept in a list and joined once: a frame of ten megabytes costs its length.
 */
export function sseParser(): SseParser {
  let pieces: Uint8Array[] = []
  let offset = 0
  let lineStart = 0
  let isFirstLine = true
  // A CR ends a line at once; if the next byte is an LF it belongs to the same line end, even when it comes with the next read.
  let swallowLf = false

  let frameStart = 0
  let hasFrameLine = false
  let event: string | null = null
  let id: string | null = null
  let dataLines: string[] = []

  const takeFrame = (end: number): SseFrame | undefined => {
    const frame = dataLines.length > 0 ? { event, data: dataLines.join("\n"), id, start: frameStart, end } : undefined
    event = null
    id = null
    dataLines = []
    hasFrameLine = false
    return frame
  }

  const takeLine = (end: number): SseFrame | undefined => {
    let line = pieces.length === 0 ? "" : decodeUtf8(pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces))
    pieces = []
    if (isFirstLine) {
      isFirstLine = false
      if (line.charCodeAt(0) === 0xfeff) line = line.slice(1)
    }
    if (line === "") return takeFrame(end)
    if (!hasFrameLine) {
      hasFrameLine = true
      frameStart = lineStart
    }
    const colon = line.indexOf(":")
    if (colon === 0) return undefined
    const name = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1)
    if (name === "data") dataLines.push(value)
    else if (name === "event") event = value
    else if (name === "id" && !value.includes("\0")) id = value
    return undefined
  }

  return {
    push(bytes) {
      const frames: SseFrame[] = []
      let from = 0
      if (swallowLf && bytes.length > 0) {
        swallowLf = false
        if (bytes[0] === LF) {
          from = 1
          lineStart++
        }
      }
      let nextCr = bytes.indexOf(CR, from)
      let nextLf = bytes.indexOf(LF, from)
      while (nextCr >= 0 || nextLf >= 0) {
        const isCr = nextCr >= 0 && (nextLf < 0 || nextCr < nextLf)
        const lineEnd = isCr ? nextCr : nextLf
        let next = lineEnd + 1
        if (isCr) {
          if (next === bytes.length) swallowLf = true
          else if (bytes[next] === LF) next++
        }
        if (lineEnd > from) pieces.push(bytes.subarray(from, lineEnd))
        const frame = takeLine(offset + lineEnd + 1)
        if (frame) frames.push(frame)
        from = next
        lineStart = offset + next
        // Each search starts where the last one ended, so that a stream without CRs is not searched for them once per line.
        if (nextCr >= 0 && nextCr < from) nextCr = bytes.indexOf(CR, from)
        if (nextLf >= 0 && nextLf < from) nextLf = bytes.indexOf(LF, from)
      }
      // Copied, because the caller may reuse its read buffer before the line is complete.
      if (from < bytes.length) pieces.push(new Uint8Array(bytes.subarray(from)))
      offset += bytes.length
      return frames
    },
    finish() {
      const unfinishedLine = pieces.length > 0 ? takeLine(offset) : undefined
      return unfinishedLine ?? takeFrame(offset)
    },
  }
}
