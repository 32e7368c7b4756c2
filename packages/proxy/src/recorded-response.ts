import { incrementalBodyHash } from "@orangebox/contract"
import type { WireCall, WireEndNotes, WireResponseHead } from "@orangebox/recorder"
import { HEADERS_AHEAD } from "@orangebox/replay"
import { type ContentDecoder, encodingsOf, NotDecodable, openDecoder } from "./content-decoder.js"
import { headerIn } from "./forwarded-headers.js"
import type { ProxyLimits } from "./limits.js"

/**
 * The recorded side of one answer: takes the bytes as they come off the wire, writes their decoded form to the journal, and knows in the end
 * what to say about both. A piece is in the journal when `take` is done with it.
 */
export class RecordedResponse {
  readonly head: WireResponseHead
  readonly #call: WireCall
  readonly #limits: ProxyLimits
  readonly #encodings: readonly string[]
  /** Of the bytes as they came; undefined where that is how they are stored. */
  readonly #wireHash: ReturnType<typeof incrementalBodyHash> | undefined
  #decoder: ContentDecoder | undefined
  #problem: string | undefined
  #isRaw = false
  /** What came before anything could be decoded: should nothing ever be, this is what there is to keep. */
  #undecoded: Uint8Array[] = []
  #wireBytes = 0
  readonly #headMonoUs: number
  #firstByteMonoUs: number | undefined
  #seenBytes = 0
  #storedBytes = 0

  constructor(call: WireCall, head: WireResponseHead, limits: ProxyLimits) {
    this.head = head
    this.#call = call
    this.#limits = limits
    this.#headMonoUs = call.step.monoUs()
    this.#encodings = encodingsOf(headerIn(head.headers, "content-encoding"))
    this.#wireHash = this.#encodings.length > 0 ? incrementalBodyHash() : undefined
    call.responseStarted(head)
    if (this.#encodings.length > 0) this.#decoder = this.#openDecoder()
  }

  get storedBytes(): number {
    return this.#storedBytes
  }

  /** Undefined when the piece is in the journal already, as it always is when nothing has to be decoded. */
  take(bytes: Uint8Array): Promise<void> | undefined {
    const monoUs = this.#call.step.monoUs()
    this.#firstByteMonoUs ??= monoUs
    this.#wireBytes += bytes.length
    this.#wireHash?.update(bytes)
    if (!this.#decoder) {
      if (this.#encodings.length === 0 || this.#isRaw) this.#store(bytes, monoUs)
      return undefined
    }
    return this.#decode(bytes, monoUs)
  }

  /** The whole answer, which is in the journal with the end of the exchange and not before. Undefined when it has to be taken in pieces. */
  takeWhole(bytes: Uint8Array): true | undefined {
    if (this.#encodings.length > 0 || this.#wireBytes > 0 || bytes.length > this.#limits.responseBytes) return undefined
    this.#wireBytes = this.#seenBytes = this.#storedBytes = bytes.length
    this.#call.whole(bytes)
    return true
  }

  /** Everything that was still inside a decoder. */
  async finish(): Promise<void> {
    const decoder = this.#decoder
    if (!decoder) return
    this.#decoder = undefined
    try {
      const monoUs = this.#call.step.monoUs()
      for (const piece of await decoder.finish()) this.#store(piece, monoUs)
    } catch (error) {
      this.#giveUp(error)
    }
  }

  /** Lets go of the decoder without waiting for what is in it. */
  abandon(): void {
    this.#decoder?.close()
    this.#decoder = undefined
  }

  endNotes(): WireEndNotes {
    const isCut = this.#seenBytes > this.#storedBytes
    const aheadMs = ((this.#firstByteMonoUs ?? this.#headMonoUs) - this.#headMonoUs) / 1000
    const attributes = {
      // A client goes on from headers that come long before anything else.
      ...(aheadMs < 1 ? {} : { [HEADERS_AHEAD]: aheadMs }),
      ...(this.#wireHash === undefined
        ? {}
        : {
            response_wire_encoding: this.#encodings.join(", "),
            response_wire_bytes: this.#wireBytes,
            response_wire_digest: this.#wireHash.digest(),
          }),
      ...(this.#problem === undefined ? {} : { response_not_decoded: this.#problem }),
      ...(isCut ? { response_cut_at: this.#storedBytes } : {}),
    }
    // How large the rest of an undecoded body would have been is not known, and unknown is not a number.
    const bodyMarks = {
      ...(this.#isRaw ? { contentEncoding: this.#encodings.join(", ") } : {}),
      ...(isCut && this.#problem === undefined ? { fullByteSize: this.#seenBytes } : {}),
    }
    return { attributes, bodyMarks }
  }

  #openDecoder(): ContentDecoder | undefined {
    try {
      return openDecoder(this.#encodings, { ...this.#limits, maxBytes: this.#limits.responseBytes })
    } catch (error) {
      this.#giveUp(error)
      return undefined
    }
  }

  async #decode(bytes: Uint8Array, monoUs: number): Promise<void> {
    if (this.#seenBytes === 0) this.#undecoded.push(bytes)
    try {
      for (const piece of await this.#decoder!.push(bytes)) this.#store(piece, monoUs)
      if (this.#seenBytes > 0) this.#undecoded = []
    } catch (error) {
      this.#giveUp(error)
    }
  }

  // A body that gave nothing is kept as it came. One that broke off in the middle stays decoded as far as it got: half of one and half of the
  // other would be neither.
  #giveUp(error: unknown): void {
    this.#problem ??= error instanceof NotDecodable ? error.message : String(error)
    this.#isRaw = this.#seenBytes === 0
    this.abandon()
    if (this.#isRaw) this.#call.responseNotDecoded()
    const kept = this.#isRaw ? this.#undecoded : []
    this.#undecoded = []
    for (const bytes of kept) this.#store(bytes, this.#call.step.monoUs())
  }

  #store(bytes: Uint8Array, monoUs: number): void {
    this.#seenBytes += bytes.length
    const room = this.#limits.responseBytes - this.#storedBytes
    if (room <= 0) return
    const kept = bytes.length <= room ? bytes : bytes.subarray(0, room)
    this.#storedBytes += kept.length
    this.#call.chunk(kept, monoUs)
  }
}
