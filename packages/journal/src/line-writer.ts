import { bodiesJson, chunkJson } from "./body-entry.js"
import { gapToJson } from "./gap-json.js"
import type { EventLine } from "./journal.js"
import type { OpenJournalFile } from "./journal-file.js"
import { LineEncoder } from "./line-encoder.js"
import { type ExitLine, type Gap, MAX_LINE_BYTES, type ProcessLine } from "./line-format.js"
import type { Chunk } from "./stream-writer.js"

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
