/**
 * The last bodies and where they were cut. A request is mostly its predecessor once more: comparing the two in memory finds the
 * chunks they share without cutting, hashing and looking them up again, which is most of the work of storing a session.
 */
import { CUT_REACH_BYTES } from "./cut-chunks.js"

export interface CutBody {
  readonly bytes: Buffer
  readonly ends: readonly number[]
  readonly ids: readonly number[]
}

export interface Match {
  readonly body: CutBody
  /** How many of its first chunks are chunks of the new body too. */
  readonly chunks: number
  /** Whether the new body holds nearly all of it: the next call of the same session. */
  readonly isContinued: boolean
}

/** Shorter bodies are stored as fast as they are compared; longer ones would push out all others. */
const MIN_BYTES = 8 * 1024
const MAX_BYTES = 4 * 1024 * 1024
const MAX_BODIES = 8
const COMPARED_AT_ONCE = 16 * 1024

export class RecentBodies {
  #bodies: CutBody[] = []

  /** The remembered body with the longest common beginning. */
  match(bytes: Buffer): Match | undefined {
    if (bytes.length < MIN_BYTES) return undefined
    let best: CutBody | undefined
    let longest = 0
    for (const body of this.#bodies) {
      const shared = sharedPrefix(body.bytes, bytes)
      if (shared > longest) {
        best = body
        longest = shared
      }
      if (isNearlyAll(shared, body)) break
    }
    if (best === undefined) return undefined
    const chunks = best.ends.findLastIndex((end) => end + CUT_REACH_BYTES <= longest) + 1
    return { body: best, chunks, isContinued: isNearlyAll(longest, best) }
  }

  /** Keeps a copy, in the place of the body it continues. */
  remember(body: CutBody, match: Match | undefined): void {
    if (body.bytes.length < MIN_BYTES || body.bytes.length > MAX_BYTES) return
    const others = match?.isContinued ? this.#bodies.filter((other) => other !== match.body) : this.#bodies
    this.#bodies = [{ ...body, bytes: Buffer.from(body.bytes) }, ...others].slice(0, MAX_BODIES)
  }

  forget(): void {
    this.#bodies = []
  }
}

function isNearlyAll(shared: number, body: CutBody): boolean {
  return shared >= body.bytes.length * 0.9
}

function sharedPrefix(one: Buffer, other: Buffer): number {
  const limit = Math.min(one.length, other.length)
  let at = 0
  let step = COMPARED_AT_ONCE
  while (at < limit) {
    const end = Math.min(at + step, limit)
    if (one.compare(other, at, end, at, end) === 0) at = end
    else if (step === 1) return at
    else step = Math.max(step >> 2, 1)
  }
  return at
}
