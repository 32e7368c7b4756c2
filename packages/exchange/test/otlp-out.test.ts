import { createServer, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import { gunzipSync } from "node:zlib"
import type { Event } from "@orangebox/contract"
import { decisionsOf } from "@orangebox/decisions"
import { MemorySink, Recorder } from "@orangebox/recorder"
import { foldRun } from "@orangebox/runs"
import { afterEach, describe, expect, test } from "vitest"
import { decodeProtobufRequest, encodeResponse } from "../src/formats/otlp/decode-protobuf.js"
import type { PlainLog, PlainSpan } from "../src/formats/otlp/plain.js"
import { otlpOfRun, type RunAsOtlp, sendRun } from "../src/index.js"
import { openDoor } from "./otlp.js"

interface Answer {
  readonly status: number
  readonly headers?: Record<string, string>
  readonly body?: Uint8Array
}

interface Received {
  readonly path: string
  readonly headers: IncomingMessage["headers"]
  readonly bytes: Buffer
}

const closers: (() => void)[] = []
afterEach(() => {
  for (const close of closers.splice(0)) close()
})

/** A receiver that answers as told, in order of the requests; then with 200. */
async function startReceiver(answer: (request: Received, no: number) => Answer | Promise<Answer>) {
  const received: Received[] = []
  const server = createServer((request, response) => {
    const pieces: Buffer[] = []
    request.on("data", (piece: Buffer) => pieces.push(piece))
    request.on("end", async () => {
      const got = { path: request.url!, headers: request.headers, bytes: Buffer.concat(pieces) }
      received.push(got)
      const { status, headers = {}, body = new Uint8Array() } = await answer(got, received.length)
      response.writeHead(status, headers).end(body)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  closers.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received }
}

const spansIn = (received: readonly Received[]): PlainSpan[] =>
  received
    .filter(({ path }) => path.endsWith("/v1/traces"))
    .flatMap(({ bytes }) => [...decodeProtobufRequest("traces", gunzipSync(bytes)).spans])
const logsIn = (received: readonly Received[]): PlainLog[] =>
  received
    .filter(({ path }) => path.endsWith("/v1/logs"))
    .flatMap(({ bytes }) => [...decodeProtobufRequest("logs", gunzipSync(bytes)).logs])

/** A run with a model call, a tool that fails, an evaluation, a log and a decision. */
async function recordRun(): Promise<{ events: Event[]; sink: MemorySink; runId: string }> {
  const sink = new MemorySink()
  const recorder = Recorder.open({ app: "fixer", sink, enabled: true, agentVersion: "1.4.0" })
  const run = recorder.startRun({ entrypoint: "fix-issue", input: "Fix the failing date test", conversationId: "c-7" })
  const request = {
    model: "claude-x",
    max_tokens: 64,
    system: "Be careful.",
    messages: [{ role: "user", content: "Fix the failing date test" }],
  }
  const answer = {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "claude-x-1",
    stop_reason: "tool_use",
    content: [
      { type: "text", text: "Looking." },
      { type: "tool_use", id: "toolu_1", name: "run_tests", input: { path: "test" } },
    ],
    usage: { input_tokens: 10, cache_read_input_tokens: 90, cache_creation_input_tokens: 0, output_tokens: 7 },
  }
  await run.model({ provider: "anthropic", model: "claude-x", request }, async () => answer)
  await run
    .tool({ name: "run_tests", args: { path: "test" } }, async () => {
      throw new Error("exit 1")
    })
    .catch(() => {})
  run.log.warn("nothing was fixed", { attempts: 1 })
  run.complete({ output: "not done" })
  recorder.close()
  const runId = run.runId
  return { events: sink.events.filter(({ run_id }) => run_id === runId), sink, runId }
}

async function asOtlp(hasContent: boolean): Promise<RunAsOtlp & { runId: string; own: Event[] }> {
  const { events, sink, runId } = await recordRun()
  const decisions = decisionsOf({ events, bodies: (ref) => sink.bodies.get(ref) })
  const told = otlpOfRun({ events, runId, body: hasContent ? (hash) => sink.bodies.get(hash) : undefined, decisions })
  return { ...told, runId, own: events }
}

describe("[I-02] a run sent over OTLP", () => {
  test("is protobuf, packed, with a span for every step in the names of the GenAI conventions", async () => {
    const receiver = await startReceiver(() => ({ status: 200 }))
    const run = await asOtlp(true)
    const sent = await sendRun(run, { url: receiver.url, headers: { authorization: "Bearer k" } })
    expect(sent).toMatchObject({ spans: 3, rejected: 0, logsAsEvents: false })
    for (const { headers } of receiver.received)
      expect(headers).toMatchObject({
        "content-type": "application/x-protobuf",
        "content-encoding": "gzip",
        authorization: "Bearer k",
      })
    const spans = spansIn(receiver.received)
    const folded = foldRun(run.own)
    expect(new Set(spans.map(({ spanId }) => spanId))).toEqual(new Set(folded.steps.map(({ id }) => id)))
    const [agent, call, tool] = ["invoke_agent fixer", "chat claude-x-1", "execute_tool run_tests"].map((name) =>
      spans.find((span) => span.name === name),
    )
    expect(agent).toMatchObject({
      parentSpanId: null,
      service: "fixer",
      attributes: {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.conversation.id": "c-7",
        "gen_ai.agent.version": "1.4.0",
      },
    })
    expect(call).toMatchObject({
      parentSpanId: agent!.spanId,
      attributes: {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "anthropic",
        "gen_ai.request.model": "claude-x",
        "gen_ai.usage.input_tokens": 100,
        "gen_ai.usage.cache_read.input_tokens": 90,
        "gen_ai.usage.output_tokens": 7,
        "gen_ai.response.finish_reasons": ["tool_use"],
      },
    })
    expect(JSON.parse(String(call!.attributes["gen_ai.output.messages"]))).toEqual([
      {
        role: "assistant",
        parts: [
          { type: "text", content: "Looking." },
          { type: "tool_call", id: "toolu_1", name: "run_tests", arguments: { path: "test" } },
        ],
        finish_reason: "tool_call",
      },
    ])
    expect(JSON.parse(String(call!.attributes["gen_ai.system_instructions"]))).toEqual([
      { type: "text", content: "Be careful." },
    ])
    expect(tool).toMatchObject({
      isError: true,
      attributes: { "error.type": "Error", "gen_ai.tool.call.arguments": '{"path":"test"}' },
    })
  })

  test("says nothing of what was said without --content, but names it by its hash", async () => {
    const run = await asOtlp(false)
    const text =
      JSON.stringify(run.spans) +
      JSON.stringify(otlpOfRun({ events: run.own, runId: run.runId, body: undefined }).records)
    for (const content of ["Fix the failing", "Looking", "Be careful", "exit 1", "nothing was fixed", '"test"'])
      expect(text).not.toContain(content)
    expect(text).toMatch(/orangebox\.ref\.request.{1,40}sha256:[0-9a-f]{64}/)
  })

  test("[D-06] carries decisions, evaluations and logs as log records of their trace and span", async () => {
    const receiver = await startReceiver(() => ({ status: 200 }))
    const run = await asOtlp(true)
    await sendRun(run, { url: `${receiver.url}/v1/traces` })
    const logs = logsIn(receiver.received)
    const spans = new Set(spansIn(receiver.received).map(({ spanId }) => spanId))
    expect(logs.map(({ name }) => name)).toEqual(expect.arrayContaining(["orangebox.decision", "orangebox.log"]))
    for (const { traceId, spanId } of logs) expect([traceId, spans.has(spanId!)]).toEqual([run.own[0]!.trace_id, true])
    expect(logs.find(({ name }) => name === "orangebox.log")).toMatchObject({ severity: 13, body: "nothing was fixed" })
  })

  test("[D-06] where a target has no logs, they go along as events of the spans, and that is said", async () => {
    for (const status of [404, 405]) {
      const receiver = await startReceiver(({ path }) => ({ status: path.endsWith("logs") ? status : 200 }))
      const sent = await sendRun(await asOtlp(true), { url: receiver.url })
      expect(sent).toMatchObject({ logsAsEvents: true, rejected: 0 })
      const events = spansIn(receiver.received).flatMap((span) => span.events)
      expect(events.map(({ name }) => name)).toEqual(expect.arrayContaining(["orangebox.decision", "orangebox.log"]))
    }
  })

  test("comes back through our own door with the same tree, tokens and errors", async () => {
    const door = openDoor()
    const receiver = await startReceiver(async ({ path, headers, bytes }) => {
      const { status, headers: said, body } = await door.door.handle(path, headers, bytes)
      return { status, headers: said, body }
    })
    const run = await asOtlp(true)
    await sendRun(run, { url: receiver.url })
    const [events] = [...(await door.runs()).values()]
    const [before, after] = [foldRun(run.own), foldRun(events!)]
    const shape = (one: typeof before) =>
      one.steps.map(({ id, kind, name, parent, status }) => [id, kind, kind === "run" ? "" : name, parent?.id, status])
    expect(shape(after)).toEqual(shape(before))
    expect(after.totals.tokens).toEqual(before.totals.tokens)
  })

  test("of a replay has span ids of its own", async () => {
    const [first, second] = [await asOtlp(false), await asOtlp(false)]
    const ids = new Set(first.spans.map(({ spanId }) => spanId))
    expect(second.spans.some(({ spanId }) => ids.has(spanId))).toBe(false)
  })
})

describe("[I-02] a target in trouble", () => {
  const waits: number[] = []
  const wait = async (ms: number): Promise<void> => void waits.push(ms)
  afterEach(() => void waits.splice(0))

  test("is asked again where the specification says so, after the time it names", async () => {
    const statuses = [429, 502, 503, 504]
    const receiver = await startReceiver((_, no) =>
      no <= 4 ? { status: statuses[no - 1]!, headers: { "retry-after": "7" } } : { status: 200 },
    )
    await sendRun(await asOtlp(false), { url: receiver.url }, { wait })
    expect(waits).toEqual([7000, 7000, 7000, 7000])
    expect(spansIn(receiver.received)).toHaveLength(3)
  })

  test("is not asked again where it says no, and what it says is told without stack or markup", async () => {
    for (const status of [400, 401, 403, 415, 500]) {
      const receiver = await startReceiver(() => ({ status, body: Buffer.from("\u001b[31mno such project") }))
      const failure = await sendRun(await asOtlp(false), { url: receiver.url }, { wait }).catch((error: Error) => error)
      expect([status, receiver.received.length]).toEqual([status, 1])
      expect((failure as Error).message).toContain(`${status}`)
      expect((failure as Error).message).not.toContain("\u001b")
    }
  })

  test("that takes part of it is believed: the rest is reported and not sent again", async () => {
    const receiver = await startReceiver(({ path }) => ({
      status: 200,
      body: encodeResponse(
        path.endsWith("traces") ? "traces" : "logs",
        path.endsWith("traces") ? { rejected: 2, errorMessage: "quota" } : { rejected: 0, errorMessage: "" },
      ),
    }))
    const sent = await sendRun(await asOtlp(false), { url: receiver.url }, { wait })
    expect(sent).toMatchObject({ rejected: 2, messages: ["quota"] })
    expect(receiver.received.filter(({ path }) => path.endsWith("traces"))).toHaveLength(1)
  })

  test("that finds a request too large gets it in halves; what is too large by itself is counted", async () => {
    const receiver = await startReceiver(({ path, bytes }) => {
      const { spans } = path.endsWith("traces") ? decodeProtobufRequest("traces", gunzipSync(bytes)) : { spans: [] }
      return { status: spans.length > 1 || spans[0]?.name.startsWith("chat") ? 413 : 200 }
    })
    const sent = await sendRun(await asOtlp(false), { url: receiver.url }, { wait })
    expect(sent.rejected).toBe(1)
  })

  test("that is not there is named with its address", async () => {
    const failure = await sendRun(await asOtlp(false), { url: "http://127.0.0.1:1" }, { wait }).catch(
      (error: Error) => error,
    )
    expect((failure as Error).message).toContain("127.0.0.1:1")
    expect(waits).toHaveLength(5)
    await expect(sendRun(await asOtlp(false), { url: "ftp://x" })).rejects.toThrow("http")
    await expect(sendRun(await asOtlp(false), { url: "nonsense" })).rejects.toThrow("no address")
  })

  test("no request is larger than 4 MiB before it is packed", async () => {
    const receiver = await startReceiver(() => ({ status: 200 }))
    const run = await asOtlp(false)
    const big = Array.from({ length: 50 }, (_, at) => ({
      ...run.spans[0]!,
      spanId: (at + 1).toString(16).padStart(16, "0"),
      attributes: [{ key: "x", value: { stringValue: "y".repeat(300_000) } }],
    }))
    await sendRun({ ...run, spans: big }, { url: receiver.url })
    const sizes = receiver.received.map(({ bytes }) => gunzipSync(bytes).length)
    expect(Math.max(...sizes)).toBeLessThanOrEqual(4 * 1024 * 1024)
    expect(spansIn(receiver.received)).toHaveLength(50)
  })
})
