import { isUtf8 } from "node:buffer"
import type { BodyToWrite, EventLine } from "./journal.js"
import type { OpenJournalFile } from "./journal-file.js"
import { LineEncoder } from "./line-encoder.js"
import {
  EXIT_LINE,
  type ExitLine,
  GAP,
  type Gap,
  MAX_LINE_BYTES,
  PROCESS_LINE,
  type ProcessLine,
  STREAM_START,
} from "./line-format.js"
import type { Chunk } from "./stream-writer.js"

/**
 * Up to here a body stands in the line itself, above it goes raw into the sidecar. Measured with Node 20 on ext4, distinct bodies: at 512
 * bytes escaping and a second write(2) cost about the same (2 to 5 µs), at 1 KiB and above the write is cheaper, quotes or not.
 */
const INLINE_BYTES = 512

/** Writes each kind of line to a file: the inverse of `line-decoder.ts`. Throws when the disk does not take the line. */
export class LineWriter {
  /** An encoder of their own, because events are nearly all there is to write. */
  readonly #events = new LineEncoder('"k":"event","e":')
  readonly #others = new LineEncoder('"k":')
  bytesWritten = 0

  /** False when the line is longer than readers accept. */
  event(file: OpenJournalFile, line: EventLine): boolean {
    // JSON text holds a raw newline only between its tokens, where a space means the same.
    const json = line.json.includes("\n") ? line.json.replaceAll("\n", " ") : line.json
    if (json.length > MAX_LINE_BYTES) return false
    this.#events.encode(json, line.bodies.length === 0 ? "}" : bodiesJson(file, line.bodies))
    const fits = this.#events.byteLength <= MAX_LINE_BYTES
    if (fits) this.bytesWritten += file.writeLine(this.#events)
    this.#events.relax()
    return fits
  }

  /** `isAnnounced`: an earlier chunk in this file says already what the stream belongs to. */
  chunk(file: OpenJournalFile, chunk: Chunk, isAnnounced: boolean): void {
    const { streamId, start, streamOffset, atUs, bytes, withheldBytes } = chunk
    const of = isAnnounced ? "" : `"of":${JSON.stringify(STREAM_START.write(start))},`
    const head = `"chunk","s":"${streamId}",${of}"o":${streamOffset},"us":${atUs},${withheldBytes > 0 ? `"held":${withheldBytes},` : ""}"d":`
    this.#write(file, head, `${chunkJson(file, bytes)}}`)
  }

  gap(file: OpenJournalFile, gap: Gap): void {
    this.#writeObject(file, '"gap",', GAP.write(gap))
  }

  exit(file: OpenJournalFile, line: Omit<ExitLine, "kind">): void {
    this.#writeObject(file, '"exit",', EXIT_LINE.write(line))
  }

  process(file: OpenJournalFile, line: Omit<ProcessLine, "kind">): void {
    this.#writeObject(file, '"process",', PROCESS_LINE.write(line))
  }

  #writeObject(file: OpenJournalFile, kind: string, members: unknown): void {
    this.#write(file, kind, JSON.stringify(members).slice(1))
  }

  #write(file: OpenJournalFile, first: string, second: string): void {
    this.#others.encode(first, second)
    this.bytesWritten += file.writeLine(this.#others)
    this.#others.relax()
  }
}

/** `,"b":[…]}`, the end of an event line, after making sure that the bytes it refers to are in the file. */
function bodiesJson(file: OpenJournalFile, bodies: readonly BodyToWrite[]): string {
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
function chunkJson(file: OpenJournalFile, bytes: Uint8Array): string {
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
