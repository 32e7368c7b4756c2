import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { generatedSession } from "../../../../bench/sessions.mjs"
import { bodyOfPieces, noise } from "./any-body.js"
import { openBodyStore, openBodyStoreForTest } from "./body-store.js"

/** A body, and what later bodies do to it: something in its middle is replaced. */
const edits = fc.array(fc.tuple(fc.nat(), fc.nat(3000), bodyOfPieces), { maxLength: 5 })

function editedBodies(first: Buffer, changes: readonly [number, number, Buffer][]): Buffer[] {
  const bodies = [first]
  for (const [where, removed, added] of changes) {
    const last = bodies.at(-1)!
    const at = where % (last.length + 1)
    bodies.push(Buffer.concat([last.subarray(0, at), added, last.subarray(at + removed)]))
  }
  return bodies
}

describe("bodies", () => {
  test("[S-01] any bodies, repeated and edited, read back byte for byte, before and after other blocks are written", () => {
    fc.assert(
      fc.property(bodyOfPieces, edits, fc.boolean(), (first, changes, inOneBatch) => {
        const store = openBodyStore({ blockBytes: 20_000, packBytes: 60_000 })
        try {
          const bodies = editedBodies(first, changes)
          const stored = [...bodies, ...bodies].map((body) => {
            const answer = store.writer.write(body)
            if (!inOneBatch) store.commit()
            return answer
          })
          store.commit()
          stored.forEach(({ recipe, hash, bytes }, index) => {
            const body = bodies[index % bodies.length]!
            expect(bytes).toBe(body.length)
            expect(store.reader.read(recipe, hash).bytes?.equals(body)).toBe(true)
          })
        } finally {
          store.remove()
        }
      }),
      { numRuns: 60 },
    )
  })

  test("a slice is the slice of the whole, wherever it begins and ends", () => {
    const store = openBodyStoreForTest({ blockBytes: 30_000 })
    const bodies = generatedSession({ seed: 2, calls: 60, bytesPerCall: 1200, style: "openai" })
    const stored = bodies.map((body) => store.writer.write(body))
    store.commit()
    fc.assert(
      fc.property(fc.nat(bodies.length - 1), fc.nat(150_000), fc.nat(150_000), (index, one, other) => {
        const [from, to] = one < other ? [one, other] : [other, one]
        const slice = store.reader.slice(stored[index]!.recipe, from, to)
        expect(slice.bytes?.equals(bodies[index]!.subarray(from, to))).toBe(true)
      }),
      { numRuns: 300 },
    )
  })

  test("a body in pieces is stored as the same body whole, however it is broken", () => {
    fc.assert(
      fc.property(
        bodyOfPieces,
        fc.array(fc.integer({ min: 1, max: 700_000 }), { minLength: 1, maxLength: 5 }),
        (some, steps) => {
          const body = Buffer.concat([some, noise(1, 600_000), some])
          const whole = openBodyStore()
          const broken = openBodyStore()
          try {
            const expected = whole.writer.write(body)
            expect(broken.writer.writePieces(brokenUp(body, steps))).toEqual(expected)
            expect(whole.writer.writePieces(brokenUp(body, steps))).toEqual(expected)
          } finally {
            whole.remove()
            broken.remove()
          }
        },
      ),
      { numRuns: 25 },
    )
  })

  test("what is remembered of recent bodies changes no recipe", () => {
    const remembering = openBodyStoreForTest()
    const forgetting = openBodyStoreForTest()
    const sessions = [1, 2, 3].map((seed) =>
      generatedSession({ seed, calls: 25, bytesPerCall: 2500, style: "anthropic" }),
    )
    const interleaved = sessions[0]!.flatMap((_, index) => sessions.map((session) => session[index]!))
    for (const body of interleaved) {
      forgetting.catalogue.generation++
      expect(remembering.writer.write(body).recipe).toEqual(forgetting.writer.write(body).recipe)
    }
  })

  test("a caller may reuse the buffer it handed over", () => {
    const store = openBodyStoreForTest()
    const buffer = noise(1, 50_000)
    const first = Buffer.from(buffer)
    const stored = store.writer.write(buffer)
    buffer.fill(7)
    const filled = store.writer.write(buffer)
    store.commit()
    expect(store.reader.read(stored.recipe, stored.hash).bytes?.equals(first)).toBe(true)
    expect(store.reader.read(filled.recipe, filled.hash).bytes?.equals(buffer)).toBe(true)
  })

  test("after a rollback nothing builds on chunks that were never committed", () => {
    const store = openBodyStoreForTest()
    const body = noise(3, 80_000)
    store.writer.write(body)
    store.writer.discard()
    store.packs.abandon()
    const stored = store.writer.write(body)
    store.commit()
    expect(store.reader.read(stored.recipe, stored.hash).bytes?.equals(body)).toBe(true)
  })

  test("an empty body has an empty recipe", () => {
    const store = openBodyStoreForTest()
    const stored = store.writer.write(Buffer.alloc(0))
    expect(stored.recipe).toHaveLength(0)
    expect(store.reader.read(stored.recipe, stored.hash).bytes).toHaveLength(0)
  })

  test("a body of another hash is a problem, not a body", () => {
    const store = openBodyStoreForTest()
    const one = store.writer.write(noise(1, 9000))
    const other = store.writer.write(noise(2, 9000))
    store.commit()
    expect(store.reader.read(one.recipe, other.hash).problem?.code).toBe("hash_mismatch")
  })
})

function* brokenUp(body: Buffer, steps: readonly number[]): Generator<Buffer> {
  for (let at = 0, turn = 0; at < body.length; turn++) {
    const step = steps[turn % steps.length]!
    yield body.subarray(at, at + step)
    at += step
  }
}
