import { closeSync, fstatSync, readSync } from "node:fs"
import { openPrivateFile } from "@orangebox/journal"
import { errnoOf, isOutOfDescriptors } from "./unreadable-file.js"

/** Up to here a body is read at once; above, in pieces while it is being committed, so that no body is ever held whole. */
const AT_ONCE_BYTES = 256 * 1024
const PIECE_BYTES = 256 * 1024

/** The file beside a journal that holds its larger bodies. Opened when the first of them is asked for. */
export class Sidecar {
  readonly #path: string
  #fd: number | undefined

  constructor(path: string) {
    this.#path = path
  }

  /** Undefined when the bytes are not there. Throws only when the file cannot be looked at for want of descriptors. */
  bytesAt(offset: number, byteSize: number): Uint8Array | Iterable<Uint8Array> | undefined {
    const fd = this.#open()
    if (fd === undefined || fstatSync(fd).size < offset + byteSize) return undefined
    if (byteSize > AT_ONCE_BYTES) {
      // Read by a descriptor of its own, as often as the store asks: this one may be closed by then.
      const path = this.#path
      return { [Symbol.iterator]: () => readPieces(path, offset, byteSize) }
    }
    const bytes = Buffer.allocUnsafe(byteSize)
    return readFully(fd, bytes, offset) === byteSize ? bytes : undefined
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd)
    this.#fd = undefined
  }

  #open(): number | undefined {
    try {
      this.#fd ??= openPrivateFile(this.#path, "read")
      return this.#fd
    } catch (error) {
      if (isOutOfDescriptors(errnoOf(error))) throw error
      return undefined
    }
  }
}

/** Ends early where the bytes end: the store notices by the hash and says so. */
function* readPieces(path: string, offset: number, byteSize: number): Generator<Uint8Array, void> {
  const fd = openPrivateFile(path, "read")
  try {
    for (let done = 0; done < byteSize; ) {
      const piece = Buffer.allocUnsafeSlow(Math.min(PIECE_BYTES, byteSize - done))
      const read = readFully(fd, piece, offset + done)
      if (read === 0) return
      yield piece.subarray(0, read)
      done += read
    }
  } finally {
    closeSync(fd)
  }
}

function readFully(fd: number, bytes: Buffer, offset: number): number {
  let done = 0
  while (done < bytes.length) {
    const read = readSync(fd, bytes, done, bytes.length - done, offset + done)
    if (read === 0) break
    done += read
  }
  return done
}
