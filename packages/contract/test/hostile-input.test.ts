import {
  definitionOf,
  EVENT_TYPES,
  type Event,
  payloadRefs,
  readEvent,
  validate,
  validatePayload,
  validateRun,
} from "@orangebox/contract"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { eventSchema } from "../definitions/catalog.js"
import { eventNode } from "../src/catalog.js"
import { quickCheck } from "../src/schema/quick-check.js"
import { Schema } from "../src/schema/schema.js"
import { HASH, samples, step } from "./run-of.js"

const traps = ["get", "has", "ownKeys", "getOwnPropertyDescriptor", "getPrototypeOf"] as const
const thrown: readonly unknown[] = [
  new Error("trap"),
  null,
  Object.create(null),
  {
    toString() {
      throw new Error("no text either")
    },
  },
]

/** Makes the value when called: fast-check looks into what it generates, and these objects fight back when they are looked at. */
type Maker = () => unknown

const trapped = fc.tuple(fc.constantFrom(...traps), fc.constantFrom(0, 1, 2, 3)).map(
  ([trap, which]): Maker =>
    () =>
      new Proxy({}, { [trap]: () => raise(thrown[which]) }),
)
const getter = fc.tuple(fc.string(), fc.constantFrom(0, 1, 2, 3)).map(
  ([name, which]): Maker =>
    () =>
      Object.defineProperty({}, name, { enumerable: true, get: () => raise(thrown[which]) }),
)
const cyclic = fc.string().map(
  (name): Maker =>
    () => {
      const value: Record<string, unknown> = {}
      value[name] = [value]
      return value
    },
)
const revoked = fc.constant((): unknown => {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
})
const plain = fc
  .anything({ withBigInt: true, withDate: true, withMap: true, withSparseArray: true, withNullPrototype: true })
  .map(
    (value): Maker =>
      () =>
        value,
  )
const anything = fc.oneof(plain, trapped, getter, cyclic, revoked)

function raise(error: unknown): never {
  throw error
}

/** A valid event with one place spoilt, so that the checks are reached that plain noise never gets to. */
const spoilt = fc.tuple(fc.constantFrom(...samples.keys()), fc.nat(), anything, fc.boolean()).map(
  ([type, at, make, inPayload]): Maker =>
    () => {
      const event = samples.get(type)!
      const target: Record<string, unknown> = inPayload ? { ...event.payload } : { ...event }
      const keys = Object.keys(target)
      target[keys[at % Math.max(1, keys.length)] ?? "x"] = make()
      return inPayload ? { ...event, payload: target } : target
    },
)

describe("[C-02] nothing is ever thrown", () => {
  test("[C-02] whatever is validated or read, the answer is a list of problems", () => {
    fc.assert(
      fc.property(fc.oneof(anything, spoilt), fc.constantFrom(...EVENT_TYPES), (make, type) => {
        const input = make()
        expect(Array.isArray(validate(input))).toBe(true)
        expect(Array.isArray(readEvent(input).problems)).toBe(true)
        expect(Array.isArray(validatePayload(type, input))).toBe(true)
      }),
      { numRuns: 3000 },
    )
  })

  test("[C-02] whatever stands in a run, the answer is a list of problems", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(spoilt, anything), { maxLength: 6 }), (makers) => {
        const events = makers.map((make) => make())
        expect(Array.isArray(validateRun(events as Event[], { hasBody: () => false }))).toBe(true)
      }),
      { numRuns: 1000 },
    )
  })

  test("[C-02] a record that is no event has at least one problem, and every problem is complete", () => {
    fc.assert(
      fc.property(fc.anything(), (input) => {
        const problems = validate(input)
        expect(problems.length).toBeGreaterThan(0)
        for (const { code, subject, reason } of problems)
          for (const text of [code, subject, reason]) expect(text).not.toBe("")
      }),
    )
  })

  test("[C-02] a spoilt event never loses its name in the problem", () => {
    const event = samples.get("tool_called")!
    const payload = {
      ...event.payload,
      args_ref: new Proxy(
        {},
        {
          get: () => {
            throw new Error("trap")
          },
        },
      ),
    }
    expect(validate({ ...event, payload })[0]).toMatchObject({ subject: event.event_id })
  })
})

// The first problem of each place: of a list where a text should be, zod also says that it is too short for one.
const told = ({
  error,
}: {
  error?: { issues: readonly { path: readonly PropertyKey[]; message: string }[] } | undefined
}): unknown => {
  const first = new Map<string, string>()
  for (const { path, message } of error?.issues ?? []) {
    const place = path.map(String).join(".")
    if (!first.has(place)) first.set(place, message)
  }
  return first
}

describe("[C-02] what ships and the zod definition are one definition", () => {
  const value = fc.oneof(
    fc.constantFrom<unknown>(
      null,
      undefined,
      "",
      "x",
      HASH,
      step(1),
      0,
      -1,
      1.5,
      2 ** 60,
      Number.NaN,
      true,
      [],
      {},
      ["x"],
      [HASH],
      "x".repeat(9000),
      "success",
      "error",
    ),
    fc.anything(),
  )
  test.each(EVENT_TYPES)(
    "[C-02] for %s what ships finds the same problems in the same words as zod, and the quick check accepts the same JSON",
    (type) => {
      for (const edition of ["first", "current", "newer"] as const) {
        if (edition === "first" && definitionOf(type).since !== "1.0") continue
        const schema = eventSchema(type, edition)
        const node = eventNode(type, edition)
        const isFine = quickCheck(node)
        const shipped = new Schema(node)
        const sample = samples.get(type)!
        expect(isFine(sample)).toBe(edition !== "first")
        fc.assert(
          fc.property(fc.nat(), value, fc.boolean(), fc.boolean(), (at, changed, inPayload, isMissing) => {
            const target: Record<string, unknown> = inPayload ? { ...sample.payload } : { ...sample }
            const names = [...Object.keys(inPayload ? shapeOf(type) : target), "unheard_of"]
            const name = names[at % names.length]!
            if (isMissing) delete target[name]
            else target[name] = changed
            const event = inPayload ? { ...sample, payload: target } : target
            const zodReading = schema.safeParse(event)
            if (isFine(event)) expect(zodReading.success).toBe(true)
            expect(told(shipped.safeParse(event))).toEqual(told(zodReading))
            const json: unknown = JSON.parse(
              JSON.stringify(event, (_, member: unknown) => (typeof member === "bigint" ? 0 : member)),
            )
            expect(isFine(json)).toBe(schema.safeParse(json).success)
          }),
          { numRuns: 100 },
        )
      }
    },
  )

  const shapeOf = (type: (typeof EVENT_TYPES)[number]): object =>
    (definitionOf(type).payload as unknown as { shape: object }).shape
})

test("[C-05] refs are found whatever the payload is", () => {
  for (const payload of [null, 1, "x", [], { segments: [null, 1, { content_ref: 3 }] }, { segments: "no" }]) {
    expect(payloadRefs("prompt_assembled", payload)).toEqual([])
  }
})
