import { toolSignatureOfText } from "@orangebox/dialects"
import { describe, expect, expectTypeOf, test } from "vitest"
import { Recorder, wrapTools } from "../../src/index.js"
import { contractProblems, recordInMemory } from "../recording.js"

describe("wrapTools", () => {
  test("[K-05] functions and objects keep their types, properties, this and results, and every call is a tool step", async () => {
    const { recorder, sink, eventsOf } = recordInMemory({ strict: true })
    const run = recorder.startRun({ entrypoint: "agent" })
    class Counter {
      #count = 0
      readonly description = "counts"
      execute(by: number): number {
        this.#count += by
        return this.#count
      }
      get count(): number {
        return this.#count
      }
    }
    const add = Object.assign((a: number, b: number) => a + b, { schema: { type: "object" } })
    const promise = Promise.resolve("text")
    const tools = {
      base: 10,
      add,
      read: (_input: { path: string }) => promise,
      counter: new Counter(),
      frozen: Object.freeze({
        title: "Frozen",
        execute: async (_input: unknown, _options: { toolCallId: string }) => "iced",
      }),
      addBase(this: { base: number }, n: number): number {
        return this.base + n
      },
      noCode: { description: "runs elsewhere" },
    }
    const wrapped = wrapTools(tools, run)
    expectTypeOf(wrapped).toEqualTypeOf(tools)
    expect(wrapped.add(1, 2)).toBe(3)
    expect([wrapped.add.schema, wrapped.add.name, wrapped.add.length]).toEqual([{ type: "object" }, add.name, 2])
    expect(wrapped.read({ path: "a.ts" })).toBe(promise)
    await promise
    expect([wrapped.counter.execute(2), wrapped.counter.execute(3)]).toEqual([2, 5])
    expect([wrapped.counter.description, wrapped.counter instanceof Counter]).toEqual(["counts", true])
    expect(await wrapped.frozen.execute({}, { toolCallId: "toolu_9" })).toBe("iced")
    expect(wrapped.frozen.title).toBe("Frozen")
    expect([wrapped.addBase(1), wrapped.addBase.call({ base: 5 }, 1)]).toEqual([11, 6])
    expect(wrapped.noCode).toBe(tools.noCode)
    run.complete()

    const called = eventsOf("tool_called").map(({ payload }) => payload)
    expect(called.map(({ tool_name }) => tool_name)).toEqual([
      "add",
      "read",
      "counter",
      "counter",
      "frozen",
      "addBase",
      "addBase",
    ])
    expect(sink.textOf(called[0]!.args_ref)).toBe("[1,2]")
    expect(called[1]!.call_signature_hash).toBe(toolSignatureOfText("read", '{"path":"a.ts"}'))
    expect(called[4]!.tool_call_id).toBe("toolu_9")
    expect(eventsOf("tool_result").map(({ payload }) => sink.textOf(payload.result_ref))).toEqual([
      "3",
      "text",
      "2",
      "5",
      "iced",
      "11",
      "6",
    ])
    expect(contractProblems(sink)).toEqual([])
  })

  test("what a tool throws is the very thing thrown, at once or later", async () => {
    const { recorder, eventsOf } = recordInMemory({ strict: true })
    const run = recorder.startRun({ entrypoint: "agent" })
    const mistake = new RangeError("no")
    const wrapped = wrapTools(
      {
        now: () => {
          throw mistake
        },
        later: () => Promise.reject(mistake),
      },
      run,
    )
    expect(() => wrapped.now()).toThrow(mistake)
    await expect(wrapped.later()).rejects.toBe(mistake)
    expect(eventsOf("tool_result").map(({ payload }) => payload.error_class)).toEqual(["RangeError", "RangeError"])
  })

  test("a thenable starts its work once, and a tool that yields is recorded with its last word", async () => {
    const { recorder, sink, eventsOf } = recordInMemory({ strict: true })
    const run = recorder.startRun({ entrypoint: "agent" })
    let starts = 0
    const lazyRows: PromiseLike<number[]> = {
      // biome-ignore lint/suspicious/noThenProperty: query builders are made like this.
      then: (resolve, reject) => {
        starts++
        return Promise.resolve([1, 2]).then(resolve, reject)
      },
    }
    const wrapped = wrapTools(
      {
        query: () => lazyRows,
        search: {
          async *execute() {
            yield "looking"
            yield "found"
          },
        },
      },
      run,
    )
    expect(await wrapped.query()).toEqual([1, 2])
    expect(starts).toBe(1)
    const words: string[] = []
    for await (const word of wrapped.search.execute()) words.push(word)
    expect(words).toEqual(["looking", "found"])
    for await (const _ of wrapped.search.execute()) break
    run.complete()
    expect(eventsOf("tool_result").map(({ payload }) => [payload.status, sink.textOf(payload.result_ref)])).toEqual([
      ["success", "[1,2]"],
      ["success", "found"],
      ["partial", "looking"],
    ])
    expect(contractProblems(sink)).toEqual([])
  })

  test("[R-11] with recording off the tools do the same", () => {
    const wrapped = wrapTools({ add: (a: number, b: number) => a + b }, Recorder.off().startRun({ entrypoint: "off" }))
    expect(wrapped.add(2, 3)).toBe(5)
  })
})
