import { constants, createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from "node:zlib"
import { Decompress } from "fzstd"

/**
 * Undoes content encodings piece by piece, beside the traffic: what passes stays as it came. Whatever is packed deeper, larger or tighter than
 * the limits is not unpacked, because a recorder must not be what a bomb was made for.
 */
export interface ContentDecoder {
  /** The bytes this piece gives; rejects once the body turns out not to be decodable. */
  push(bytes: Uint8Array): Promise<readonly Uint8Array[]>
  /** The bytes that were still inside. */
  finish(): Promise<readonly Uint8Array[]>
  /** Lets go of everything; the rest is of no interest any more. */
  close(): void
}

export interface DecodeLimits {
  readonly maxBytes: number
  readonly decodeRatio: number
  readonly decodeLayers: number
}

export class NotDecodable extends Error {
  override readonly name = "NotDecodable"
}

/** The encodings of a header, in the order they were applied; none for `identity`. */
export function encodingsOf(header: string | undefined): string[] {
  if (header === undefined) return []
  return header
    .split(",")
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== "" && name !== "identity")
}

/** Throws NotDecodable for encodings that are unknown, or too many. */
export function openDecoder(encodings: readonly string[], limits: DecodeLimits): ContentDecoder {
  if (encodings.length > limits.decodeLayers)
    throw new NotDecodable(`${encodings.length} encodings on top of each other`)
  const layers = encodings.toReversed().map((name) => layerFor(name, limits))
  const through = async (pieces: readonly Uint8Array[], from: number): Promise<readonly Uint8Array[]> => {
    let current = pieces
    for (const layer of layers.slice(from)) {
      const next: Uint8Array[] = []
      for (const piece of current) next.push(...(await layer.push(piece)))
      current = next
    }
    return current
  }
  return {
    push: (bytes) => through([bytes], 0),
    async finish() {
      const rest: Uint8Array[] = []
      for (const [index, layer] of layers.entries()) rest.push(...(await through(await layer.finish(), index + 1)))
      return rest
    },
    close() {
      for (const layer of layers) layer.close()
    },
  }
}

function layerFor(name: string, limits: DecodeLimits): ContentDecoder {
  switch (name) {
    case "gzip":
    case "x-gzip":
      return new ZlibLayer(() => createGunzip(ZLIB_FLUSH), limits)
    case "deflate":
      return new ZlibLayer(
        (first) => (hasZlibHeader(first) ? createInflate(ZLIB_FLUSH) : createInflateRaw(ZLIB_FLUSH)),
        limits,
      )
    case "br":
      return new ZlibLayer(() => createBrotliDecompress(BROTLI_FLUSH), limits)
    case "zstd":
      return new ZstdLayer(limits)
    default:
      throw new NotDecodable(`content encoding "${name}" is not known here`)
  }
}

// Flushing makes every piece give all it holds at once: an event stream is recorded while it runs, and of a body that ends early there is
// nothing left inside when its end is found to be missing.
const ZLIB_FLUSH = { flush: constants.Z_SYNC_FLUSH }
const BROTLI_FLUSH = { flush: constants.BROTLI_OPERATION_FLUSH }

// "deflate" means the zlib format, but some servers always sent the bare one. The first byte tells them apart, should no second have come: in
// the bare format it would announce a stored block and then leave bits set that every encoder leaves clear.
const hasZlibHeader = (first: Uint8Array): boolean =>
  (first[0]! & 0x0f) === 8 && (first.length === 1 || ((first[0]! << 8) | first[1]!) % 31 === 0)

const RATIO_FREE_BYTES = 1024 * 1024

class Meter {
  readonly #limits: DecodeLimits
  #in = 0
  #out = 0

  constructor(limits: DecodeLimits) {
    this.#limits = limits
  }

  takes(bytes: number): void {
    this.#in += bytes
  }

  /** Why what was just unpacked is too much; undefined when it is not. */
  gives(bytes: number): NotDecodable | undefined {
    this.#out += bytes
    if (this.#out > this.#limits.maxBytes)
      return new NotDecodable(`unpacks to more than ${this.#limits.maxBytes} bytes`)
    if (this.#out > RATIO_FREE_BYTES && this.#out > this.#in * this.#limits.decodeRatio) {
      return new NotDecodable(`unpacks to more than ${this.#limits.decodeRatio} times its size`)
    }
    return undefined
  }
}

type ZlibStream = ReturnType<typeof createGunzip> | ReturnType<typeof createBrotliDecompress>

class ZlibLayer implements ContentDecoder {
  readonly #make: (first: Uint8Array) => ZlibStream
  readonly #meter: Meter
  #stream: ZlibStream | undefined
  #pieces: Uint8Array[] = []
  #failure: Error | undefined
  #wake: (() => void) | undefined

  constructor(make: (first: Uint8Array) => ZlibStream, limits: DecodeLimits) {
    this.#make = make
    this.#meter = new Meter(limits)
  }

  push(bytes: Uint8Array): Promise<readonly Uint8Array[]> {
    if (bytes.length === 0) return Promise.resolve([])
    const stream = this.#stream ?? this.#open(bytes)
    this.#stream = stream
    this.#meter.takes(bytes.length)
    return this.#settled((done) => stream.write(bytes, done))
  }

  finish(): Promise<readonly Uint8Array[]> {
    const stream = this.#stream
    return stream === undefined ? Promise.resolve([]) : this.#settled((done) => stream.once("end", done).end())
  }

  close(): void {
    this.#stream?.destroy()
  }

  #open(first: Uint8Array): ZlibStream {
    const stream = this.#make(first)
    stream.on("data", (piece: Uint8Array) => {
      this.#pieces.push(piece)
      const tooMuch = this.#meter.gives(piece.length)
      if (tooMuch) this.#fail(tooMuch)
    })
    stream.on("error", (error) => this.#fail(new NotDecodable(error.message)))
    return stream
  }

  #fail(failure: Error): void {
    this.#failure ??= failure
    this.#pieces = []
    this.#stream?.destroy()
    this.#wake?.()
  }

  // A stream that was destroyed does not call back, so a failure has to wake the waiting caller.
  #settled(start: (done: () => void) => void): Promise<readonly Uint8Array[]> {
    return new Promise((resolve, reject) => {
      const done = (): void => {
        this.#wake = undefined
        if (this.#failure) {
          reject(this.#failure)
          return
        }
        const pieces = this.#pieces
        this.#pieces = []
        resolve(pieces)
      }
      this.#wake = done
      if (this.#failure) done()
      else start(done)
    })
  }
}

/** RFC 9659 lets an HTTP message ask for a window of 8 MiB; a frame that is one segment has its own size for a window. */
class ZstdLayer implements ContentDecoder {
  readonly #limits: DecodeLimits
  readonly #meter: Meter
  readonly #zstd: Decompress
  #pieces: Uint8Array[] = []
  #head: Uint8Array | undefined = new Uint8Array(0)
  #failure: NotDecodable | undefined

  constructor(limits: DecodeLimits) {
    this.#limits = limits
    this.#meter = new Meter(limits)
    this.#zstd = new Decompress((piece) => {
      // The library uses its buffers again.
      this.#pieces.push(Uint8Array.from(piece))
      this.#failure ??= this.#meter.gives(piece.length)
      if (this.#failure) throw this.#failure
    })
  }

  push(bytes: Uint8Array): Promise<readonly Uint8Array[]> {
    return this.#attempt(() => {
      this.#meter.takes(bytes.length)
      if (this.#head) {
        const head = Buffer.concat([this.#head, bytes])
        this.#head = head
        // Below this the library could not read the header either, and would only keep the bytes.
        if (head.length < ZSTD_LONGEST_HEADER) return
        this.#begin(head)
      } else this.#zstd.push(bytes, false)
    })
  }

  finish(): Promise<readonly Uint8Array[]> {
    return this.#attempt(() => {
      if (this.#head && this.#head.length > 0) this.#begin(this.#head)
    })
  }

  close(): void {}

  #begin(head: Uint8Array): void {
    if (zstdWindow(head) > this.#limits.maxBytes) throw new NotDecodable("asks for too large a zstd window")
    this.#head = undefined
    this.#zstd.push(head, false)
  }

  async #attempt(work: () => void): Promise<readonly Uint8Array[]> {
    try {
      work()
    } catch (error) {
      throw error instanceof NotDecodable ? error : new NotDecodable(`is not zstd: ${(error as Error).message}`)
    }
    const pieces = this.#pieces
    this.#pieces = []
    return pieces
  }
}

const ZSTD_LONGEST_HEADER = 18

/** The memory a zstd frame asks for (RFC 8878, 3.1.1.1): it is allocated before the first byte is unpacked. */
function zstdWindow(head: Uint8Array): number {
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength)
  if (head.length < 6 || view.getUint32(0, true) !== 0xfd2fb528) return 0
  const flags = head[4]!
  if ((flags & 0x20) === 0) {
    const base = 2 ** (10 + (head[5]! >> 3))
    return base + (base / 8) * (head[5]! & 7)
  }
  const at = 5 + [0, 1, 2, 4][flags & 3]!
  const sizeBytes = [1, 2, 4, 8][flags >> 6]!
  if (head.length < at + sizeBytes) return 0
  if (sizeBytes === 1) return head[at]!
  if (sizeBytes === 2) return view.getUint16(at, true) + 256
  return sizeBytes === 4 ? view.getUint32(at, true) : Number(view.getBigUint64(at, true))
}
