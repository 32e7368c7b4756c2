import { hash } from "node:crypto"
import type { RedactedBytes } from "./redact-bytes.js"

/**
 * Remembers what was searched before. Agents send their whole history with every call; hashing a message costs a tenth of searching it.
 *
 * The hash is cryptographic, because whoever could make two messages collide could walk a secret past the rules. Kept are two generations:
 * when the younger is full, the older is forgotten, so what is used stays and the memory is bounded. A memory belongs to one ruleset.
 */
export class SeenText {
  readonly #maxBytes: number
  #young = new Map<string, Outcome>()
  #old = new Map<string, Outcome>()
  #youngBytes = 0

  constructor({ maxBytes = 8 * 1024 * 1024 }: { maxBytes?: number } = {}) {
    this.#maxBytes = maxBytes
  }

  /** What `redact` makes of a segment, or what it made of the same bytes before. */
  once(segment: Buffer, redact: (segment: Buffer) => RedactedBytes): RedactedBytes {
    if (segment.length < SHORTEST_WORTH_IT) return redact(segment)
    const key = hash("sha256", segment, "base64")
    const known = this.#young.get(key) ?? this.#old.get(key)
    if (known !== undefined) {
      this.#keep(key, known)
      return known === CLEAN ? { bytes: segment, masks: [] } : known
    }
    const redacted = redact(segment)
    if (redacted.failed !== undefined) return redacted
    // Of a clean segment only the fact is kept; of another one a copy, for its bytes go to the caller.
    const isClean = redacted.masks.length === 0
    this.#keep(key, isClean ? CLEAN : { ...redacted, bytes: Uint8Array.from(redacted.bytes) })
    return redacted
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

const CLEAN = "clean"
type Outcome = RedactedBytes | typeof CLEAN

const SHORTEST_WORTH_IT = 256
/** About what a key and its place in the map take. */
const PER_ENTRY = 160
