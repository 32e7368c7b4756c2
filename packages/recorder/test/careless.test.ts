import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { bytesOf } from "../src/captured-body.js"
import { flatJson } from "../src/event-record.js"
import { safeStringify } from "../src/safe-stringify.js"
import { recordInMemory } from "./recording.js"

const anything = fc.anything({
  withBigInt: true,
  withBoxedValues: true,
  withDate: true,
  withMap: true,
  withNullPrototype: true,
  withObjectString: true,
  withSet: true,
  withSparseArray: true,
  withTypedArray: true,
  withUnicodeString: true,
})

const cyclic = (): object => {
  const value: Record<string, unknown> = { name: "loop" }
  value["self"] = [value]
  return value
}
const deep = (depth: number): unknown => {
  let value: unknown = "bottom"
  for (let i = 0; i < depth; i++) value = i % 2 === 0 ? [value] : { value }
  return value
}
const throwing = {
  get trap(): never {
    throw new Error("getter")
  },
}
const hostileProxy = new Proxy(
  {},
  {
    get: () => {
      throw new Error("get")
    },
    ownKeys: () => {
      throw new Error("ownKeys")
    },
    getPrototypeOf: () => {
      throw new Error("getPrototypeOf")
    },
    has: () => {
      throw new Error("has")
    },
  },
)
const revoked = (() => {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
})()

const CARELESS: Record<string, unknown> = {
  "a cycle": cyclic(),
  "a getter that throws": throwing,
  "a bigint": 12345678901234567890n,
  "a proxy that refuses everything": hostileProxy,
  "a revoked proxy": revoked,
  "a lone surrogate": "\ud800 and \udfff",
  "a million levels": deep(1_000_000),
  "a sparse array of four billion": Object.assign([], { length: 2 ** 32 - 1 }),
  "toJSON that throws": {
    toJSON() {
      throw new Error("toJSON")
    },
  },
  "a symbol": Symbol("s"),
  "a function": () => 1,
  "not a number": Number.NaN,
  "text of every control character": String.fromCharCode(...Array(32).keys()),
  undefined: undefined,
  null: null,
}

describe("careless callers", () => {
  for (const [name, value] of Object.entries(CARELESS)) {
    test(`${name} anywhere in any call is recorded as valid JSON and never thrown back`, async () => {
      const { recorder, sink } = recordInMemory()
      const any = value as never
      const run = recorder.startRun({
        entrypoint: any,
        input: any,
        conversationId: any,
        attributes: any,
        requestId: any,
      })
      run.log.info(any, any)
      run.log.error("e", { err: any, other: any })
      run.log.child({ attributes: any }).warn("w", any)
      const step = run.step(any, any, { body: any, kind: any })
      step.setAttributes(any)
      step.addLink({ stepId: any, runId: any }, any)
      // Awaiting a hostile proxy throws by itself; what matters is that the recorder adds nothing to it.
      const returns = async () => any
      await step.tool({ name: any, args: any, callId: any, version: any }, returns).catch(() => {})
      await step.tool({ name: "t", args: any, describe: () => any }, () => "fine")
      await step.model({ provider: any, model: any, request: any, describe: () => any }, returns).catch(() => {})
      step.startTool({ name: "t", args: any }).endTool({ result: any, err: any, status: any })
      await step.model({ provider: "p", model: "m", request: any }, () => Promise.reject(any)).catch(() => {})
      step.finalOutput({ value: any, citations: any, channel: any })
      step.promptRendered({ prompt: any, variables: any, system: any, templateId: any })
      step.repair({ kind: any, before: any, after: any })
      step.emit("log", any)
      step.end({ err: any, attributes: any, body: any })
      run.fail(any)
      for (const record of sink.records) {
        const parsed = JSON.parse(record.json) as { event_type: string }
        expect(parsed.event_type).toBe(record.content.type)
        expect(record.json).not.toContain("\n")
      }
    })
  }

  test("any value at all, in the places a program passes values through, is recorded without throwing", async () => {
    await fc.assert(
      fc.asyncProperty(anything, async (value) => {
        const { recorder, sink } = recordInMemory()
        const run = recorder.startRun({ entrypoint: "x", input: value })
        run.log.info("m", value as never)
        await run.tool({ name: "t", args: value }, () => value)
        run.complete({ output: value })
        for (const record of sink.records) JSON.parse(record.json)
        expect(sink.events.at(-1)!.event_type).toBe("run_completed")
      }),
      { numRuns: 300 },
    )
  })

  test("[C-09] a million attributes cost linear time, and the ones left out are counted", () => {
    const { recorder, only } = recordInMemory()
    const many = Object.fromEntries(Array.from({ length: 1_000_000 }, (_, i) => [`a${i}`, i]))
    recorder.startRun({ entrypoint: "x" }).log.info("many", many)
    const event = only("log")
    expect(Object.keys(event.attributes!)).toHaveLength(128)
    expect(event.attributes_dropped).toBe(1_000_000 - 128)
  })

  test("an event that breaks the contract is written with its problems, or thrown when strict", () => {
    const { recorder, sink } = recordInMemory()
    recorder.startRun({ entrypoint: "" }).emit("log", { level: "loud", message: 5, extra: cyclic() } as never)
    expect(
      sink.events
        .at(-1)!
        .problems!.map((problem) => problem.field)
        .sort(),
    ).toEqual(["payload.extra", "payload.level", "payload.message"])
    expect(() => recordInMemory({ strict: true }).recorder.startRun({ entrypoint: "" })).toThrow(/entrypoint_name/)
  })

  test("JSON values survive safeStringify exactly", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.parse(safeStringify(value))).toEqual(JSON.parse(JSON.stringify(value)))
      }),
    )
  })

  test("bytes, well-formed text and lone surrogates come back from a body as they were", () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.string({ unit: "binary" }), (bytes, text) => {
        expect(Buffer.from(bytesOf(bytes).bytes).equals(bytes)).toBe(true)
        const body = bytesOf(text)
        const stored = Buffer.from(body.bytes).toString("utf8")
        expect(body.mimeType === "application/json" ? JSON.parse(stored) : stored).toBe(text)
      }),
    )
    expect(JSON.parse(Buffer.from(bytesOf("\ud800").bytes).toString())).toBe("\ud800")
  })
})

describe("flat JSON", () => {
  test("agrees with JSON.stringify for every flat object, and declines all others", () => {
    const scalar = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.integer(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.boolean(),
      fc.constant(null),
    )
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: "binary" }), scalar), (record) => {
        expect(JSON.parse(flatJson(record)!)).toEqual(JSON.parse(JSON.stringify(record)))
      }),
    )
    expect(flatJson({ a: [] })).toBeUndefined()
    expect(flatJson({ a: 1n })).toBeUndefined()
  })
})
