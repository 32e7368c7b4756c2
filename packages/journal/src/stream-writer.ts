import { incrementalBodyHash } from "@orangebox/contract"
import type { EventLine, StreamWriter } from "./journal.js"
import type { StreamStart } from "./line-format.js"
import { RecentMap } from "./recent-map.js"

/** A piece of a stream and its place in it. */
export interface Chunk {
  readonly streamId: string
  readonly start: StreamStart
  readonly streamOffset: number
  readonly atUs: number
  readonly bytes: Uint8Array
  readonly withheldBytes: number
}

/** Hashes a stream as it passes and hands on its pieces. `append` says whether a piece was kept. */
export function streamWriter(
  id: string,
  start: StreamStart,
  monoMs: () => number,
  append: (chunk: Chunk) => boolean,
): StreamWriter {
  const openedAt = monoMs()
  const running = incrementalBodyHash()
  let byteSize = 0
  let complete = true
  return {
    id,
    write: (bytes, withheldBytes = 0) => {
      if (bytes.length === 0 && withheldBytes === 0) return true
      running.update(bytes)
      const atUs = Math.round((monoMs() - openedAt) * 1000)
      const kept = append({ streamId: id, start, streamOffset: byteSize, atUs, bytes, withheldBytes })
      byteSize += bytes.length
      complete &&= kept
      return kept
    },
    finish: () => ({ hash: running.digest(), byteSize, complete }),
  }
}

/** Streams remembered until an event names them; beyond, the oldest are taken for abandoned. */
const MOST_STREAMS = 4096

/** For each stream that no event has named yet: the file it began in, and the last one that says what it belongs to. */
export class StreamPlaces {
  readonly #places = new RecentMap<string, { readonly firstFileNo: number; announcedIn: number }>(MOST_STREAMS)

  isAnnounced(streamId: string, fileNo: number): boolean {
    return this.#places.get(streamId)?.announcedIn === fileNo
  }

  noteChunk(streamId: string, fileNo: number): void {
    const place = this.#places.get(streamId) ?? { firstFileNo: fileNo, announcedIn: fileNo }
    place.announcedIn = fileNo
    this.#places.set(streamId, place)
  }

  /** The earliest file with chunks of the line's streamed bodies, `current` when there is none before it. */
  firstFileNo(line: EventLine, current: number): number {
    let first = current
    for (const body of line.bodies) {
      if ("streamId" in body) first = Math.min(first, this.#places.get(body.streamId)?.firstFileNo ?? first)
    }
    return first
  }

  forgetNamed(line: EventLine): void {
    for (const body of line.bodies) if ("streamId" in body) this.#places.delete(body.streamId)
  }
}
