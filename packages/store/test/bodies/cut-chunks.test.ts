import { createHash } from "node:crypto"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { generatedSession } from "../../../../bench/sessions.mjs"
import { CUT_REACH_BYTES, CUT_WINDOW_BYTES, cutChunks, MAX_CHUNK_BYTES, nextCut } from "../../src/bodies/cut-chunks.js"
import { bodyOfPieces } from "./any-body.js"

describe("cutting", () => {
  test("[S-04] the chunks of any bytes cover them in order, none empty and none over 64 KiB", () => {
    fc.assert(
      fc.property(bodyOfPieces, (bytes) => {
        const ends = cutChunks(bytes)
        ends.forEach((end, index) => {
          const length = end - (ends[index - 1] ?? 0)
          expect(length).toBeGreaterThan(0)
          expect(length).toBeLessThanOrEqual(MAX_CHUNK_BYTES)
        })
        expect(ends.at(-1) ?? 0).toBe(bytes.length)
      }),
    )
  })

  test("a window that reaches far enough gives the cuts of the whole", () => {
    fc.assert(
      fc.property(bodyOfPieces, fc.nat(5000), (bytes, more) => {
        const ends: number[] = []
        for (let start = 0; start < bytes.length; ) {
          const window = bytes.subarray(start, start + CUT_WINDOW_BYTES + more)
          start += nextCut(window, 0, window.length)
          ends.push(start)
        }
        expect(ends).toEqual(cutChunks(bytes))
      }),
    )
  })

  test("bodies that begin alike are cut alike up to near where they part", () => {
    fc.assert(
      fc.property(bodyOfPieces, bodyOfPieces, bodyOfPieces, (start, one, other) => {
        const decided = (end: number) => end + CUT_REACH_BYTES <= start.length
        const cutsOfOne = cutChunks(Buffer.concat([start, one])).filter(decided)
        expect(cutChunks(Buffer.concat([start, other])).filter(decided)).toEqual(cutsOfOne)
      }),
    )
  })

  test("[S-02] a request with two more messages in its middle shares all but a few chunks with the one before", () => {
    for (const style of ["anthropic", "openai", "spaced"] as const) {
      const requests = generatedSession({ seed: 5, calls: 60, bytesPerCall: 1500, style }).filter(
        (_, index) => index % 4 === 0,
      )
      const known = new Set<string>()
      const fresh = requests.map((request) => newBytes(request, known))
      const added = requests.map((request, index) => request.length - (requests[index - 1]?.length ?? 0))
      const total = (numbers: number[]) => numbers.slice(1).reduce((sum, number) => sum + number, 0)
      expect(total(fresh)).toBeLessThan(3 * total(added))
    }
  })

  test("bodies are cut as they always were, so that new ones share chunks with old ones", () => {
    const session = generatedSession({ seed: 1, calls: 12, bytesPerCall: 6000, style: "anthropic" })
    const cuts = session.map((body) => cutChunks(body).join(" ")).join("\n")
    expect(createHash("sha256").update(cuts).digest("hex").slice(0, 16)).toBe("b4bda531b87878a9")
  })
})

function newBytes(body: Buffer, known: Set<string>): number {
  let fresh = 0
  let start = 0
  for (const end of cutChunks(body)) {
    const chunk = body.toString("latin1", start, end)
    if (!known.has(chunk)) fresh += end - start
    known.add(chunk)
    start = end
  }
  return fresh
}
