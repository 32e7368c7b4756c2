import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { validate } from "@orangebox/contract"
import { describe, expect, test, vi } from "vitest"
import { type EventRecord, MemorySink, Recorder, ToolTimeoutError } from "../src/index.js"
import { contractProblems, recordInMemory } from "./recording.js"

describe("a whole run", () => {
  test("[R-06] [R-07] a run with steps, a model call and tools satisfies every contract rule", async () => {
    const { recorder, sink, only } = recordInMemory()
    const run = recorder.startRun({ entrypoint: "fix-issue", input: "Fix the date test", conversationId: "conv-1" })
    const step = run.step("plan", { attempt: 1 })
    const reply = await step.model(
      {
        provider: "anthropic",
        model: "claude-x",
        request: { model: "claude-x", max_tokens: 512, temperature: 0.2, messages: [] },
        describe: (answer: { text: string }) => ({
          finishReason: "tool_use",
          usage: { prompt: 100, completion: 20, cache_read: 80 },
          outputText: answer.text,
        }),
      },
      async () => ({ text: "reading the file" }),
    )
    expect(reply).toEqual({ text: "reading the file" })
    const text = await step.tool(
      { name: "read_file", args: { path: "src/date.ts" }, callId: "toolu_1" },
      async ({ log }) => {
        log.info("reading")
        return "export const x = 1"
      },
    )
    expect(text).toBe("export const x = 1")
    step.end()
    run.complete({ output: "done" })

    expect(contractProblems(sink)).toEqual([])
    const called = only("model_called")
    expect(called.payload).toMatchObject({
      provider: "anthropic",
      model_id: "claude-x",
      max_tokens: 512,
      temperature: 0.2,
      top_p: null,
    })
    expect(JSON.parse(sink.textOf(called.payload.request_ref)!)).toEqual({
      model: "claude-x",
      max_tokens: 512,
      temperature: 0.2,
      messages: [],
    })
    const result = only("model_result")
    expect(result.step_id).toBe(called.step_id)
    expect(result.payload).toMatchObject({
      status: "success",
      finish_reason: "tool_use",
      token_usage: { prompt: 100, completion: 20, total: 120, cache_read: 80 },
    })
    const tool = only("tool_called")
    expect(tool.payload).toMatchObject({ tool_name: "read_file", tool_call_id: "toolu_1", args_summary: "src/date.ts" })
    expect(tool.payload.call_signature_hash).toMatch(/^sha256:/)
    expect(only("tool_result").payload).toMatchObject({ status: "success", result_summary: "export const x = 1" })
    expect(only("log").step_id).toBe(tool.step_id)
    expect(only("run_completed").payload.total_steps).toBe(4)
    expect(only("final_output").payload.output_summary).toBe("done")
  })

  test("[R-07] a model call is its call, what its prompt is made of and its result, however many pieces the answer came in", () => {
    const { recorder, sink } = recordInMemory()
    const run = recorder.startRun({ entrypoint: "chat" })
    const model = run.startModel({ provider: "openai", model: "gpt-x", request: { input: "hi" } })
    for (let i = 0; i < 50; i++) model.chunk(Buffer.from(`data: ${i}\n\n`))
    model.endModel({ finishReason: "stop" })
    const inModelStep = sink.events.filter((event) => event.step_id === model.id)
    expect(inModelStep.map((event) => event.event_type)).toEqual(["model_called", "prompt_assembled", "model_result"])
    const result = inModelStep[2]!
    expect(sink.textOf(result.event_type === "model_result" ? result.payload.response_ref : null)).toContain("data: 49")
  })

  test("[R-07] a tool that throws is recorded with class and message, and the caller gets the same error", async () => {
    const { recorder, sink, only } = recordInMemory()
    const run = recorder.startRun({ entrypoint: "x" })
    const failure = new TypeError("no such file\nsecond line", { cause: new Error("ENOENT") })
    await expect(run.tool({ name: "read_file", args: {} }, () => Promise.reject(failure))).rejects.toBe(failure)
    const { payload } = only("tool_result")
    expect(payload).toMatchObject({
      status: "error",
      error_class: "TypeError",
      error_summary: "no such file",
      result_ref: null,
    })
    const chain = JSON.parse(sink.textOf(payload.error_message_ref)!) as {
      class: string
      message: string
      stack: string
    }[]
    expect(chain.map((link) => [link.class, link.message])).toEqual([
      ["TypeError", "no such file\nsecond line"],
      ["Error", "ENOENT"],
    ])
    expect(chain[0]!.stack).toContain("handles.test.ts")
  })

  test("[R-07] a tool over its time limit is a timeout, its signal aborts, and off mode keeps the same limit", async () => {
    const { recorder, only } = recordInMemory()
    const run = recorder.startRun({ entrypoint: "x" })
    const signals: AbortSignal[] = []
    const slow = ({ signal }: { signal: AbortSignal }) => {
      signals.push(signal)
      return new Promise(() => {})
    }
    await expect(run.tool({ name: "slow", args: {}, timeoutMs: 5 }, slow)).rejects.toBeInstanceOf(ToolTimeoutError)
    expect(only("tool_result").payload.status).toBe("timeout")
    await expect(
      Recorder.off().startRun({ entrypoint: "x" }).tool({ name: "slow", args: {}, timeoutMs: 5 }, slow),
    ).rejects.toBeInstanceOf(ToolTimeoutError)
    expect(signals.map((signal) => signal.aborted)).toEqual([true, true])
  })

  test("[R-07] equal calls have equal signatures whatever the key order, other calls have others", async () => {
    const { recorder, eventsOf } = recordInMemory()
    const run = recorder.startRun({ entrypoint: "x" })
    await run.tool({ name: "grep", args: { pattern: "a", path: "b" } }, () => 1)
    await run.tool({ name: "grep", args: { path: "b", pattern: "a" } }, () => 1)
    await run.tool({ name: "grep", args: { path: "b", pattern: "c" } }, () => 1)
    const [first, second, third] = eventsOf("tool_called").map((event) => event.payload.call_signature_hash)
    expect(first).toBe(second)
    expect(third).not.toBe(first)
  })

  test("[C-03] attempts of one logical call are child steps with their number", () => {
    const { recorder, sink, eventsOf } = recordInMemory()
    const run = recorder.startRun({ entrypoint: "x" })
    const call = { provider: "anthropic", model: "claude-x", request: { n: 1 } }
    const logical = run.startModel(call)
    const first = logical.attempt(call)
    first.endModel({ err: Object.assign(new Error("overloaded"), { status: 529 }) })
    const second = logical.attempt(call)
    second.endModel({ response: "hello", finishReason: "end_turn" })
    logical.endModel({ response: "hello", finishReason: "end_turn" })
    run.complete()
    expect(contractProblems(sink)).toEqual([])
    expect(eventsOf("model_called").map((event) => [event.attempt_no, event.parent_step_id === logical.id])).toEqual([
      [undefined, false],
      [1, true],
      [2, true],
    ])
    expect(eventsOf("model_result")[0]!.payload).toMatchObject({ http_status: 529, error_class: "Error" })
  })
})

describe("steps", () => {
  test("[R-02] a step has an id, a bound log, attributes, links, children and an end with duration and status", () => {
    const { recorder, sink, only, eventsOf } = recordInMemory()
    const run = recorder.startRun({ entrypoint: "x" })
    const step = run.step("outer", { first: true }, { body: "the prompt" })
    step.setAttributes({ later: 2 })
    step.addLink({ stepId: run.id }, "because")
    const inner = step.child("inner")
    inner.end({ err: new Error("broken"), body: "what it had" })
    step.end({ attributes: { done: true } })
    expect(step.id).toMatch(/^[0-9a-f]{16}$/)
    const [opened] = eventsOf("step_started")
    expect(opened).toMatchObject({ step_id: step.id, parent_step_id: run.id, attributes: { first: true } })
    expect(sink.textOf(opened!.payload.body_ref)).toBe("the prompt")
    expect(only("attributes_set").attributes).toEqual({ later: 2 })
    expect(only("link_added").payload.link).toEqual({ kind: "mentions", step_id: run.id, reason: "because" })
    const [innerEnd, outerEnd] = eventsOf("step_ended")
    expect(innerEnd!.payload).toMatchObject({ status: "error", error_class: "Error", error_summary: "broken" })
    expect(outerEnd).toMatchObject({ attributes: { done: true }, payload: { status: "success" } })
    expect(outerEnd!.payload.latency_ms).toBeGreaterThan(0)
  })

  test("[R-06] an open step is in the sink before it ends", () => {
    const { recorder, sink } = recordInMemory()
    const step = recorder.startRun({ entrypoint: "x" }).step("long work")
    expect(sink.events.at(-1)).toMatchObject({ event_type: "step_started", step_id: step.id })
  })

  test("[C-10] a step follows the sibling that ended last, or what the caller names", () => {
    const { recorder, eventsOf } = recordInMemory()
    const run = recorder.startRun({ entrypoint: "x" })
    const first = run.step("first")
    const beside = run.step("beside")
    first.end()
    const second = run.step("second")
    const joined = run.step("joined", undefined, { follows: [first, beside] })
    const links = eventsOf("step_started").map((event) => event.links?.map((link) => link.step_id))
    expect(links).toEqual([undefined, undefined, [first.id], [first.id, beside.id]])
    expect(second.id).not.toBe(joined.id)
  })

  test("[R-02] ending twice keeps the first end, so finally blocks are harmless", () => {
    const { recorder, eventsOf } = recordInMemory()
    const run = recorder.startRun({ entrypoint: "x" })
    const step = run.step("a")
    step.end({ err: new Error("first") })
    step.end()
    run.complete()
    run.fail(new Error("late"))
    expect(eventsOf("step_ended")).toHaveLength(1)
    expect(eventsOf("run_completed")).toHaveLength(1)
    expect(eventsOf("run_failed")).toHaveLength(0)
  })

  test.each([
    ["an empty entrypoint", "", "unnamed", 'entrypoint_name was empty; "unnamed" stands for it'],
    ["no entrypoint", undefined, "unnamed", 'entrypoint_name was empty; "unnamed" stands for it'],
    ["a number", 42, "42", "entrypoint_name was no text; its JSON stands for it"],
  ])("[R-02] %s is recorded under a stand-in that the contract takes, and said once", (_, entrypoint, kept, said) => {
    const warnings: string[] = []
    const { recorder, sink } = recordInMemory({ onWarning: ({ what }) => warnings.push(what) })
    for (let i = 0; i < 2; i++) recorder.startRun({ entrypoint: entrypoint as string }).complete()
    const [started] = sink.events.filter(({ event_type }) => event_type === "run_started")
    expect(started!.payload).toMatchObject({ entrypoint_name: kept })
    expect(started!.problems).toMatchObject([{ code: "stand_in", field: "payload.entrypoint_name" }])
    expect(sink.events.flatMap((event) => validate(event))).toEqual([])
    expect(warnings).toEqual([said])
  })

  test("[R-02] no handle writes an empty name: steps, tools, models, retrievers and spans have a stand-in", async () => {
    const warnings: string[] = []
    const { recorder, sink } = recordInMemory({ onWarning: ({ what }) => warnings.push(what) })
    const run = recorder.startRun({ entrypoint: "x" })
    run.step("").end()
    await run.tool({ name: "", args: {} }, () => 1)
    await run.model({ provider: "", model: "", request: {} }, () => ({}))
    await run.retrieval({ retriever: "", query: "q" }, () => [])
    run.log.span("").end()
    run.complete()
    expect(sink.events.flatMap((event) => validate(event))).toEqual([])
    expect(warnings).toHaveLength(5)
    expect(() => recordInMemory({ strict: true }).recorder.startRun({ entrypoint: "" })).toThrow(
      /entrypoint_name is empty/,
    )
  })

  test("[R-02] what comes after the end of its run is kept with its mark, and said once", async () => {
    const warnings: string[] = []
    const { recorder, sink } = recordInMemory({ onWarning: ({ what }) => warnings.push(what) })
    const run = recorder.startRun({ entrypoint: "x" })
    run.complete()
    const late = run.step("late")
    await late.tool({ name: "late", args: {} }, () => 2)
    late.end()
    const behind = sink.events.slice(sink.events.findIndex(({ event_type }) => event_type === "run_completed") + 1)
    expect(behind.map(({ event_type }) => event_type)).toEqual([
      "step_started",
      "tool_called",
      "tool_result",
      "step_ended",
    ])
    for (const { problems } of behind) expect(problems).toMatchObject([{ code: "after_the_end" }])
    expect(warnings).toEqual(["something is recorded after run_completed of its run; it is kept and marked as late"])
  })

  test("what is said after the end is recorded with its problem, or refused when strict", () => {
    const { recorder, sink } = recordInMemory()
    const run = recorder.startRun({ entrypoint: "x" })
    const step = run.step("a")
    step.end()
    step.log.info("too late")
    expect(sink.events.at(-1)!.problems).toEqual([
      { code: "after_step_end", field: "step_id", reason: "comes after the step was ended" },
    ])
    const strict = recordInMemory({ strict: true }).recorder.startRun({ entrypoint: "x" })
    strict.complete()
    expect(() => strict.log.info("too late")).toThrow(/run_completed/)
  })
})

describe("logger", () => {
  test("[R-01] four levels, optional attributes, child attributes, spans", () => {
    const { recorder, eventsOf } = recordInMemory()
    const run = recorder.startRun({ entrypoint: "x" })
    const log = run.log.child({ attributes: { component: "parser" } })
    log.debug("d")
    log.info("i", { n: 1 })
    log.warn("w")
    log.error("e")
    const span = log.span("parsing", { file: "a" })
    span.end()
    expect(eventsOf("log").map((event) => [event.payload.level, event.attributes])).toEqual([
      ["debug", { component: "parser" }],
      ["info", { component: "parser", n: 1 }],
      ["warn", { component: "parser" }],
      ["error", { component: "parser" }],
    ])
    expect(eventsOf("step_started")[0]).toMatchObject({
      parent_step_id: run.id,
      attributes: { component: "parser", file: "a" },
      payload: { name: "parsing" },
    })
  })

  test("[R-01] error keeps class, message, stack and the cause chain", () => {
    const { recorder, sink, only } = recordInMemory()
    const run = recorder.startRun({ entrypoint: "x" })
    const root = new RangeError("root cause")
    run.log.error("could not save", { err: new Error("outer", { cause: root }), file: "a.txt" })
    const event = only("log")
    expect(event.attributes).toEqual({ file: "a.txt" })
    expect(event.payload).toMatchObject({ error_class: "Error", error_summary: "outer" })
    const chain = JSON.parse(sink.textOf(event.payload.error_ref)!) as { class: string; stack: string }[]
    expect(chain.map((link) => link.class)).toEqual(["Error", "RangeError"])
    expect(chain.every((link) => link.stack.length > 0)).toBe(true)
  })

  test("[R-01] minimum level and sampling are per source, and what was sampled out is counted at the end", () => {
    const { recorder, eventsOf, only } = recordInMemory({
      sources: { noisy: { sample: 10 }, quiet: { level: "error" } },
    })
    const noisy = recorder.scope("noisy").startRun({ entrypoint: "x" })
    for (let i = 0; i < 100; i++) noisy.log.info("tick")
    noisy.log.warn("always kept")
    const quiet = recorder.scope("quiet").startRun({ entrypoint: "y" })
    quiet.log.warn("not kept")
    quiet.log.error("kept")
    recorder.log.info("kept")
    expect(eventsOf("log").map((event) => event.payload.message)).toEqual([
      ...Array(10).fill("tick"),
      "always kept",
      "kept",
      "kept",
    ])
    recorder.close()
    expect(only("process_exited").payload.logs_sampled_out).toBe(90)
  })

  test("[R-01] a message longer than fits inline is kept whole as a body", () => {
    const { recorder, sink, only } = recordInMemory()
    const long = "x".repeat(100_000)
    recorder.startRun({ entrypoint: "x" }).log.info(long)
    const { payload } = only("log")
    expect(payload.message).toHaveLength(8192)
    expect(sink.textOf(payload.message_ref)).toBe(long)
  })
})

describe("source", () => {
  test("[R-03] the handle stamps it; attributes, payloads and child loggers cannot set, spoof or overwrite it", () => {
    const { recorder, sink } = recordInMemory()
    const billing = recorder.scope("billing")
    const run = billing.startRun({ entrypoint: "x", attributes: { source: "evil" } })
    run.log.child({ attributes: { source: "evil" } }).info("hello", { source: "evil" })
    run.step("s", { source: "evil" }).end()
    run.emit("log", { level: "info", message: "m", source: "evil" } as never)
    expect(() => {
      ;(billing as { source: string }).source = "evil"
    }).toThrow()
    const own = sink.events.filter((event) => event.run_id === run.runId)
    expect(own.map((event) => event.source)).toEqual(own.map(() => "billing"))
  })

  test("[R-03] another scope speaks in the same step under its own name", () => {
    const { recorder, sink } = recordInMemory()
    const step = recorder.startRun({ entrypoint: "x" }).step("shared")
    step.as(recorder.scope("plugin")).log.info("from the plugin")
    expect(sink.events.at(-1)).toMatchObject({ source: "plugin", step_id: step.id })
  })
})

describe("correlation", () => {
  test("[R-04] nothing ambient in the core: no async context, no global current step", () => {
    for (const name of ["contract", "journal", "recorder"]) {
      const folder = new URL(`../../${name}/src`, import.meta.url).pathname
      for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
        if (!entry.isFile()) continue
        const source = readFileSync(join(entry.parentPath, entry.name), "utf8")
        expect(source, entry.name).not.toMatch(/AsyncLocalStorage|async_hooks|globalThis\.(?!fetch\b)|executionAsyncId/)
      }
    }
  })

  test("[R-04] two runs interleaved in one process never mix", async () => {
    const { recorder, sink } = recordInMemory()
    const work = async (name: string) => {
      const run = recorder.startRun({ entrypoint: name })
      for (let i = 0; i < 5; i++)
        await run.tool({ name, args: { i } }, async () => new Promise((done) => setImmediate(done)))
      run.complete()
      return run
    }
    const [a, b] = await Promise.all([work("a"), work("b")])
    expect(contractProblems(sink)).toEqual([])
    for (const run of [a, b]) {
      const names = sink.events.flatMap((event) =>
        event.run_id === run.runId && event.event_type === "tool_called" ? [event.payload.tool_name] : [],
      )
      expect(new Set(names).size).toBe(1)
    }
  })

  test("[R-09] a sub-agent's run shares the trace, and the spawn is linked from both sides", () => {
    const { recorder, sink, only, eventsOf } = recordInMemory()
    const parent = recorder.startRun({ entrypoint: "boss", conversationId: "conv-7" })
    const step = parent.step("delegate")
    const child = step.startRun({ entrypoint: "worker" })
    child.complete()
    step.end()
    parent.complete()
    expect(child.traceId).toBe(parent.traceId)
    expect(child.runId).not.toBe(parent.runId)
    expect(only("link_added").payload.link).toMatchObject({ kind: "spawned", run_id: child.runId })
    const started = eventsOf("run_started")[1]!
    expect(started.links).toEqual([
      { kind: "spawned_by", trace_id: parent.traceId, run_id: parent.runId, step_id: step.id },
    ])
    expect(started.conversation_id).toBe("conv-7")
    expect(contractProblems(sink)).toEqual([])
  })

  test("[R-09] a handoff is plain JSON that another process opens its run with", () => {
    const here = recordInMemory()
    const step = here.recorder.startRun({ entrypoint: "boss" }).step("delegate")
    const token = JSON.parse(JSON.stringify(step.handoff())) as ReturnType<typeof step.handoff>
    const there = recordInMemory()
    const child = there.recorder.startRun({ entrypoint: "worker", parent: token })
    expect(child.traceId).toBe(step.traceId)
    expect(there.only("run_started").links).toMatchObject([
      { kind: "spawned_by", run_id: step.runId, step_id: step.id },
    ])
  })

  test("[R-09] a handoff from a process that does not record starts a trace of its own", () => {
    const token = Recorder.off().startRun({ entrypoint: "boss" }).handoff()
    const { recorder, sink } = recordInMemory()
    recorder.startRun({ entrypoint: "worker", parent: token }).complete()
    expect(contractProblems(sink)).toEqual([])
  })
})

describe("sink, clock and ids", () => {
  test("[R-05] the same calls over the same clock and ids give the same records", () => {
    const record = () => {
      let next = 0
      const id = (digits: number) => (++next).toString(16).padStart(digits, "0")
      const { recorder, sink } = recordInMemory({
        newId: {
          run: () => `run_${"0".repeat(25)}${++next % 10}`,
          trace: () => id(32),
          step: () => id(16),
          event: () => `00000000-0000-7000-8000-${id(12)}`,
        },
      })
      const run = recorder.startRun({ entrypoint: "x", input: "y" })
      run.step("a").end()
      run.complete()
      return sink.records.map((entry) => entry.json)
    }
    expect(record()).toEqual(record())
  })

  test("[R-05] a sink that throws never reaches the caller", async () => {
    class Broken extends MemorySink {
      override emit(): void {
        throw new Error("disk on fire")
      }
    }
    const run = Recorder.open({ app: "x", cwd: "/", sink: new Broken() }).startRun({ entrypoint: "x" })
    run.log.info("still flying")
    await expect(run.tool({ name: "t", args: {} }, () => 42)).resolves.toBe(42)
    run.complete()
  })

  test("[R-10] onAny sees every record, cannot change one, and its failure stays its own", () => {
    const seen: string[] = []
    const { recorder, sink } = recordInMemory({
      onAny: (event) => {
        seen.push(event.event_type)
        expect(() => {
          ;(event as { source: string }).source = "changed"
        }).toThrow()
        throw new Error("listener broke")
      },
    })
    recorder.startRun({ entrypoint: "x" }).complete()
    expect(seen).toEqual(sink.events.map((event) => event.event_type))
    expect(() => recorder.onAny(() => {})).toThrow(/one listener/)
  })

  test("a failed commit throws SYSTEM_ERROR, latches the run, aborts its signal and leaves last words", async () => {
    class Full extends MemorySink {
      override commit(_record: EventRecord): void {
        throw Object.assign(new Error("ENOSPC"), { code: "ENOSPC" })
      }
    }
    const sink = new Full()
    const run = Recorder.open({ app: "x", cwd: "/", sink, audit: "required" }).startRun({ entrypoint: "x" })
    expect(run.signal.aborted).toBe(false)
    expect(() => run.commit("log", { level: "info", message: "must be kept" })).toThrow(
      expect.objectContaining({ code: "SYSTEM_ERROR" }) as Error,
    )
    expect(run.signal.aborted).toBe(true)
    const tool = vi.fn()
    await expect(run.tool({ name: "t", args: {} }, tool)).rejects.toMatchObject({ code: "SYSTEM_ERROR" })
    await expect(run.model({ provider: "p", model: "m", request: {} }, tool)).rejects.toMatchObject({
      code: "SYSTEM_ERROR",
    })
    expect(tool).not.toHaveBeenCalled()
    expect(sink.words).toHaveLength(1)
    expect(JSON.parse(sink.words[0]!)).toMatchObject({ run_id: run.runId, event_type: "log" })
  })
})

describe("lifecycle helpers", () => {
  test("[R-08] input, prompt, retrieval, decisions, output and repair each have a typed helper", async () => {
    const { recorder, sink, only } = recordInMemory()
    const run = recorder.startRun({ entrypoint: "x" })
    run.inputReceived({ channels: ["chat"], value: "the question", policyLabels: ["internal"] })
    run.promptRendered({
      prompt: "You are…",
      templateId: "t1",
      templateVersion: "3",
      variables: { name: "x" },
      system: "sys",
    })
    run.promptAssembled({
      segments: [
        { contributor: "host", kind: "persona", role: "system", content: "You are…", tokens: 3 },
        { contributor: "user", kind: "user-msg", role: "user", content: "the question" },
      ],
      tokenBudget: 32_000,
      excludedCount: 2,
    })
    const chunks = await run.retrieval(
      { retriever: "bm25", version: "1", query: "dates", topK: 2, filters: { lang: "en" } },
      () => [
        { chunkId: "c1", documentId: "d1", score: 0.9, sourceUri: "file:a", content: "text one" },
        { chunkId: "c2" },
      ],
    )
    expect(chunks).toHaveLength(2)
    run.validatorDecision({ name: "schema", decision: "fail", reason: "missing field" })
    run.safetyDecision({ policy: "pii", decision: "allow" })
    run.repair({ kind: "schema", before: "{", after: "{}", attempt: 1, maxAttempts: 3 })
    run.repair({ kind: "history", before: "[]" })
    run.artifact({ id: "a1", type: "file_edit", summary: "edit", content: "diff", path: "src/a.ts", linesAdded: 1 })
    run.complete({ output: { answer: 42 }, channel: "chat" })

    expect(contractProblems(sink)).toEqual([])
    const retrieval = only("retrieval_executed")
    expect(retrieval.payload).toMatchObject({
      retriever_id: "bm25",
      top_k: 2,
      candidate_count: 2,
      filters: { lang: "en" },
    })
    const candidates = JSON.parse(sink.textOf(retrieval.payload.candidate_list_ref)!) as {
      chunk_id: string
      content_ref: string
    }[]
    expect(candidates.map((candidate) => candidate.chunk_id)).toEqual(["c1", "c2"])
    expect(sink.textOf(candidates[0]!.content_ref)).toBe("text one")
    expect(retrieval.payload.call_signature_hash).toMatch(/^sha256:/)
    expect(only("prompt_assembled").payload).toMatchObject({
      total_length: 20,
      token_budget: 32_000,
      excluded_count: 2,
    })
    expect(only("step_started").payload).toEqual({ name: "bm25", kind: "retrieval" })
  })

  test("[D-01] decide says what the agent does in the application's own words, also that it does nothing", () => {
    const { recorder, sink, eventsOf } = recordInMemory()
    const run = recorder.startRun({ entrypoint: "x" })
    run.decide({ action: "no_op", summary: "nothing to fix", detail: { considered: ["edit", "message"] } })
    const tool = run.startTool({ name: "ship", args: {} })
    tool.decide({ action: "deploy", summary: "long ".repeat(200) })
    tool.endTool({ result: "ok" })
    run.complete()

    expect(contractProblems(sink)).toEqual([])
    const [nothing, deploy] = eventsOf("decision")
    expect(nothing!.payload).toMatchObject({ action_type: "no_op", action_summary: "nothing to fix" })
    expect(JSON.parse(sink.textOf(nothing!.payload.decision_ref!)!)).toEqual({ considered: ["edit", "message"] })
    expect(deploy).toMatchObject({ step_id: tool.id, payload: { action_type: "deploy" } })
    expect(deploy!.payload.action_summary).toHaveLength(240)
    expect(deploy!.payload).not.toHaveProperty("decision_ref")
  })

  test("[X-01] under hashed a decision keeps its type and a digest of its words", () => {
    const { recorder, sink, only } = recordInMemory({ capture: "hashed" })
    const run = recorder.startRun({ entrypoint: "x" })
    run.decide({ action: "plan", summary: "first the tests", detail: "words" })
    run.complete()
    expect(contractProblems(sink)).toEqual([])
    expect(only("decision").payload).toMatchObject({ action_type: "plan" })
    expect(only("decision").payload.action_summary).not.toContain("tests")
    expect(only("decision").payload.action_summary).not.toBe("")
  })

  test("[R-13] enqueue, dequeue and deliver carry the message id, both conversations and a link to the run they caused", () => {
    const { recorder, sink, eventsOf } = recordInMemory()
    const sender = recorder.startRun({ entrypoint: "send", conversationId: "conv-a" })
    const message = sender.queue.enqueue({
      messageId: "msg-1",
      sourceConversationId: "conv-a",
      targetConversationId: "conv-b",
      body: "hello",
    })
    sender.complete()
    const onTheWire = JSON.parse(JSON.stringify(message)) as typeof message
    const receiver = recorder.startRun({ entrypoint: "receive", conversationId: "conv-b", parent: onTheWire.enqueued })
    receiver.queue.dequeue(onTheWire)
    const caused = recorder.startRun({ entrypoint: "answer", conversationId: "conv-b" })
    receiver.queue.deliver(onTheWire, { conversationId: "conv-b", causedRun: caused })
    caused.complete()
    receiver.complete()
    expect(contractProblems(sink)).toEqual([])
    expect(eventsOf("step_started").map((event) => [event.payload.kind, event.attributes?.["message_id"]])).toEqual([
      ["queue.enqueue", "msg-1"],
      ["queue.dequeue", "msg-1"],
      ["queue.deliver", "msg-1"],
    ])
    expect(eventsOf("link_added").map((event) => event.payload.link)).toEqual([
      expect.objectContaining({ kind: "delivers", run_id: sender.runId }),
      expect.objectContaining({ kind: "delivers", run_id: sender.runId }),
      expect.objectContaining({ kind: "caused", run_id: caused.runId }),
    ])
  })
})

describe("queued messages", () => {
  const message = (capture: "redacted" | "hashed" = "redacted") => {
    const recording = recordInMemory({ capture })
    const sender = recording.recorder.startRun({ entrypoint: "send", conversationId: "chat-a" })
    const sent = sender.queue.enqueue({
      messageId: "m-1",
      sourceConversationId: "chat-a",
      targetConversationId: "chat-b",
    })
    sender.complete()
    const delivered = () =>
      recording.eventsOf("step_started").find(({ payload }) => payload.kind === "queue.deliver")?.attributes
    return { ...recording, sent, delivered }
  }

  test("[R-17] a delivery goes to the conversation of its run, of the run it caused, or where the caller says", () => {
    const own = message()
    own.recorder.startRun({ entrypoint: "receive", conversationId: "chat-b" }).queue.deliver(own.sent)
    expect(own.delivered()).toMatchObject({ delivered_conversation_id: "chat-b", message_id: "m-1" })
    const caused = message()
    const causedRun = caused.recorder.startRun({ entrypoint: "answer", conversationId: "chat-c" })
    caused.recorder
      .startRun({ entrypoint: "dispatch", conversationId: "chat-d" })
      .queue.deliver(caused.sent, { causedRun })
    expect(caused.delivered()).toMatchObject({ delivered_conversation_id: "chat-c" })
    const nowhere = message()
    nowhere.recorder.startRun({ entrypoint: "dispatch" }).queue.deliver(nowhere.sent, {
      causedRun: { id: causedRun.id, runId: causedRun.runId },
    })
    expect(nowhere.delivered()).not.toHaveProperty("delivered_conversation_id")
  })

  test.each(["redacted", "hashed"] as const)(
    "[R-17] failure, acknowledgement and redelivery stand on the delivery (%s)",
    (capture) => {
      const { recorder, sent, delivered, eventsOf, sink } = message(capture)
      const run = recorder.startRun({ entrypoint: "receive", conversationId: "chat-b" })
      run.queue.deliver(sent, { deliveryNo: 2, acknowledged: false, err: new TypeError("no such chat") })
      run.complete()
      expect(contractProblems(sink)).toEqual([])
      expect(delivered()).toMatchObject({ delivery_no: 2, redelivered: true, acknowledged: false })
      expect(eventsOf("step_ended").at(-1)?.payload).toMatchObject({ status: "error", error_class: "TypeError" })
    },
  )

  test("[R-17] under hashed one id leaves one digest wherever it stands, and a handoff still has the id itself", () => {
    const { recorder, sink, sent, delivered } = message("hashed")
    const run = recorder.startRun({ entrypoint: "receive", conversationId: "chat-b" })
    run.queue.deliver(sent)
    expect(JSON.stringify(sink.events)).not.toMatch(/chat-[ab]|m-1/)
    const own = sink.events.at(-1)?.conversation_id
    expect(own).toMatch(/^hmac:[0-9a-f]{24}$/)
    expect(delivered()).toMatchObject({ target_conversation_id: own, delivered_conversation_id: own })
    expect(run.handoff().conversationId).toBe("chat-b")
  })
})

describe("off", () => {
  test("[R-11] the same code runs with recording off and returns the same values", async () => {
    const agent = async (recorder: Recorder) => {
      const run = recorder.startRun({ entrypoint: "x" })
      const step = run.step("a", { n: 1 })
      const reply = await step.model({ provider: "p", model: "m", request: {} }, async () => "answer")
      const value = await step.tool({ name: "t", args: {} }, ({ log }) => {
        log.info("inside")
        return 7
      })
      const chunks = await step.retrieval({ retriever: "r", query: "q" }, () => [{ chunkId: "c" }])
      const attempt = step
        .startModel({ provider: "p", model: "m", request: {} })
        .attempt({ provider: "p", model: "m", request: {} })
      attempt.chunk(Buffer.from("x"))
      attempt.endModel({})
      const message = run.queue.enqueue({ messageId: "m" })
      run.queue.deliver(message)
      const sub = step.startRun({ entrypoint: "sub" })
      sub.complete()
      step.end()
      run.complete({ output: reply })
      recorder.log.child({}).span("s").end()
      recorder.scope("other").log.info("x")
      recorder.onAny(() => {})()
      recorder.close()
      return [reply, value, chunks.length]
    }
    const expected = ["answer", 7, 1]
    expect(await agent(Recorder.off())).toEqual(expected)
    expect(await agent(Recorder.open({ app: "x", cwd: "/", enabled: false }))).toEqual(expected)
    expect(await agent(recordInMemory().recorder)).toEqual(expected)
    await expect(
      Recorder.off()
        .startRun({ entrypoint: "x" })
        .tool({ name: "t", args: {} }, () => Promise.reject(new Error("same error"))),
    ).rejects.toThrow("same error")
  })

  test("[R-11] ORANGEBOX=off turns recording off from outside", () => {
    vi.stubEnv("ORANGEBOX", "off")
    try {
      expect(Recorder.open({ app: "x", cwd: "/", folder: "/nonexistent" }).isRecording).toBe(false)
    } finally {
      vi.unstubAllEnvs()
    }
  })
})
