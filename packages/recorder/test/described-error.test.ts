import fc from "fast-check"
import { expect, test } from "vitest"
import { describeError } from "../src/described-error.js"
import { recordInMemory } from "./recording.js"

test("[R-16] an error with its causes, and the errors an error holds with theirs", () => {
  const inner = new TypeError("inner", { cause: "a text" })
  const outer = new AggregateError([inner, new Error("other")], "several", { cause: inner })
  const { errorClass, summary, chain } = describeError(outer)
  expect({ errorClass, summary }).toEqual({ errorClass: "AggregateError", summary: "several" })
  expect(chain).toMatchObject([
    { message: "several", errors: [[{ message: "inner" }, { message: "a text" }], [{ message: "other" }]] },
  ])
  expect(chain[0]!.stack).toContain("described-error.test.ts")
})

test("[R-16] errors that hold themselves, thousands of others or endless causes end", () => {
  const circle = new AggregateError([], "circle") as AggregateError & { cause?: unknown }
  circle.errors.push(circle, new Error("other", { cause: circle }))
  circle.cause = circle
  expect(describeError(circle).chain).toMatchObject([{ errors: [[{ message: "other" }]] }])
  const many = new AggregateError(
    Array.from({ length: 5000 }, (_, i) => new Error(`error ${i}`)),
    "many",
  )
  const [told] = describeError(many).chain
  expect(told!.errors!.length + told!.more!).toBe(5000)
  let long: Error = new Error("innermost")
  for (let i = 0; i < 100; i++) long = new Error(`cause ${i}`, { cause: long })
  expect(describeError(long).chain.at(-1)!.more).toBe(1)
})

test("[R-16] whatever is thrown is described, and no text in it is longer than it may be", () => {
  const trap = {
    get: () => {
      throw new Error("hands off")
    },
    ownKeys: () => {
      throw new Error("hands off")
    },
  }
  const anything = fc.oneof(
    fc.anything({ withNullPrototype: true, withBigInt: true, withSparseArray: true }),
    fc.string({ minLength: 0, maxLength: 200_000, size: "max" }),
    fc.anything().map((value) => new Proxy(typeof value === "object" && value !== null ? value : {}, trap)),
    fc.record({
      message: fc.anything(),
      stack: fc.anything(),
      cause: fc.anything(),
      errors: fc.array(fc.anything()),
      name: fc.anything(),
    }),
  )
  fc.assert(
    fc.property(anything, (thrown) => {
      const { chain, summary } = describeError(thrown)
      expect(summary.length).toBeLessThanOrEqual(512)
      expect(JSON.stringify(chain).length).toBeLessThan(64 * 2 * 6 * 70_000)
      for (const { message, stack } of chain) {
        expect(message.length).toBeLessThanOrEqual(65_536)
        expect(stack?.length ?? 0).toBeLessThanOrEqual(65_537)
      }
    }),
    { numRuns: 200 },
  )
})

test("[R-16] a tool, a model or a retriever that throws undefined has failed", async () => {
  const { recorder, only } = recordInMemory()
  const run = recorder.startRun({ entrypoint: "x" })
  const nothing = () => Promise.reject(undefined)
  await expect(run.tool({ name: "t", args: {} }, nothing)).rejects.toBeUndefined()
  await expect(run.model({ provider: "p", model: "m", request: {} }, nothing)).rejects.toBeUndefined()
  await expect(run.retrieval({ retriever: "r", query: "q" }, nothing)).rejects.toBeUndefined()
  expect(only("tool_result").payload).toMatchObject({
    status: "error",
    error_class: "NonError",
    error_summary: "undefined",
  })
  expect(only("model_result").payload).toMatchObject({ status: "error", error_class: "NonError" })
  expect(only("step_ended").payload).toMatchObject({ status: "error", error_class: "NonError" })
  run.complete()
})
