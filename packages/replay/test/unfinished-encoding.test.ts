import { constants, createBrotliDecompress, createGunzip, createInflate } from "node:zlib"
import { Decompress } from "fzstd"
import { describe, expect, test } from "vitest"
import { unfinished } from "../src/stream/unfinished-encoding.js"

const PIECES = [Buffer.from("event: a\n\n"), Buffer.alloc(200_000, "né"), Buffer.from("…")]

const encoded = (encodings: readonly string[], pieces: readonly Uint8Array[]): Buffer => {
  const plan = { pieces: pieces.map((bytes) => ({ atMs: 0, bytes })), end: { how: "reset", atMs: 0 } } as const
  return Buffer.concat(unfinished(plan, encodings).pieces.map(({ bytes }) => bytes))
}

/** What a client gets out of the bytes, and what it says when they end. */
function decoded(
  stream: ReturnType<typeof createGunzip>,
  bytes: Buffer,
): Promise<readonly [bytes: Buffer, word: string]> {
  const found: Buffer[] = []
  return new Promise((resolve) => {
    const over = (word: string): void => resolve([Buffer.concat(found), word])
    stream.on("data", (piece: Buffer) => found.push(piece))
    stream.on("end", () => over("ended"))
    stream.on("error", (error) => over(error.message))
    stream.write(bytes)
    stream.end()
  })
}

describe("[P-11] an answer that ended inside of its encoding is encoded again, and has no end", () => {
  const flush = { flush: constants.Z_SYNC_FLUSH }
  test.each([
    ["gzip", () => createGunzip(flush)],
    ["deflate", () => createInflate(flush)],
    ["br", () => createBrotliDecompress({ flush: constants.BROTLI_OPERATION_FLUSH })],
  ] as const)("%s", async (encoding, open) => {
    for (const pieces of [PIECES, []]) {
      const [bytes, word] = await decoded(open(), encoded([encoding], pieces))
      expect([bytes.equals(Buffer.concat(pieces)), word]).toEqual([true, "unexpected end of file"])
    }
  })

  test("zstd", () => {
    const found: Uint8Array[] = []
    const stream = new Decompress((piece, isLast) => {
      expect(isLast).toBe(false)
      found.push(Uint8Array.from(piece))
    })
    stream.push(encoded(["zstd"], PIECES), false)
    expect(Buffer.concat(found).equals(Buffer.concat(PIECES))).toBe(true)
  })

  test("one in another", async () => {
    const [inner] = await decoded(createGunzip(flush), encoded(["br", "gzip"], PIECES))
    const [bytes, word] = await decoded(createBrotliDecompress({ flush: constants.BROTLI_OPERATION_FLUSH }), inner)
    expect([bytes.equals(Buffer.concat(PIECES)), word]).toEqual([true, "unexpected end of file"])
  })
})
