import type { EmissionPlan } from "./emission-plan.js"

/**
 * An answer that ended inside of its content encoding, encoded again and left unfinished: its client decodes the bytes it decoded then, and
 * misses the end as it did then. The bytes of the wire are not kept, so they stand in stored blocks, which every format has.
 */
export function unfinished(plan: EmissionPlan, encodings: readonly string[]): EmissionPlan {
  if (encodings.length === 0) return plan
  let { pieces } = plan
  for (const name of encodings) {
    const format = FORMATS[name]
    if (format === undefined) return plan
    const { longest, begin, header } = format
    // One that broke off before anything could be decoded had begun all the same.
    if (pieces.length === 0) pieces = [{ atMs: plan.end.atMs, bytes: new Uint8Array(0) }]
    pieces = pieces.map(({ atMs, bytes }, index) => {
      const blocks: Uint8Array[] = index === 0 ? [Uint8Array.from(begin)] : []
      for (let from = 0; from < bytes.length; from += longest) {
        const block = bytes.subarray(from, from + longest)
        blocks.push(Uint8Array.from(header(block.length)), block)
      }
      return { atMs, bytes: Buffer.concat(blocks) }
    })
  }
  const { how, atMs } = plan.end
  return { pieces, end: { how, atMs: how === "reset" ? atMs + DECODING_MS : atMs } }
}

/** Clients decode beside their reading, and one that hears of the broken connection first loses what it had not decoded yet. */
const DECODING_MS = 20

interface StoredBlocks {
  /** The most that one block holds. */
  readonly longest: number
  readonly begin: readonly number[]
  header(byteSize: number): readonly number[]
}

const bytesOf = (value: number): readonly number[] => [value & 255, (value >> 8) & 255, (value >> 16) & 255]

/** RFC 1951, 3.2.4. */
const deflated = (begin: readonly number[]): StoredBlocks => ({
  longest: 65_535,
  begin,
  header: (size) => [0, size & 255, size >> 8, ~size & 255, (~size >> 8) & 255],
})

const GZIP = deflated([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255])

const FORMATS: { readonly [encoding: string]: StoredBlocks } = {
  gzip: GZIP,
  "x-gzip": GZIP,
  deflate: deflated([0x78, 1]),
  // RFC 7932, 9: a window of 64 KiB and an empty block of metadata, behind which the next begins at a byte; then uncompressed blocks.
  br: { longest: 65_536, begin: [0x0c], header: (size) => bytesOf(((size - 1) << 3) | (1 << 19)) },
  // RFC 8878, 3.1.1: a frame with a window of 128 KiB, and raw blocks.
  zstd: { longest: 131_072, begin: [0x28, 0xb5, 0x2f, 0xfd, 0, 0x38], header: (size) => bytesOf(size << 3) },
}
