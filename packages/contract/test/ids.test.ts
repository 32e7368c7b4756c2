import { bodyHash, incrementalBodyHash, RunId, randomIds, textHash } from "@orangebox/contract"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { BodyId, EventId, StepId, TraceId } from "../src/generated.js"
import { derivedEventId } from "../src/ids.js"

const ids = randomIds()
const time = fc.integer({ min: 0, max: 2 ** 48 - 1 })

describe("[C-08] ids", () => {
  test("[C-08] have the published forms", () => {
    fc.assert(
      fc.property(fc.oneof(time, fc.double()), (atMs) => {
        expect(ids.run(atMs)).toMatch(/^run_[0-9A-HJKMNP-TV-Z]{26}$/)
        expect(ids.trace()).toMatch(/^[0-9a-f]{32}$/)
        expect(ids.step()).toMatch(/^[0-9a-f]{16}$/)
        expect(ids.event(atMs)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
      }),
    )
  })

  test("[C-08] pass their own schemas, and others do not", () => {
    expect(RunId.safeParse(ids.run(1)).success).toBe(true)
    expect(TraceId.safeParse(ids.trace()).success).toBe(true)
    expect(StepId.safeParse(ids.step()).success).toBe(true)
    expect(EventId.safeParse(ids.event(1)).success).toBe(true)
    expect(BodyId.safeParse(textHash("")).success).toBe(true)
    for (const [schema, bad] of [
      [RunId, "run_01JT9QK2M4Z8C6V0X3B7N5R1WI"],
      [RunId, `${ids.run(1)}\n`],
      [TraceId, "0".repeat(32)],
      [TraceId, "A".repeat(32)],
      [StepId, "0".repeat(16)],
      [StepId, "1".repeat(15)],
      [EventId, "019570a1-0000-4000-8000-000000000000"],
      [EventId, "019570a1-0000-7000-c000-000000000000"],
      [BodyId, `sha256:${"a".repeat(63)}`],
      [BodyId, `sha256:${"a".repeat(63)}\n`],
      [BodyId, `sha256:${"A".repeat(64)}`],
      [BodyId, `sha512:${"a".repeat(64)}`],
    ] as const) {
      expect(schema.safeParse(bad).success, bad).toBe(false)
    }
  })

  test("[C-08] run ids and event ids sort by time", () => {
    fc.assert(
      fc.property(time, time, (one, other) => {
        fc.pre(one !== other)
        const [early, late] = one < other ? [one, other] : [other, one]
        expect(ids.run(early) < ids.run(late)).toBe(true)
        expect(ids.event(early) < ids.event(late)).toBe(true)
      }),
    )
  })

  test("[C-08] an event id carries its time", () => {
    const id = ids.event(Date.UTC(2026, 2, 14))
    expect(Number.parseInt(id.replaceAll("-", "").slice(0, 12), 16)).toBe(Date.UTC(2026, 2, 14))
  })

  test("[C-08] a hundred thousand of each in one millisecond are all different", () => {
    for (const make of [() => ids.run(5), () => ids.trace(), () => ids.step(), () => ids.event(5)]) {
      expect(new Set(Array.from({ length: 100_000 }, make)).size).toBe(100_000)
    }
  })

  test("[C-08] a derived event id is a UUIDv7 and always the same", () => {
    expect(derivedEventId(1_700_000_000_000, "a")).toBe(derivedEventId(1_700_000_000_000, "a"))
    fc.assert(fc.property(time, fc.string(), (atMs, name) => EventId.safeParse(derivedEventId(atMs, name)).success))
  })

  test("[C-08] a body's id is the SHA-256 of its bytes, in one piece or in many", () => {
    expect(textHash("abc")).toBe("sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    fc.assert(
      fc.property(fc.array(fc.uint8Array()), (pieces) => {
        const running = incrementalBodyHash()
        for (const piece of pieces) running.update(piece)
        expect(running.digest()).toBe(bodyHash(Buffer.concat(pieces)))
      }),
    )
  })
})
