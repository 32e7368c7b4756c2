import type { EventLine } from "./journal.js"
import { RecentMap } from "./recent-map.js"

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
