import type { Event } from "@orangebox/contract"
import { type BodyHash, bodyHash } from "@orangebox/contract"
import type { EventRecord } from "./event-record.js"

/**
 * Where records go. The two verbs are the two classes of failure:
 * `emit` is telemetry and fails open, `commit` is audit and fails closed.
 */
export interface Sink {
  /** Takes the record or drops and counts it. Anything it throws stops at the recorder. */
  emit(record: EventRecord): void
  /** Returns only when the record is durable; throws `SystemError` when it is not. */
  commit(record: EventRecord): void
  /** False while bodies are being shed; their refs then say `not_kept`. */
  keepsBodies(): boolean
  openStream(stream: { readonly runId: string; readonly stepId: string; readonly role: string }): BodyStream
  /** What must be said even when nothing can be written any more. */
  lastWords(text: string): void
  counts(): SinkCounts
  close(exit: SinkExit): void
}

/** A body that arrives in pieces, each durable as soon as `write` returned true. */
export interface BodyStream {
  readonly id: string
  /** @param withheld so many bytes have come behind these that the redactor cannot judge yet; said with no bytes as well */
  write(bytes: Uint8Array, withheld?: number): boolean
  finish(): FinishedStream
}

export interface FinishedStream {
  readonly hash: BodyHash
  readonly byteSize: number
  readonly complete: boolean
  /** Where they were gathered and not written ahead. */
  readonly bytes?: Uint8Array
}

export interface SinkCounts {
  readonly written: number
  readonly dropped: number
}

export interface SinkExit {
  readonly exitCode: number | null
  readonly reason: "exit" | "uncaught_exception" | "closed"
}

/** Keeps everything in memory, for tests and for looking at what a piece of code records. */
export class MemorySink implements Sink {
  readonly records: EventRecord[] = []
  readonly bodies = new Map<string, Uint8Array>()
  readonly words: string[] = []
  exit: SinkExit | undefined
  #streams = 0

  get events(): Event[] {
    return this.records.map((record) => record.event)
  }

  textOf(hash: string | null | undefined): string | undefined {
    const bytes = hash ? this.bodies.get(hash) : undefined
    return bytes && Buffer.from(bytes).toString("utf8")
  }

  emit(record: EventRecord): void {
    this.records.push(record)
    for (const body of record.bodies) if ("bytes" in body) this.bodies.set(body.hash, body.bytes)
  }

  commit(record: EventRecord): void {
    this.emit(record)
  }

  keepsBodies(): boolean {
    return true
  }

  openStream(): BodyStream {
    return collectingStream(`memory-${++this.#streams}`, (hash, bytes) => this.bodies.set(hash, bytes))
  }

  lastWords(text: string): void {
    this.words.push(text)
  }

  counts(): SinkCounts {
    return { written: this.records.length, dropped: 0 }
  }

  close(exit: SinkExit): void {
    this.exit = exit
  }
}

function collectingStream(id: string, keep: (hash: BodyHash, bytes: Uint8Array) => void): BodyStream {
  const pieces: Uint8Array[] = []
  return {
    id,
    write(bytes) {
      pieces.push(Uint8Array.from(bytes))
      return true
    },
    finish() {
      const bytes = Buffer.concat(pieces)
      const hash = bodyHash(bytes)
      keep(hash, bytes)
      return { hash, byteSize: bytes.length, complete: true }
    },
  }
}
