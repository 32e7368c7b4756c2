import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import { brotliDecompressSync, createBrotliDecompress } from "node:zlib"

/** Where the bytes of an exported file are. A `Uint8Array` is one; a file on disk is another, which is never held whole. */
export interface PortableFile {
  readonly byteLength: number
  /** As many bytes as there are from `at` on, at most `length`. */
  read(at: number, length: number): Uint8Array
}

export function portableFile(file: Uint8Array | PortableFile): PortableFile {
  return file instanceof Uint8Array
    ? { byteLength: file.byteLength, read: (at, length) => file.subarray(at, at + length) }
    : file
}

const PIECE_BYTES = 2 ** 20

/** Reads ahead, so that a thousand small sections are a few reads. */
export class ReadAhead {
  readonly #file: PortableFile
  #at = 0
  #bytes: Buffer = Buffer.alloc(0)

  constructor(file: PortableFile) {
    this.#file = file
  }

  /** The bytes from `at` on, at most so many as are read at once. */
  bytesAt(at: number, length: number): Buffer {
    const wanted = Math.min(length, PIECE_BYTES, Math.max(0, this.#file.byteLength - at))
    if (at < this.#at || at + wanted > this.#at + this.#bytes.length) {
      const { buffer, byteOffset, byteLength } = this.#file.read(at, PIECE_BYTES)
      this.#at = at
      this.#bytes = Buffer.from(buffer, byteOffset, byteLength)
    }
    return this.#bytes.subarray(at - this.#at, at - this.#at + wanted)
  }

  *pieces(at: number, length: number): Generator<Buffer, void> {
    for (let done = 0; done < length; ) {
      const piece = this.bytesAt(at + done, length - done)
      if (piece.length === 0) return
      yield piece
      done += piece.length
    }
  }
}

export class TooLargeError extends Error {}

/** So little is unpacked at once; more goes through in pieces, of which none is kept. */
const AT_ONCE_BYTES = 2 ** 20

/** What is packed in a stretch of the file. Throws `TooLargeError` as soon as it is more than there is room for. */
export async function* unpacked(
  file: PortableFile,
  ahead: ReadAhead,
  place: { readonly at: number; readonly length: number; readonly room: number },
): AsyncGenerator<Uint8Array, void> {
  const { at, length, room } = place
  if (length <= AT_ONCE_BYTES && room <= AT_ONCE_BYTES) {
    yield unpackAtOnce(file, place)
    return
  }
  const brotli = createBrotliDecompress({ chunkSize: 256 * 1024 })
  const done = pipeline(Readable.from(ahead.pieces(at, length)), brotli)
  done.catch(() => {
    // The loop below meets it.
  })
  let bytes = 0
  for await (const piece of brotli as AsyncIterable<Buffer>) {
    bytes += piece.length
    if (bytes > room) throw new TooLargeError()
    yield piece
  }
  await done
}

export function unpackAtOnce(
  file: PortableFile,
  { at, length, room }: { readonly at: number; readonly length: number; readonly room: number },
): Uint8Array {
  try {
    // One byte more than there is room for, because a limit of nothing is none to zlib.
    const bytes = brotliDecompressSync(file.read(at, length), { maxOutputLength: room + 1 })
    if (bytes.length <= room) return bytes
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_BUFFER_TOO_LARGE") throw error
  }
  throw new TooLargeError()
}
