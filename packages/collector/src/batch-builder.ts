import type { Event } from "@orangebox/contract"
import type {
  Batch,
  Gap,
  JournalOffset,
  RecordedBody,
  RecordedEvent,
  RecordedProblem,
  StreamChunk,
  StreamUpdate,
  WriterExit,
  WriterUpdate,
} from "@orangebox/store"

/** Above this a batch is committed without waiting for the interval. It bounds memory, whatever the backlog. */
const BATCH_BYTES = 4 * 1024 * 1024

type MutableStream = { -readonly [K in keyof StreamUpdate]: StreamUpdate[K] } & { chunks: StreamChunk[] }

/** Gathers what lines say until it is time to commit it, together with how far the files were read. */
export class BatchBuilder {
  #events: RecordedEvent[] = []
  #bodies = new Map<string, RecordedBody>()
  #streams = new Map<string, MutableStream>()
  #writers = new Map<string, WriterUpdate>()
  #exits: WriterExit[] = []
  #gaps: Gap[] = []
  #problems: RecordedProblem[] = []
  #offsets = new Map<string, number>()
  #bytes = 0

  get isFull(): boolean {
    return this.#bytes >= BATCH_BYTES
  }

  get isEmpty(): boolean {
    return (
      this.#offsets.size === 0 &&
      this.#events.length === 0 &&
      this.#writers.size === 0 &&
      this.#gaps.length === 0 &&
      this.#problems.length === 0
    )
  }

  addEvent(event: Event, writerId: string): void {
    this.#events.push({ event, writerId })
  }

  addBody(body: RecordedBody): void {
    if (this.#bodies.has(body.hash)) return
    this.#bodies.set(body.hash, body)
    this.weigh(body.byteSize)
  }

  /** Chunks of one stream gather in one update; an end or an abandonment said later completes it. */
  addStream(update: StreamUpdate): void {
    for (const chunk of update.chunks) this.weigh(chunk.bytes.length)
    const known = this.#streams.get(update.streamId)
    if (known === undefined) {
      this.#streams.set(update.streamId, { ...update, chunks: [...update.chunks] })
      return
    }
    known.chunks.push(...update.chunks)
    if (update.withheldBytes !== undefined) known.withheldBytes = update.withheldBytes
    if (update.end !== undefined) known.end = update.end
    if (update.abandoned !== undefined) known.abandoned = update.abandoned
  }

  addWriter(update: WriterUpdate): void {
    const known = this.#writers.get(update.writerId)
    const records = (known?.records ?? 0) + (update.records ?? 0)
    this.#writers.set(update.writerId, { ...known, ...update, records })
  }

  addExit(exit: WriterExit): void {
    this.#exits.push(exit)
  }

  addGap(gap: Gap): void {
    this.#gaps.push(gap)
  }

  addProblem(problem: RecordedProblem): void {
    this.#problems.push(problem)
  }

  setOffset({ file, offset }: JournalOffset): void {
    this.#offsets.set(file, offset)
  }

  /** Counts bytes that are held, or will be read while committing, towards a full batch. */
  weigh(bytes: number): void {
    this.#bytes += bytes
  }

  /** The batch so far; the builder starts over. */
  take(): Batch {
    const batch: Batch = {
      events: this.#events,
      bodies: [...this.#bodies.values()],
      streams: [...this.#streams.values()],
      writers: [...this.#writers.values()],
      exits: this.#exits,
      gaps: this.#gaps,
      problems: this.#problems,
      offsets: [...this.#offsets].map(([file, offset]) => ({ file, offset })),
    }
    this.#events = []
    this.#bodies = new Map()
    this.#streams = new Map()
    this.#writers = new Map()
    this.#exits = []
    this.#gaps = []
    this.#problems = []
    this.#offsets = new Map()
    this.#bytes = 0
    return batch
  }
}
