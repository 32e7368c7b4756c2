import type { ServerResponse } from "node:http"
import { Recorder, type Run } from "@orangebox/recorder"
import { describe, expect, test } from "vitest"
import { findBody, findRun, readStore } from "../../src/index.js"
import {
  asked,
  diagnosed,
  diagnosisOf,
  folder,
  type Json,
  refused,
  result,
  said,
  send,
  serving,
  use,
} from "./diagnosed.js"

describe("[G-01] corrupted history", () => {
  test.each([
    ["tool_result_missing", [[use("t1"), use("t2")], [result("t1")]]],
    ["tool_result_orphan", [[use("t1")], [result("t1"), result("t9")]]],
    ["tool_result_duplicate", [[use("t1")], [result("t1"), result("t1")]]],
    ["tool_result_misplaced", [[result("t1")], [use("t1")]]],
  ] as const)("%s, refused by the provider, is the first finding", async (kind, turns) => {
    for (const capture of ["full", "redacted", "hashed"] as const) {
      const url = await serving(said(), refused(400, "messages: tool_use ids without tool_result"))
      const { top, text } = await diagnosed(async (run) => {
        await send(run, url, asked())
        await send(run, url, asked(...(turns as unknown as Json[][])))
        run.fail(new Error("refused"))
      }, capture)
      expect(top).toMatchObject({
        detector: "corrupted_history",
        kind,
        severity: "fatal",
        confidence: "proven",
        cause_step: 3,
      })
      expect(text).toMatch(/the provider refused it: 400/)
      expect(text).toMatch(/next: orangebox step last#3 --brief/)
    }
  })

  test("[G-04] its pointer opens the very bytes of the call that has no result", async () => {
    const url = await serving(refused(400, "tool_use ids without tool_result"))
    const { top } = await diagnosed(async (run) => {
      await send(run, url, asked([use("t1"), use("t2")], [result("t1")]))
      run.fail(new Error("refused"))
    })
    const [place] = top!.evidence
    const bytes = await readStore({ data: folder }, async ({ store }) => {
      const { view } = await findRun(store, "last")
      return (await findBody(store, view, place!.step_no, "request")).bytes
    })
    expect(JSON.parse(Buffer.from(bytes.subarray(place!.from!, place!.to!)).toString())).toMatchObject({ id: "t2" })
  })

  test.each([401, 403, 404, 500])("[G-03] refused with %i, the history is not to blame", async (status) => {
    const url = await serving(refused(status, "no"))
    const { bad } = await diagnosed(async (run) => {
      await send(run, url, asked([use("t1"), use("t2")], [result("t1")]))
      run.fail(new Error("refused"))
    })
    expect(bad).toMatchObject([{ detector: "call_failed", severity: "fatal", cause_step: 2 }])
  })

  test("a transform that lost the result is named", async () => {
    const url = await serving(refused(400, "tool_use ids without tool_result"))
    const { top } = await diagnosed(async (run, recorder) => {
      const built = asked([use("t1"), use("t2")], [result("t1"), result("t2")])
      const lost = asked([use("t1"), use("t2")], [result("t1")])
      await run
        .model({ provider: "anthropic", model: "claude-x", request: built }, async (call) => {
          const answer = await recorder.fetch(url, {
            method: "POST",
            headers: call.headers,
            body: JSON.stringify(lost),
          })
          await answer.text()
          if (!answer.ok) throw new Error("refused")
        })
        .catch(() => {})
      run.fail(new Error("refused"))
    })
    expect(top).toMatchObject({ detector: "corrupted_history", kind: "tool_result_missing" })
    expect(top?.by).toMatch(/^a transform/)
  })

  test("[G-03] a sound history that is refused for another reason, or accepted, is no finding of this", async () => {
    const url = await serving(refused(400, "max_tokens: too big"), said())
    const { json } = await diagnosed(async (run) => {
      await send(run, url, asked([use("t1")], [result("t1")]))
      await send(run, url, asked([use("t1")], [result("t1")]))
      run.complete()
    })
    expect(json.findings.filter(({ detector }) => detector === "corrupted_history")).toEqual([])
  })
})

describe("[G-01] messages", () => {
  const body = { messageId: "m-2", sourceConversationId: "c-0", targetConversationId: "c-1" }

  test("a message that reached one conversation twice is a double delivery, across runs", async () => {
    for (const capture of ["redacted", "hashed"] as const) {
      const recorder = Recorder.open({ app: "queue", folder, cwd: folder, capture, environment: "local" })
      const sender = recorder.startRun({ entrypoint: "send", conversationId: "c-0" })
      const message = sender.queue.enqueue({ ...body, messageId: `m-${capture}` })
      sender.complete()
      const runs = [1, 2].map(() => {
        const run = recorder.startRun({ entrypoint: "take", conversationId: "c-1" })
        run.queue.dequeue(message)
        run.queue.deliver(message)
        run.complete()
        return run.runId
      })
      recorder.close()
      const { top } = await diagnosisOf(runs[1]!)
      expect(top).toMatchObject({ detector: "double_delivery", severity: "harm", confidence: "proven" })
      expect(top?.evidence).toMatchObject([{ run_id: runs[0] }, { run_id: null }])
    }
  })

  test("[G-03] redelivered after a failure, and one message for each of two, are none", async () => {
    const { bad } = await diagnosed((run) => {
      const first = run.queue.enqueue({ ...body, messageId: "m-a" })
      run.queue.deliver(first, { err: new Error("not now") })
      run.queue.deliver(first, { redelivered: true })
      for (const messageId of ["m-b", "m-c"]) run.queue.deliver(run.queue.enqueue({ ...body, messageId }))
      run.complete()
    })
    expect(bad).toEqual([])
  })

  test("a message that went elsewhere is a misroute", async () => {
    const { top } = await diagnosed((run) => {
      run.queue.deliver(run.queue.enqueue(body), { conversationId: "c-7" })
      run.complete()
    })
    expect(top).toMatchObject({
      detector: "misroute",
      kind: "delivered_elsewhere",
      severity: "harm",
      confidence: "proven",
    })
  })
})

describe("[G-02] calls and tools", () => {
  const tool = (run: Run, name: string, args: Json, value: unknown): Promise<unknown> =>
    run.tool({ name, args }, () => value)

  test("the same call with the same result three times is a loop; polling whose result changes is none", async () => {
    const { top } = await diagnosed(async (run) => {
      for (let at = 0; at < 4; at++) await tool(run, "grep", { for: "x" }, "nothing")
      run.complete()
    })
    expect(top).toMatchObject({ detector: "loop", kind: "same_call", cause_step: 2, fails_step: 5 })
    const polling = await diagnosed(async (run) => {
      for (let at = 0; at < 6; at++) await tool(run, "status", { of: "build" }, `${at} of 6`)
      run.complete()
    })
    expect(polling.bad).toEqual([])
  })

  test("a cycle of calls is a loop too", async () => {
    const { top } = await diagnosed(async (run) => {
      for (let at = 0; at < 3; at++) for (const name of ["read", "edit", "undo"]) await tool(run, name, {}, "ok")
      run.complete()
    })
    expect(top).toMatchObject({ detector: "loop", kind: "cycle", cause_step: 2, fails_step: 10 })
  })

  const test_run = (run: Run, exitCode: number): void =>
    run.step("test").artifact({ id: `t${exitCode}`, type: "test_run", summary: "tests", content: "…", exitCode })

  test("a run that completed on red tests is a false success; green ones after them are fine", async () => {
    const { bad } = await diagnosed((run) => {
      test_run(run, 0)
      test_run(run, 1)
      run.complete()
    })
    expect(bad).toMatchObject([{ detector: "false_success", kind: "tests_failed" }])
    const green = await diagnosed((run) => {
      test_run(run, 1)
      test_run(run, 0)
      run.complete()
    })
    expect(green.bad).toEqual([])
  })

  test("a write that failed and was never done again is likely; one that was, and a read, are no harm", async () => {
    const failing = (run: Run, name: string, effect: "write" | "read") =>
      run.tool({ name, args: {}, effect }, () => Promise.reject(new Error("locked"))).catch(() => {})
    const { bad } = await diagnosed(async (run) => {
      await failing(run, "save", "write")
      await failing(run, "look", "read")
      run.complete()
    })
    expect(bad).toMatchObject([{ detector: "ignored_tool_error", kind: "write", confidence: "likely", cause_step: 2 }])
    const mended = await diagnosed(async (run) => {
      await failing(run, "save", "write")
      await run.tool({ name: "save", args: {}, effect: "write" }, () => "saved")
      run.complete()
    })
    expect(mended.bad).toEqual([])
  })

  test("a prompt that was too long, an answer that was cut, a stream that broke, a tool nobody offered", async () => {
    const broken = (response: ServerResponse) => {
      response.writeHead(200, { "content-type": "text/event-stream" })
      response.write(
        'event: message_start\ndata: {"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":3}}}\n\n',
      )
      setTimeout(() => response.destroy(), 20)
    }
    const url = await serving(
      refused(400, "prompt is too long: 210000 tokens > 200000 maximum"),
      said([{ type: "text", text: "and then" }], { stop_reason: "max_tokens" }),
      broken,
      said([{ ...use("t1"), name: "format_disk" }], { stop_reason: "tool_use" }),
    )
    const { json } = await diagnosed(async (run) => {
      for (let at = 0; at < 4; at++) await send(run, url, { ...asked(), system: `step ${at}` }).catch(() => {})
      run.complete()
    })
    const found = Object.fromEntries(json.findings.map(({ detector, cause_step }) => [detector, cause_step]))
    expect(found).toMatchObject({ context_overflow: 2, output_cut: 3, stream_broken: 4, unknown_tool: 5 })
  })

  test("[G-03] a good run has no finding, and says what could not be looked for", async () => {
    const url = await serving(said([use("t1")], { stop_reason: "tool_use" }), said())
    const { json, text } = await diagnosed(async (run) => {
      await send(run, url, asked())
      await run.tool({ name: "read", args: {}, callId: "t1" }, () => "text")
      await send(run, url, asked([use("t1")], [result("t1")]))
      run.complete({ output: "done" })
    })
    expect(json.findings).toEqual([])
    expect(text).toMatch(/nothing that can be looked for is broken; whether the answer is right, rules cannot tell/)
    expect(json.not_run.map(({ detector }) => detector)).toContain("constraint_violation")
  })
})

test("[G-02] tries that all failed ended the run, and are what explains it", async () => {
  const url = await serving(refused(529, "overloaded"))
  const { top, json } = await diagnosed(async (run, recorder) => {
    await run
      .model({ provider: "anthropic", model: "claude-x", request: asked() }, async (call) => {
        for (let at = 0; at < 5; at++) {
          await (
            await recorder.fetch(url, { method: "POST", headers: call.headers, body: JSON.stringify(asked()) })
          ).text()
        }
        throw new Error("overloaded")
      })
      .catch(() => {})
    run.fail(new Error("overloaded"))
  })
  expect(top).toMatchObject({ detector: "retry_storm", severity: "fatal" })
  expect(json.is_unexplained).toBe(false)
})

describe("[G-02] where to begin reading", () => {
  test("what had no end when the run failed comes first", async () => {
    const { json } = await diagnosed(async (run) => {
      await run.tool({ name: "read", args: { path: "a" } }, () => "fine")
      run.startTool({ name: "deploy", args: { to: "production" } })
      run.fail(new Error("exit 1"))
    })
    expect(json.is_unexplained).toBe(true)
    expect(json.suspects[0]).toMatchObject({
      step_no: 3,
      why: expect.arrayContaining([expect.stringMatching(/had no end/)]),
    })
  })
})
