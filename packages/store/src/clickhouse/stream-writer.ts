import { BODY, HELD } from "../codes.js"
import { bodySegments, headOf } from "../indexed-text.js"
import type { StreamUpdate } from "../trace-store.js"
import { type BodyWriter, staysBuried } from "./body-writer.js"
import type { Connection } from "./connection.js"
import { type EventIndex, placeOf } from "./event-index.js"
import type { StreamFact } from "./facts.js"
import type { PlacedEvent } from "./live-run.js"
import type { StoredEvents } from "./stored-events.js"
import { ended, type StreamPiece, streamPieces } from "./stream-pieces.js"
import type { Writing } from "./writing.js"

/** Keeps the pieces of bodies that are still being written, and makes bodies of them at their end. */
export class StreamWriter {
  readonly #connection: Connection
  readonly #events: StoredEvents
  readonly #bodies: BodyWriter
  readonly #index: EventIndex

  constructor(connection: Connection, events: StoredEvents, bodies: BodyWriter, index: EventIndex) {
    this.#connection = connection
    this.#events = events
    this.#bodies = bodies
    this.#index = index
  }

  async take(update: StreamUpdate, writing: Writing): Promise<void> {
    const { work } = writing
    const known = writing.streams.get(update.streamId)?.value
    const stream: StreamFact = {
      runId: known?.runId ?? update.runId,
      stepId: known?.stepId ?? update.stepId,
      role: known?.role ?? update.role,
      mime: known?.mime ?? update.mime ?? null,
      state: known?.state ?? "open",
      withheldBytes: update.withheldBytes ?? known?.withheldBytes ?? 0,
      hash: known?.hash ?? null,
      isUnbroken: known?.isUnbroken ?? null,
      ...(known === undefined ? {} : pickCounts(known)),
    }
    writing.openStreams.set(update.streamId, stream)
    if (stream.state !== "open") return
    if (update.end === undefined) {
      if (!update.abandoned) this.#keepPieces(update, writing)
      return
    }
    const { hash } = update.end
    const body = writing.known.get(hash)
    if (body !== undefined && body.state !== BODY.here && staysBuried(body, work)) {
      writing.openStreams.set(update.streamId, { ...stream, state: "complete" })
      work.summary.buried++
      return
    }
    const mime = stream.mime ?? work.refTo(hash)?.mime_type ?? null
    const pieces = await this.#piecesOf(update)
    const bytes = pieces.map((piece) => piece.bytes)
    const { state, isNew } = await this.#bodies.put(hash, bytes, mime, writing)
    if (isNew) {
      work.summary.newBodies++
      work.summary.newBodyBytes += state.byteSize
    }
    work.bodies.set(state.hash, { row: state, mime, head: headOf(bytes) })
    if (state.hash === hash) {
      writing.openStreams.set(update.streamId, { ...stream, state: "complete", hash })
      return
    }
    work.problem("stream_broken", hash, `the pieces of stream ${update.streamId} have the hash ${state.hash}`)
    writing.openStreams.set(update.streamId, { ...stream, ...ended(pieces), state: "abandoned", hash: state.hash })
  }

  #keepPieces({ streamId, chunks }: StreamUpdate, writing: Writing): void {
    for (const { offset, bytes, atMicros } of chunks)
      writing.rows.stream_rows.push({
        stream_id: streamId,
        offset,
        micros: atMicros,
        bytes: Buffer.from(bytes).toString("base64"),
      })
  }

  async #piecesOf({ streamId, chunks }: StreamUpdate): Promise<StreamPiece[]> {
    const pieces = new Map<number, StreamPiece>()
    for (const { offset, bytes, atMicros } of chunks) pieces.set(offset, { offset, bytes, micros: atMicros })
    for (const piece of await streamPieces(this.#connection, streamId)) pieces.set(piece.offset, piece)
    return [...pieces.values()].sort((one, other) => one.offset - other.offset)
  }

  async abandon(update: StreamUpdate, writing: Writing): Promise<void> {
    const stream = writing.openStreams.get(update.streamId)
    if (stream === undefined || stream.state !== "open") return
    const pieces = await this.#piecesOf(update)
    const bytes = pieces.map((piece) => piece.bytes)
    const { state } = await this.#bodies.put("", bytes, stream.mime, writing)
    writing.openStreams.set(update.streamId, { ...stream, ...ended(pieces), state: "abandoned", hash: state.hash })
    const run = stream.runId === null ? undefined : writing.work.runs.get(stream.runId)
    const name = run?.openerOf(stream.stepId)
    if (run === undefined || name == null) return
    const opener = await this.#openerOf(run.runId, name, writing)
    if (opener === undefined) return
    const place = placeOf(run.runId, opener)
    this.#index.refer(state.hash, HELD.stream, place, writing)
    for (const text of bodySegments(headOf(bytes), stream.mime))
      this.#index.addText(text, run, HELD.stream, place, state.hash, writing)
  }

  async #openerOf(runId: string, name: string, writing: Writing): Promise<PlacedEvent | undefined> {
    return (
      writing.accepted.get(runId)?.find((placed) => placed.name === name) ??
      (await this.#events.named([{ runId, name }])).get(`${runId}\n${name}`)
    )
  }
}

function pickCounts({ chunks, byteSize, lastMicros }: StreamFact): Partial<StreamFact> {
  return {
    ...(chunks === undefined ? {} : { chunks }),
    ...(byteSize === undefined ? {} : { byteSize }),
    ...(lastMicros === undefined ? {} : { lastMicros }),
  }
}
