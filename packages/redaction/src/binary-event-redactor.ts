import type { JsonNode } from "@orangebox/contract"
import { type BinaryEvent, lineOfPayload, payloadStart, readBinaryEvent, writeBinaryEvent } from "./binary-events.js"
import { type Arrival, FrameRedactor, type FrameText, type Piece } from "./frame-redactor.js"
import { MASK_MIDDLE, type Mask, secretTag } from "./mask.js"
import { redactOctets } from "./redact-bytes.js"
import type { Ruleset } from "./ruleset.js"

/** A longer one would be judged in parts. */
const LONGEST_LINE = 512 * 1024

interface Message {
  readonly event: BinaryEvent
  readonly arrival: Arrival
  /** Undefined where the redactor cannot follow what it carries. */
  readonly payload: ReturnType<typeof lineOfPayload>
}

/**
 * Redacts a binary event stream. What its messages say is followed as lines of JSON are, block by block; a message in which something was found
 * is written anew, lengths and checksums with it, and every other goes out byte for byte. What is no message, or carries what is no JSON, is
 * withheld.
 */
export class BinaryEventRedactor {
  readonly #ruleset: Ruleset
  readonly #lines: FrameRedactor
  #rest: Buffer = Buffer.alloc(0)
  /** Those whose lines are being judged, in order. */
  #waiting: Message[] = []
  #isDamaged = false

  constructor(ruleset: Ruleset, readFrame: (frame: JsonNode) => FrameText) {
    this.#ruleset = ruleset
    this.#lines = new FrameRedactor(ruleset, "lines", readFrame)
  }

  /** What has come and not gone out. */
  get heldBytes(): number {
    return this.#rest.length + this.#waiting.reduce((sum, { event }) => sum + event.whole.length, 0)
  }

  push(bytes: Uint8Array, arrival: Arrival): Piece[] {
    if (this.#isDamaged) return []
    this.#rest = Buffer.concat([this.#rest, bytes])
    const pieces: Piece[] = []
    while (this.#rest.length > 0) {
      const event = readBinaryEvent(this.#rest)
      if (event === undefined) break
      if (event === "damaged") return [...pieces, ...this.#withholdRest(arrival)]
      this.#rest = this.#rest.subarray(event.whole.length)
      const read = lineOfPayload(event.payload)
      const payload = read !== undefined && read.line.length <= LONGEST_LINE ? read : undefined
      this.#waiting.push({ event, arrival, payload })
      // One line each, so that lines and messages come out in step.
      pieces.push(...this.#judged(this.#lines.push(Buffer.from(`${payload?.line ?? "{}"}\n`), arrival)))
    }
    return pieces
  }

  finish(arrival: Arrival): Piece[] {
    const pieces = this.#judged(this.#lines.finish(arrival))
    return this.#rest.length === 0 || this.#isDamaged ? pieces : [...pieces, ...this.#withholdRest(arrival)]
  }

  /** From here on the beginning of a message cannot be told. */
  #withholdRest(arrival: Arrival): Piece[] {
    const pieces = this.#judged(this.#lines.finish(arrival))
    const held = this.#rest
    this.#isDamaged = true
    this.#rest = Buffer.alloc(0)
    const bytes = Buffer.from(MASK_MIDDLE)
    return [...pieces, { bytes, masks: [this.#withheld(0, bytes.length, held)], arrival }]
  }

  #judged(lines: readonly Piece[]): Piece[] {
    return lines.map((line) => this.#written(this.#waiting.shift()!, line))
  }

  #written({ event, arrival, payload }: Message, line: Piece): Piece {
    const { headers } = event
    if (line.failed) return { ...this.#replaced(event, arrival), failed: true }
    const isUnread = payload === undefined && event.payload.length > 0
    if (isUnread || redactOctets(headers, this.#ruleset).masks.length > 0) return this.#replaced(event, arrival)
    // Of a secret that goes on from an earlier message nothing is left here, not even a mask.
    const said = Buffer.from(line.bytes).toString("utf8").replace(/\n$/, "")
    if (payload === undefined || said === payload.line) return { bytes: event.whole, masks: [], arrival }
    const redacted = payload.write(said)
    const start = payloadStart(headers)
    // In base64 a mask has no place of its own: the payload is its place.
    const masks = payload.isEncoded
      ? line.masks.slice(0, 1).map((mask) => ({ ...mask, offset: start, length: redacted.length }))
      : line.masks.map((mask) => ({ ...mask, offset: mask.offset + start }))
    return { bytes: writeBinaryEvent(headers, redacted), masks, arrival }
  }

  #replaced({ whole }: BinaryEvent, arrival: Arrival): Piece {
    const payload = Buffer.from(JSON.stringify(MASK_MIDDLE))
    const start = payloadStart(Buffer.alloc(0)) + 1
    const bytes = writeBinaryEvent(Buffer.alloc(0), payload)
    return { bytes, masks: [this.#withheld(start, payload.length - 2, whole)], arrival }
  }

  #withheld(offset: number, length: number, held: Buffer): Mask {
    return { offset, length, rule: "withheld", tag: secretTag(this.#ruleset.key, held.toString("latin1")) }
  }
}
