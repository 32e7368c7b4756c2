import { crc32 } from "node:zlib"
import { CHECKED_FROM, LINE_START, TORN_MARK } from "./line-format.js"

const FRESH_LINE = `${TORN_MARK}\n`
const LINE_AT = FRESH_LINE.length
const FIRST_CAPACITY = 64 * 1024
/** A buffer that grew beyond this for one huge line is let go afterwards. */
const KEPT_CAPACITY = 1024 * 1024

const HEX_DIGITS = Buffer.from("0123456789abcdef", "latin1")

/**
 * Builds one line after the other in one reused buffer: the hot path of every record.
 *
 * The buffer begins with the mark that ends a torn fragment, so that one write(2) can both close a fragment and hold the whole next
 * line; a line after a good one is simply written without those first bytes. `head` is the constant start of each line this encoder
 * builds and is encoded once.
 */
export class LineEncoder {
  readonly #head: string
  readonly #contentAt: number
  #buffer = Buffer.alloc(0)
  #end = 0

  constructor(head: string) {
    this.#head = head
    this.#contentAt = LINE_AT + CHECKED_FROM + Buffer.byteLength(head)
    this.#allocate(FIRST_CAPACITY)
  }

  /** The encoded line is `buffer[start, end)`; with `afterFragment` it is preceded by the mark that ends the fragment. */
  get buffer(): Buffer {
    return this.#buffer
  }
  start(afterFragment: boolean): number {
    return afterFragment ? 0 : LINE_AT
  }
  get end(): number {
    return this.#end
  }
  get byteLength(): number {
    return this.#end - LINE_AT
  }

  /** `first` and `second` follow each other; two pieces spare the caller a concatenation of what may be large strings. */
  encode(first: string, second: string): void {
    this.#makeRoom(first, second)
    const buffer = this.#buffer
    let end = this.#contentAt
    end += buffer.write(first, end)
    if (second.length < 8) for (let i = 0; i < second.length; i++) buffer[end++] = second.charCodeAt(i)
    else end += buffer.write(second, end)
    const crc = crc32(buffer.subarray(LINE_AT + CHECKED_FROM, end))
    const crcAt = LINE_AT + LINE_START.length
    for (let digit = 0, shift = 28; digit < 8; digit++, shift -= 4) {
      buffer[crcAt + digit] = HEX_DIGITS[(crc >>> shift) & 15]!
    }
    buffer[end] = 0x0a
    this.#end = end + 1
  }

  /** Lets go of a buffer that one huge line made large. */
  relax(): void {
    if (this.#buffer.length > KEPT_CAPACITY) this.#allocate(FIRST_CAPACITY)
  }

  #makeRoom(first: string, second: string): void {
    // Three bytes is the most that UTF-8 needs for one UTF-16 unit. Counting exactly is worth it only before a large allocation.
    if (this.#contentAt + (first.length + second.length) * 3 < this.#buffer.length) return
    const room = this.#contentAt + Buffer.byteLength(first) + Buffer.byteLength(second) + 1
    // With some room to spare, or lines that grow little by little would each ask for a new buffer.
    if (room > this.#buffer.length) this.#allocate(Math.ceil(room * 1.25))
  }

  #allocate(capacity: number): void {
    this.#buffer = Buffer.allocUnsafeSlow(Math.max(capacity, FIRST_CAPACITY))
    this.#buffer.write(`${FRESH_LINE}${LINE_START}00000000",${this.#head}`, 0)
  }
}
