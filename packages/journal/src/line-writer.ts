import { isUtf8 } from "node:buffer"
import type { BodyToWrite, EventLine } from "./journal.js"
import type { OpenJournalFile } from "./journal-file.js"
import { LineEncoder } from "./line-encoder.js"
import { type ExitLine, type Gap, MAX_LINE_BYTES, type ProcessLine } from "./line-format.js"
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
  chunk(file: OpenJournalFile, { streamId, start, streamOffset, atUs, bytes }: Chunk, isAnnounced: boolean): void {
    const of = isAnnounced
      ? ""
      : `"of":${JSON.stringify({ run_id: start.runId, step_id: start.stepId, role: start.role })},`
    const head = `"chunk","s":"${streamId}",${of}"o":${streamOffset},"us":${atUs},"d":`
    this.#write(file, head, `${chunkJson(file, bytes)}}`)
  }

  gap(file: OpenJournalFile, gap: Gap): void {
    this.#writeObject(file, '"gap",', gapToJson(gap))
  }

  exit(file: OpenJournalFile, line: Omit<ExitLine, "kind">): void {
    this.#writeObject(file, '"exit",', {
      exit_code: line.exitCode,
      reason: line.reason,
      records_written: line.recordsWritten,
      records_dropped: line.recordsDropped,
      at_ms: line.atMs,
      at_mono_us: line.atMonoUs,
    })
  }

  process(file: OpenJournalFile, line: Omit<ProcessLine, "kind">): void {
    this.#writeObject(file, '"process",', {
      format_version: line.formatVersion,
      writer_id: line.writerId,
      file_no: line.fileNo,
      process: {
        pid: line.process.pid,
        thread_id: line.process.threadId,
        start_ticks: line.process.startTicks,
        boot_id: line.process.bootId,
        pid_namespace: line.process.pidNamespace,
        hostname: line.process.hostname,
        machine_id: line.process.machineId,
      },
      app_id: line.appId,
      recorder_version: line.recorderVersion,
      runtime: line.runtime,
      opened_ms: line.openedMs,
      opened_mono_us: line.openedMonoUs,
    })
  }

  #writeObject(file: OpenJournalFile, kind: string, members: Record<string, unknown>): void {
    this.#write(file, kind, JSON.stringify(members).slice(1))
  }

  #write(file: OpenJournalFile, first: string, second: string): void {
    this.#others.encode(first, second)
    this.bytesWritten += file.writeLine(this.#others)
    this.#others.relax()
  }
}

/** A gap as it stands in a journal line and in the reserve file. Its inverse is in `line-decoder.ts`. */
export function gapToJson(gap: Gap): Record<string, unknown> {
  return {
    gap_no: gap.gapNo,
    reason: gap.reason,
    failure: gap.failure,
    from_ms: gap.fromMs,
    to_ms: gap.toMs,
    records: gap.records,
    chunks: gap.chunks,
    bytes: gap.bytes,
    runs: gap.runs.map((run) => ({
      run_id: run.runId,
      first_sequence_no: run.firstSequenceNo,
      last_sequence_no: run.lastSequenceNo,
      count: run.count,
    })),
    records_not_listed: gap.recordsNotListed,
    files: gap.files,
    files_not_listed: gap.filesNotListed,
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
