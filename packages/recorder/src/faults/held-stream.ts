import { incrementalBodyHash } from "@orangebox/contract"
import type { BodyStream } from "../sink.js"

/**
 * A body that arrives in pieces and is kept only on a fault: held in memory for a fault in this process, and written ahead for the death
 * of it. Without a spool it is only held.
 */
export class HeldStream implements BodyStream {
  readonly id: string
  readonly #ahead: BodyStream | undefined
  #pieces: Uint8Array[] = []
  #byteSize = 0
  readonly #hash = incrementalBodyHash()
  /** So many bytes had come behind what was written, and could not be judged yet. */
  withheldBytes = 0

  constructor(id: string, ahead: BodyStream | undefined) {
    this.id = ahead?.id ?? id
    this.#ahead = ahead
  }

  /** What has come so far. */
  soFar(): Uint8Array {
    return Buffer.concat(this.#pieces)
  }

  write(bytes: Uint8Array, withheld = 0): boolean {
    this.withheldBytes = withheld
    const copy = Uint8Array.from(bytes)
    this.#pieces.push(copy)
    this.#byteSize += copy.length
    this.#hash.update(copy)
    return this.#ahead?.write(copy, withheld) ?? true
  }

  finish(): ReturnType<BodyStream["finish"]> {
    return this.#ahead?.finish() ?? { hash: this.#hash.digest(), byteSize: this.#byteSize, complete: true }
  }

  /** Hands the bytes over, once: a run may have thousands of streams, and how much of them is held is for the evidence to decide. */
  bytes(): Uint8Array {
    const bytes = Buffer.concat(this.#pieces)
    this.#pieces = []
    return bytes
  }
}
