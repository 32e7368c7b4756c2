import { hash } from "node:crypto"
import type { RedactedBytes } from "./redact-bytes.js"

/**
 * Remembers what was searched before. Agents send their whole history with every call: comparing a message with the one that stood at its
 * place in the last body costs a hundredth of searching it, and finding it by its hash a tenth.
 *
 * The hash is cryptographic, because an attacker who makes two messages collide could walk a secret past the rules; and what is compared with is
 * a copy, because the caller may write over its bytes. Kept are two generations: when the younger is full, the older is forgotten,
 * so what is used stays and the memory is bounded. A memory belongs to one ruleset.
 */
export class SeenText {
  readonly #maxBytes: number
  #young = new Map<string, Outcome>()
  #old = new Map<string, Outcome>()
  #youngBytes = 0
  readonly #last: Place[] = []
  #lastBytes = 0

  constructor({ maxBytes = 8 * 1024 * 1024 }: { maxBytes?: number } = {}) {
    this.#maxBytes = maxBytes
  }

  /** What `redact` makes of a segment, or what it made of the same bytes before. `place` counts the segments of a body. */
  once(segment: Buffer, place: number, redact: (segment: Buffer) => RedactedBytes): RedactedBytes {
    if (segment.length < SHORTEST_WORTH_IT) return redact(segment)
    const last = this.#last[place]
    if (last?.bytes.equals(segment)) return given(last.outcome, segment)
    const key = hash("sha256", segment, "base64")
    const known = this.#young.get(key) ?? this.#old.get(key)
    if (known !== undefined) {
      this.#keep(key, known)
      this.#keepPlace(place, segment, known)
      return given(known, segment)
    }
    const redacted = redact(segment)
    if (redacted.failed !== undefined) return redacted
    // Of a clean segment only the fact is kept; of another one a copy, for its bytes go to the caller.
    const isClean = redacted.masks.length === 0
    const outcome = isClean ? CLEAN : { ...redacted, bytes: Uint8Array.from(redacted.bytes) }
    this.#keep(key, outcome)
    this.#keepPlace(place, segment, outcome)
    return redacted
  }

  #keepPlace(place: number, segment: Buffer, outcome: Outcome): void {
    const before = this.#last[place]?.bytes.length ?? 0
    if (this.#lastBytes - before + segment.length > this.#maxBytes || place > MOST_PLACES) return
    this.#lastBytes += segment.length - before
    this.#last[place] = { bytes: Buffer.from(segment), outcome }
  }

  #keep(key: string, outcome: Outcome): void {
    if (this.#young.has(key)) return
    this.#young.set(key, outcome)
    this.#youngBytes += PER_ENTRY + (outcome === CLEAN ? 0 : outcome.bytes.length)
    if (this.#youngBytes <= this.#maxBytes / 2) return
    this.#old = this.#young
    this.#young = new Map()
    this.#youngBytes = 0
  }
}

const given = (outcome: Outcome, segment: Buffer): RedactedBytes =>
  outcome === CLEAN ? { bytes: segment, masks: [] } : outcome

const CLEAN = "clean"
type Outcome = RedactedBytes | typeof CLEAN

interface Place {
  readonly bytes: Buffer
  readonly outcome: Outcome
}

const SHORTEST_WORTH_IT = 256
const MOST_PLACES = 4096
/** About what a key and its place in the map take. */
const PER_ENTRY = 160
