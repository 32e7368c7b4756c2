import { pushVarint, VarintReader } from "./varint.js"

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
