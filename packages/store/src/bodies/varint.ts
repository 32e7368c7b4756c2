/** Unsigned LEB128, up to 2^53 − 1: seven bits a byte, the low ones first. */
export function pushVarint(bytes: number[], value: number): void {
  let rest = value
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) | 0x80)
    rest = Math.floor(rest / 0x80)
  }
  bytes.push(rest)
}

/** Signed numbers as unsigned ones, small magnitudes staying small. */
export function pushSignedVarint(bytes: number[], value: number): void {
  pushVarint(bytes, value >= 0 ? value * 2 : -value * 2 - 1)
}

/** Reads numbers one after the other; `undefined` where the bytes end inside a number or the number is too large. */
export class VarintReader {
  readonly #bytes: Uint8Array
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length
  }

  next(): number | undefined {
    let value = 0
    for (let scale = 1; this.#at < this.#bytes.length; scale *= 0x80) {
      const byte = this.#bytes[this.#at++]!
      value += (byte & 0x7f) * scale
      if (value > Number.MAX_SAFE_INTEGER) return undefined
      if (byte < 0x80) return value
    }
    return undefined
  }

  nextSigned(): number | undefined {
    const value = this.next()
    if (value === undefined) return undefined
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2
  }
}

/** The form of a block's chunk lengths in a row: about two bytes for each chunk. */
export function encodeLengths(lengths: readonly number[]): Buffer {
  const bytes: number[] = []
  for (const length of lengths) pushVarint(bytes, length)
  return Buffer.from(bytes)
}

/** The inverse of `encodeLengths`; a list cut short by damage ends early, and its missing chunks are then reported as unknown. */
export function decodeLengths(bytes: Uint8Array): number[] {
  const reader = new VarintReader(bytes)
  const lengths: number[] = []
  for (let length = reader.next(); length !== undefined; length = reader.next()) lengths.push(length)
  return lengths
}
