import { isUtf8 } from "node:buffer"
import type { Arrival, Piece } from "./frame-redactor.js"
import { MASK_MIDDLE, type Mask } from "./mask.js"
import { masksInBytes, octetsWithMasks } from "./redact-bytes.js"
import type { RedactedText } from "./redact-text.js"
import type { Ruleset } from "./ruleset.js"
import { StreamRedactor } from "./stream-redactor.js"

const NOTHING = Buffer.alloc(0)

/**
 * Redacts a body that arrives in pieces and is one text. Pieces may end inside a character. From the first bytes that are no UTF-8 on, each
 * byte is taken as one character, so that whatever came is given back as it was.
 */
export class ByteStreamRedactor {
  readonly #ruleset: Ruleset
  #redactor: StreamRedactor
  #isText = true
  /** The beginning of a character whose end has not come. */
  #begun: Buffer = NOTHING
  /** So much the present redactor has given out: its masks are counted from there. */
  #given = 0
  #hasFailed = false

  constructor(ruleset: Ruleset) {
    this.#ruleset = ruleset
    this.#redactor = new StreamRedactor(ruleset)
  }

  push(bytes: Uint8Array, arrival: Arrival): Piece[] {
    const buffer = this.#begun.length === 0 ? Buffer.from(bytes) : Buffer.concat([this.#begun, bytes])
    const whole = this.#isText ? endOfWholeCharacters(buffer) : buffer.length
    const head = buffer.subarray(0, whole)
    this.#begun = buffer.subarray(whole)
    if (!this.#isText) return this.#give(this.#redactor.push(head.toString("latin1")), arrival)
    if (isUtf8(head)) return this.#give(this.#redactor.push(head.toString("utf8")), arrival)
    this.#begun = NOTHING
    return [...this.#becomeOctets(arrival), ...this.push(buffer, arrival)]
  }

  /** How many bytes have come that were not given out. */
  get heldBytes(): number {
    const { held } = this.#redactor
    return this.#begun.length + (this.#isText ? held.bytes : held.length)
  }

  finish(arrival: Arrival): Piece[] {
    const begun = this.#begun
    this.#begun = NOTHING
    if (begun.length === 0) return this.#give(this.#redactor.finish(), arrival)
    const before = this.#becomeOctets(arrival)
    return [...before, ...this.push(begun, arrival), ...this.#give(this.#redactor.finish(), arrival)]
  }

  #becomeOctets(arrival: Arrival): Piece[] {
    const before = this.#give(this.#redactor.finish(), arrival)
    this.#isText = false
    this.#redactor = new StreamRedactor(this.#ruleset)
    this.#given = 0
    return before
  }

  #give({ text, masks, failed }: RedactedText, arrival: Arrival): Piece[] {
    if (this.#hasFailed) return []
    if (failed !== undefined) {
      this.#hasFailed = true
      return [{ bytes: Buffer.from(MASK_MIDDLE), masks: [], arrival, failed: true }]
    }
    if (text === "") return []
    const placed: Mask[] = masks.map((mask) => ({ ...mask, offset: mask.offset - this.#given }))
    this.#given += text.length
    return this.#isText
      ? [{ bytes: Buffer.from(text), masks: masksInBytes(text, placed), arrival }]
      : [{ ...octetsWithMasks(text, placed), arrival }]
  }
}

/** Where a text can be cut without cutting a character: before a last one that has begun and not ended. */
function endOfWholeCharacters(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!
    if ((byte & 0xc0) === 0x80) continue
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
    return length > back ? bytes.length - back : bytes.length
  }
  return bytes.length
}
