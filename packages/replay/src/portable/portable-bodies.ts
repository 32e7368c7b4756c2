import { bodyHash } from "@orangebox/contract"
import { type PortableFile, unpackAtOnce } from "./portable-file.js"

export interface BodyPlace {
  readonly at: number
  readonly length: number
  readonly isPacked: boolean
  readonly byteSize: number
}

/** The bodies of an exported file. They stay in the file, and each is read when it is asked for. */
export class PortableBodies implements Iterable<[string, Uint8Array]> {
  readonly #file: PortableFile
  readonly #places = new Map<string, BodyPlace>()

  constructor(file: PortableFile) {
    this.#file = file
  }

  get size(): number {
    return this.#places.size
  }

  add(hash: string, place: BodyPlace): void {
    this.#places.set(hash, place)
  }

  has(hash: string): boolean {
    return this.#places.has(hash)
  }

  keys(): Iterable<string> {
    return this.#places.keys()
  }

  /** Undefined also where the file has changed since it was looked through: what does not hash to its name is never served. */
  get(hash: string): Uint8Array | undefined {
    const place = this.#places.get(hash)
    if (place === undefined) return undefined
    const bytes = this.#read(place)
    return bytes !== undefined && bodyHash(bytes) === hash ? bytes : undefined
  }

  *[Symbol.iterator](): Generator<[string, Uint8Array], void> {
    for (const hash of this.#places.keys()) {
      const bytes = this.get(hash)
      if (bytes !== undefined) yield [hash, bytes]
    }
  }

  #read({ at, length, isPacked, byteSize }: BodyPlace): Uint8Array | undefined {
    try {
      if (isPacked) return unpackAtOnce(this.#file, { at, length, room: byteSize })
      return Uint8Array.from(this.#file.read(at, length))
    } catch {
      return undefined
    }
  }
}
