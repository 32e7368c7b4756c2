import { incrementalBodyHash } from "@orangebox/contract"
import type { StreamWriter } from "./journal.js"
import type { StreamStart } from "./line-format.js"

/** A piece of a stream and its place in it. */
export interface Chunk {
  readonly streamId: string
  readonly start: StreamStart
  readonly streamOffset: number
  readonly atUs: number
  readonly bytes: Uint8Array
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
    write: (bytes) => {
      if (bytes.length === 0) return true
      running.update(bytes)
      const atUs = Math.round((monoMs() - openedAt) * 1000)
      const kept = append({ streamId: id, start, streamOffset: byteSize, atUs, bytes })
      byteSize += bytes.length
      complete &&= kept
      return kept
    },
    finish: () => ({ hash: running.digest(), byteSize, complete }),
  }
}
