import { existsSync, readdirSync, readFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { gunzipSync, gzipSync } from "node:zlib"
import { context, SpanStatusCode, trace } from "@opentelemetry/api"
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http"
import { resourceFromAttributes } from "@opentelemetry/resources"
import { BasicTracerProvider, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base"
import { type Event, validate, validateRun } from "@orangebox/contract"
import { type EventRecord, MemorySink } from "@orangebox/recorder"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { encodeJsonRequest } from "../src/formats/otlp/decode-protobuf.js"
import { hex, logsJson, openDoor, type SpanGiven, spanJson, type TestDoor, tracesJson } from "./otlp.js"

const only = async (door: TestDoor): Promise<Event[]> => {
  const runs = [...(await door.runs()).values()]
  expect(runs).toHaveLength(1)
  return runs[0]!
}

const told = (events: readonly Event[], type: string): Event[] => events.filter(({ event_type }) => event_type === type)

/** Nothing an event, or a run as a whole, breaks. */
function expectSound(events: readonly Event[]): void {
  expect(events.flatMap((event) => validate(event))).toEqual([])
  expect(validateRun(events).filter(({ severity }) => severity === "error")).toEqual([])
}

const textOf = (door: TestDoor, event: Event, field: string): string =>
  door.sink.textOf((event.payload as Record<string, string>)[field]) ?? ""

const USAGE = { prompt: 100, completion: 20, cache_read: 60 }

/** One model call, as each convention writes it. */
const CALLS: Readonly<Record<string, Pick<SpanGiven, "name" | "attributes" | "events">>> = {
  "GenAI from 1.37 on": {
    name: "chat gpt-5",
    attributes: {
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "openai",
      "gen_ai.request.model": "gpt-5",
      "gen_ai.response.model": "gpt-5-2026",
      "gen_ai.response.finish_reasons": ["stop"],
      "gen_ai.usage.input_tokens": 100,
      "gen_ai.usage.output_tokens": 20,
      "gen_ai.usage.cache_read.input_tokens": 60,
      "gen_ai.input.messages": JSON.stringify([{ role: "user", parts: [{ type: "text", content: "Is it sunny?" }] }]),
      "gen_ai.output.messages": JSON.stringify([
        { role: "assistant", parts: [{ type: "text", content: "It is." }], finish_reason: "stop" },
      ]),
    },
  },
  "GenAI up to 1.36, messages as events": {
    name: "chat gpt-5",
    attributes: {
      "gen_ai.operation.name": "chat",
      "gen_ai.system": "openai",
      "gen_ai.request.model": "gpt-5",
      "gen_ai.response.model": "gpt-5-2026",
      "gen_ai.response.finish_reasons": ["stop"],
      "gen_ai.usage.prompt_tokens": 100,
      "gen_ai.usage.completion_tokens": 20,
      "gen_ai.usage.cache_read_input_tokens": 60,
    },
    events: [
      { name: "gen_ai.user.message", attributes: { content: "Is it sunny?" } },
      {
        name: "gen_ai.choice",
        attributes: { finish_reason: "stop", message: JSON.stringify({ role: "assistant", content: "It is." }) },
      },
    ],
  },
  OpenLLMetry: {
    name: "openai.chat",
    attributes: {
      "llm.request.type": "chat",
      "gen_ai.system": "openai",
      "gen_ai.request.model": "gpt-5",
      "gen_ai.response.model": "gpt-5-2026",
      "gen_ai.usage.input_tokens": 100,
      "gen_ai.usage.output_tokens": 20,
      "gen_ai.usage.cache_read_input_tokens": 60,
      "gen_ai.prompt.0.role": "user",
      "gen_ai.prompt.0.content": "Is it sunny?",
      "gen_ai.completion.0.role": "assistant",
      "gen_ai.completion.0.content": "It is.",
      "gen_ai.completion.0.finish_reason": "stop",
    },
  },
  OpenInference: {
    name: "ChatCompletion",
    attributes: {
      "openinference.span.kind": "LLM",
      "llm.provider": "openai",
      "llm.model_name": "gpt-5",
      "llm.response.model_name": "gpt-5-2026",
      "llm.finish_reason": "stop",
      "llm.token_count.prompt": 100,
      "llm.token_count.completion": 20,
      "llm.token_count.prompt_details.cache_read": 60,
      "llm.input_messages.0.message.role": "user",
      "llm.input_messages.0.message.content": "Is it sunny?",
      "llm.output_messages.0.message.role": "assistant",
      "llm.output_messages.0.message.content": "It is.",
    },
  },
}

describe("[I-01] a model call over OTLP", () => {
  for (const [convention, call] of Object.entries(CALLS)) {
    test(`reads the same in the names of ${convention}`, async () => {
      const door = openDoor()
      expect(
        await door.send(
          "traces",
          tracesJson([spanJson({ id: 1, name: "POST /ask" }), spanJson({ id: 2, parent: 1, ...call })]),
        ),
      ).toBe(200)
      const events = await only(door)
      expectSound(events)
      const [called] = told(events, "model_called")
      const [result] = told(events, "model_result")
      expect(called!.payload).toMatchObject({ provider: "openai", model_id: "gpt-5" })
      expect(called!.step_id).toBe(hex(2, 16))
      expect(result!.payload).toMatchObject({
        model_id: "gpt-5-2026",
        finish_reason: "stop",
        token_usage: USAGE,
        output_summary: "It is.",
      })
      expect(textOf(door, called!, "request_ref")).toContain("Is it sunny?")
      expect(called!.inferred_by).toBeUndefined()
      expect(called!.artifact_refs[0]!.mime_type).toBe("application/vnd.orangebox.told+json")
    })
  }

  test("usage of agents, which repeats that of their calls, is counted once", async () => {
    const door = openDoor()
    const usage = { "gen_ai.usage.input_tokens": 100, "gen_ai.usage.output_tokens": 20 }
    await door.send(
      "traces",
      tracesJson([
        spanJson({
          id: 1,
          name: "invoke_agent a",
          attributes: { "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "a", ...usage },
          from: 0,
          to: 100,
        }),
        spanJson({ id: 2, parent: 1, ...CALLS["GenAI from 1.37 on"]! }),
      ]),
    )
    const events = await only(door)
    expect(told(events, "model_result")).toHaveLength(1)
    expect(events[0]).toMatchObject({
      event_type: "run_started",
      step_id: hex(1, 16),
      payload: { entrypoint_name: "a" },
    })
    expect(events[0]!.inferred_by).toBeUndefined()
  })

  test("cached tokens counted beside the input are added to it, and that is marked as deduced", async () => {
    const door = openDoor()
    const attributes = {
      "gen_ai.operation.name": "chat",
      "gen_ai.usage.input_tokens": 10,
      "gen_ai.usage.output_tokens": 1,
      "gen_ai.usage.cache_read_input_tokens": 500,
      "gen_ai.usage.cache_creation_input_tokens": 5,
    }
    await door.send("traces", tracesJson([spanJson({ id: 1, attributes })]))
    const [result] = told(await only(door), "model_result")
    expect(result).toMatchObject({ inferred_by: "otlp", payload: { token_usage: { prompt: 515, total: 516 } } })
  })

  test("no usage is unknown, not nothing", async () => {
    const door = openDoor()
    await door.send("traces", tracesJson([spanJson({ id: 1, attributes: { "gen_ai.operation.name": "chat" } })]))
    expect(told(await only(door), "model_result")[0]!.payload).toMatchObject({
      token_usage: { prompt: null, completion: null, total: null },
    })
  })
})

/** An agent with tools, a retrieval and an error, of three services and two traces. */
const AGENT: readonly SpanGiven[] = [
  {
    id: 1,
    name: "invoke_agent fixer",
    attributes: {
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.name": "fixer",
      "gen_ai.conversation.id": "c-1",
    },
    from: 0,
    to: 900,
  },
  { id: 2, parent: 1, ...CALLS["GenAI from 1.37 on"]!, from: 10, to: 200 },
  {
    id: 3,
    parent: 1,
    name: "execute_tool ls",
    attributes: {
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": "ls",
      "gen_ai.tool.call.id": "t1",
      "gen_ai.tool.call.arguments": '{"path":"."}',
      "gen_ai.tool.call.result": "README.md",
    },
    from: 210,
    to: 220,
  },
  {
    id: 4,
    parent: 1,
    name: "search",
    attributes: {
      "openinference.span.kind": "RETRIEVER",
      "input.value": "leap years",
      "retrieval.documents.0.document.id": "d1",
      "retrieval.documents.0.document.score": 0.5,
      "retrieval.documents.0.document.content": "every fourth",
    },
    from: 230,
    to: 300,
  },
  { id: 5, parent: 1, ...CALLS["OpenInference"]!, from: 310, to: 500 },
  {
    id: 6,
    parent: 3,
    name: "readdir",
    from: 212,
    to: 213,
    events: [{ name: "exception", attributes: { "exception.type": "ENOENT", "exception.message": "gone" } }],
    error: "gone",
  },
]

describe("[I-01] the order of arrival", () => {
  const expected = async (): Promise<string[]> => {
    const door = openDoor()
    await door.send("traces", tracesJson(AGENT.map(spanJson)))
    return door.digests()
  }

  test("leaves no trace: shuffled, doubled and cut into single spans, the run's digest is the same", async () => {
    const digests = await expected()
    await fc.assert(
      fc.asyncProperty(
        fc.shuffledSubarray([...AGENT, ...AGENT], { minLength: AGENT.length * 2, maxLength: AGENT.length * 2 }),
        fc.integer({ min: 1, max: 4 }),
        async (spans, size) => {
          const door = openDoor()
          for (let at = 0; at < spans.length; at += size)
            await door.send("traces", tracesJson(spans.slice(at, at + size).map(spanJson)))
          expect(await door.digests()).toEqual(digests)
        },
      ),
      { numRuns: 60 },
    )
  })

  test("protobuf and gzip carry the same run as JSON", async () => {
    const door = openDoor()
    const bytes = encodeJsonRequest("traces", tracesJson(AGENT.map(spanJson)))
    const headers = { "content-type": "application/x-protobuf", "content-encoding": "gzip" }
    const answer = await door.door.handle("/v1/traces", headers, gzipSync(bytes))
    expect([answer.status, answer.headers["content-type"], answer.body.length]).toEqual([
      200,
      "application/x-protobuf",
      0,
    ])
    expect(await door.digests()).toEqual(await expected())
  })

  test("tells tools, retrievals, errors and nesting", async () => {
    const door = openDoor()
    await door.send("traces", tracesJson(AGENT.map(spanJson)))
    const events = await only(door)
    expectSound(events)
    expect(events[0]).toMatchObject({ conversation_id: "c-1", payload: { app_id: "shop" } })
    const [tool] = told(events, "tool_called")
    expect(tool).toMatchObject({
      step_id: hex(3, 16),
      parent_step_id: hex(1, 16),
      payload: { tool_name: "ls", tool_call_id: "t1" },
    })
    expect(told(events, "retrieval_executed")[0]!.payload).toMatchObject({ candidate_count: 1, retriever_id: "search" })
    const failed = told(events, "step_ended").find(({ step_id }) => step_id === hex(6, 16))
    expect(failed!.payload).toMatchObject({ status: "error", error_summary: "gone" })
    expect(told(events, "log").map(({ payload }) => (payload as { message: string }).message)).toContain("ENOENT: gone")
    expect(told(events, "run_completed")[0]!.payload).toMatchObject({ total_latency_ms: 900 })
  })

  test("keeps what is said of the process: its version, where it runs, and everything else", async () => {
    const door = openDoor()
    const resource = { "service.version": "2.4.1", "deployment.environment.name": "production", "host.name": "web-3" }
    await door.send("traces", tracesJson(AGENT.map(spanJson), "shop", resource))
    const [started] = told(await only(door), "run_started")
    expect(started).toMatchObject({
      payload: { agent_version: "2.4.1", environment: "prod" },
      attributes: { "resource.host.name": "web-3" },
    })
  })

  test("what comes after its run was told is a run of its own, and what comes again is nothing", async () => {
    const door = openDoor()
    await door.send("traces", tracesJson(AGENT.slice(0, 5).map(spanJson)))
    const [first] = [...(await door.runs()).keys()]
    await door.send("traces", tracesJson(AGENT.map(spanJson)))
    await door.runs()
    await door.send("traces", tracesJson(AGENT.map(spanJson)))
    const runs = await door.runs()
    expect(runs.size).toBe(2)
    const late = [...runs.values()].find(([event]) => event!.run_id !== first)!
    expectSound(late)
    expect(late[0]!.links).toContainEqual({ kind: "follows", run_id: first, reason: "spans of it that came late" })
  })

  test("spans without their root are told as an open run, which later ones extend and the root ends", async () => {
    const door = openDoor()
    await door.send("traces", tracesJson(AGENT.slice(1, 4).map(spanJson)))
    const open = await only(door)
    expect(told(open, "run_completed")).toEqual([])
    expect(open[0]!.inferred_by).toBe("otlp")
    await door.send("traces", tracesJson([AGENT[0]!, AGENT[4]!].map(spanJson)))
    const whole = await only(door)
    expect(whole.slice(0, open.length)).toEqual(open)
    expect(told(whole, "run_completed")).toHaveLength(1)
    expect(told(whole, "model_called")).toHaveLength(2)
    expectSound(whole)
  })
})

describe("[I-01] log records", () => {
  test("with a span become part of its step: messages of a call, evaluations, and logs", async () => {
    const door = openDoor()
    const { attributes } = CALLS["GenAI up to 1.36, messages as events"]!
    const at = { traceId: hex(1, 32), spanId: hex(2, 16), timeUnixNano: "1770000000020000000" }
    const string = (key: string, value: string) => ({ key, value: { stringValue: value } })
    await door.send(
      "logs",
      logsJson([
        {
          ...at,
          eventName: "gen_ai.user.message",
          body: { kvlistValue: { values: [string("content", "Is it sunny?")] } },
        },
        {
          ...at,
          eventName: "gen_ai.evaluation.result",
          attributes: [
            string("gen_ai.evaluation.name", "tone"),
            string("gen_ai.evaluation.score.label", "fail"),
            { key: "gen_ai.evaluation.score.value", value: { doubleValue: 0.25 } },
          ],
        },
        { ...at, severityNumber: 17, body: { stringValue: "disk full" } },
      ]),
    )
    await door.send(
      "traces",
      tracesJson([
        spanJson({ id: 1 }),
        spanJson({ id: 2, parent: 1, ...(attributes === undefined ? {} : { attributes }) }),
      ]),
    )
    const events = await only(door)
    expectSound(events)
    expect(textOf(door, told(events, "model_called")[0]!, "request_ref")).toContain("Is it sunny?")
    expect(told(events, "evaluation")[0]!.payload).toMatchObject({
      evaluator: "tone",
      quality: "fail",
      score: 0.25,
      subject_step_id: hex(2, 16),
    })
    expect(told(events, "log")[0]!.payload).toMatchObject({ level: "error", message: "disk full" })
  })

  test("of Claude Code become a run per prompt, its usage summed from its parts", async () => {
    const door = openDoor()
    const record = (name: string, sequence: number, attributes: Record<string, string>) => ({
      timeUnixNano: String(1_770_000_000_000_000_000n + BigInt(sequence) * 1_000_000_000n),
      attributes: Object.entries({
        "event.name": name,
        "event.sequence": String(sequence),
        "session.id": "s-1",
        "prompt.id": "p-1",
        ...attributes,
      }).map(([key, value]) => ({ key, value: { stringValue: value } })),
      body: { stringValue: `claude_code.${name}` },
    })
    const records = [
      record("user_prompt", 1, { prompt: "Fix it" }),
      record("api_request", 2, {
        model: "claude-x",
        input_tokens: "10",
        output_tokens: "5",
        cache_read_tokens: "100",
        cache_creation_tokens: "7",
        duration_ms: "900",
        cost_usd: "0.01",
      }),
      record("tool_decision", 3, { tool_name: "Bash", decision: "accept", source: "config" }),
      record("tool_result", 4, { tool_name: "Bash", success: "false", duration_ms: "30", error: "exit 1" }),
      record("api_error", 5, { model: "claude-x", error: "overloaded", status_code: "529", duration_ms: "10" }),
    ]
    for (const one of [...records].reverse())
      await door.send("logs", logsJson([one, one], "claude-code", "com.anthropic.claude_code.events"))
    const events = await only(door)
    expectSound(events)
    expect(events[0]).toMatchObject({
      conversation_id: "s-1",
      payload: { app_id: "claude-code", input_summary: "Fix it" },
    })
    expect(told(events, "model_result").map(({ payload }) => payload)).toMatchObject([
      { token_usage: { prompt: 117, completion: 5, cache_read: 100, cache_write: 7 }, latency_ms: 900 },
      { status: "error", http_status: 529, token_usage: { prompt: null } },
    ])
    expect(told(events, "tool_result")[0]!.payload).toMatchObject({
      tool_name: "Bash",
      status: "error",
      error_summary: "exit 1",
    })
    expect(told(events, "safety_decision")[0]!.payload).toMatchObject({ decision: "allow" })
    expect(told(events, "run_completed")[0]!.inferred_by).toBe("otlp")
  })

  test("without a trace make no run, and are kept", async () => {
    const door = openDoor()
    await door.send("logs", logsJson([{ body: { stringValue: "hello from nowhere" } }]))
    expect((await door.runs()).size).toBe(0)
    expect(
      door.sink.events.some(({ payload }) => (payload as { message?: string }).message?.includes("hello from nowhere")),
    ).toBe(true)
  })
})

describe("[I-01] answers", () => {
  const send = (
    body: Uint8Array | string,
    headers: Record<string, string> = { "content-type": "application/json" },
    path = "/v1/traces",
    door = openDoor(),
  ) => door.door.handle(path, headers, Buffer.from(body))
  const PROTOBUF = { "content-type": "application/x-protobuf" }

  test("are those of the specification for whatever is sent", async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024))
    const deep = `${'{"a":'.repeat(5000)}1${"}".repeat(5000)}`
    const cases: [string, Promise<{ status: number }>, number][] = [
      ["an empty request", send("{}"), 200],
      ["an empty protobuf", send("", PROTOBUF), 200],
      ["another path", send("{}", undefined, "/v1/profiles"), 404],
      ["another content type", send("{}", { "content-type": "text/plain" }), 415],
      ["no content type", send("{}", {}), 415],
      ["another encoding", send("{}", { "content-type": "application/json", "content-encoding": "br" }), 415],
      ["no JSON", send("{"), 400],
      ["a list", send("[]"), 400],
      ["JSON nested 5,000 deep", send(deep), 400],
      ["broken protobuf", send(Buffer.from([0x0a, 0xff, 0xff, 0x01]), PROTOBUF), 400],
      ["protobuf of nothing in particular", send(Buffer.from("hello world, this is no protobuf"), PROTOBUF), 400],
      ["no gzip", send("hello", { ...PROTOBUF, "content-encoding": "gzip" }), 400],
      ["a zip bomb", send(bomb, { ...PROTOBUF, "content-encoding": "gzip" }), 413],
      ["21 MiB", send(Buffer.alloc(21 * 1024 * 1024), PROTOBUF), 413],
      ["metrics", send("{}", undefined, "/v1/metrics"), 200],
    ]
    for (const [what, answer, status] of cases) expect([what, (await answer).status]).toEqual([what, status])
    expect(Buffer.from((await send("{")).body).toString()).toContain("not JSON")
  })

  test("spans without ids are rejected by number, and the others are taken", async () => {
    const door = openDoor()
    const answer = await send(
      JSON.stringify(tracesJson([{ name: "nobody" }, spanJson({ id: 1 })])),
      undefined,
      "/v1/traces",
      door,
    )
    expect(JSON.parse(Buffer.from(answer.body).toString())).toMatchObject({ partialSuccess: { rejectedSpans: "1" } })
    expect((await door.runs()).size).toBe(1)
  })

  test("200 comes only when the request is in the journal, its secrets masked; else 503 and when to come again", async () => {
    class FullSink extends MemorySink {
      isFull = true
      #dropped = 0
      override emit(record: EventRecord): void {
        if (this.isFull) this.#dropped++
        else super.emit(record)
      }
      override counts() {
        return { written: this.records.length, dropped: this.#dropped }
      }
    }
    const sink = new FullSink()
    const door = openDoor(sink)
    const secret = `sk-ant-api03-${"aB3xK9".repeat(15)}-AA`
    const body = JSON.stringify(
      tracesJson([
        spanJson({ id: 1, attributes: { "gen_ai.operation.name": "chat", "gen_ai.prompt": `use ${secret}` } }),
      ]),
    )
    const refused = await send(body, undefined, "/v1/traces", door)
    expect([refused.status, refused.headers["retry-after"]]).toEqual([503, "5"])
    sink.isFull = false
    expect((await door.runs()).size).toBe(0)
    expect((await send(body, undefined, "/v1/traces", door)).status).toBe(200)
    expect(sink.events).toHaveLength(1)
    const kept = [...sink.bodies.values()].map((bytes) => Buffer.from(bytes).toString()).join("\n")
    expect(kept).toContain(hex(1, 16))
    await door.runs()
    const all =
      [...sink.bodies.values()].map((bytes) => Buffer.from(bytes).toString()).join("\n") +
      sink.records.map(({ json }) => json).join("\n")
    expect(all).not.toContain(secret.slice(20, 60))
  })

  test("what a dead process had received is made into the same run by the next one", async () => {
    const [first, second] = [openDoor(), openDoor()]
    await first.send("traces", tracesJson(AGENT.map(spanJson)))
    const [received] = [...first.sink.bodies.values()]
    second.door.recover(received!)
    expect(await second.digests()).toEqual(await first.digests())
  })
})

describe("odd spans", () => {
  test("circles, missing parents, negative durations and clocks years off make sound runs, and nothing is lost", async () => {
    const door = openDoor()
    const spans = [
      spanJson({ id: 1, parent: 2 }),
      spanJson({ id: 2, parent: 3 }),
      spanJson({ id: 3, parent: 1 }),
      spanJson({ id: 4, parent: 99 }),
      spanJson({ id: 5, parent: 4, from: 50, to: 10 }),
      spanJson({ id: 6, parent: 6 }),
      { ...spanJson({ id: 7 }), startTimeUnixNano: "0", endTimeUnixNano: "18446744073709551615" },
      { ...spanJson({ id: 8 }), startTimeUnixNano: "1", endTimeUnixNano: "1" },
      { ...spanJson({ id: 9 }), name: "\u0000\u001b[31m", attributes: "no list", events: [null, 7], links: [{}] },
    ]
    expect(await door.send("traces", tracesJson(spans))).toBe(200)
    const events = await only(door)
    expectSound(events)
    const opened = new Set(told(events, "step_started").map(({ step_id }) => step_id))
    expect(opened.size).toBe(spans.length)
  })

  test("a chain of 20,000 spans and one with 20,000 children and attributes are told without running out of stack", async () => {
    const door = openDoor()
    const chain = Array.from({ length: 20_000 }, (_, at) =>
      spanJson({ id: at + 1, ...(at === 0 ? {} : { parent: at }) }),
    )
    const wide = Array.from({ length: 20_000 }, (_, at) =>
      spanJson({ id: at + 1, trace: 2, ...(at === 0 ? {} : { parent: 1 }) }),
    )
    const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`a${at}`, at]))
    await door.send("traces", tracesJson(chain))
    await door.send(
      "traces",
      tracesJson([...wide.slice(0, -1), spanJson({ id: 20_000, trace: 2, parent: 1, attributes: many })]),
    )
    const runs = [...(await door.runs()).values()]
    expect(runs.map((events) => events.length)).toEqual([40_000, 40_000])
  })
})

describe("[I-01] the official JavaScript SDK", () => {
  test("sends to the door as its exporter does, and the run has its spans", async () => {
    const door = openDoor()
    const server = createServer((request, response) => {
      const pieces: Buffer[] = []
      request.on("data", (piece: Buffer) => pieces.push(piece))
      request.on("end", async () => {
        const { status, headers, body } = await door.door.handle(request.url!, request.headers, Buffer.concat(pieces))
        response.writeHead(status, headers).end(body)
      })
    })
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const { port } = server.address() as AddressInfo
    const exporter = new OTLPTraceExporter({ url: `http://127.0.0.1:${port}/v1/traces` })
    const provider = new BasicTracerProvider({
      resource: resourceFromAttributes({ "service.name": "js-agent" }),
      spanProcessors: [new SimpleSpanProcessor(exporter)],
    })
    const tracer = provider.getTracer("agent", "1.0.0")
    const root = tracer.startSpan("invoke_agent planner", { attributes: { "gen_ai.operation.name": "invoke_agent" } })
    const inside = trace.setSpan(context.active(), root)
    const call = tracer.startSpan(
      "chat gpt-5",
      {
        attributes: {
          "gen_ai.operation.name": "chat",
          "gen_ai.request.model": "gpt-5",
          "gen_ai.usage.input_tokens": 12,
        },
      },
      inside,
    )
    call.recordException(new Error("model overloaded"))
    call.setStatus({ code: SpanStatusCode.ERROR, message: "model overloaded" })
    call.end()
    root.end()
    await provider.forceFlush()
    await provider.shutdown()
    server.close()
    const events = await only(door)
    expectSound(events)
    expect(events[0]!.payload).toMatchObject({ app_id: "js-agent" })
    expect(events[0]!.trace_id).toBe(root.spanContext().traceId)
    expect(told(events, "model_result")[0]).toMatchObject({
      step_id: call.spanContext().spanId,
      payload: { status: "error", error_summary: "model overloaded", token_usage: { prompt: 12, completion: null } },
    })
  })
})

const CORPORA = join(import.meta.dirname, "..", "..", "..", "..", "shared", "corpora", "otlp-samples")

describe.skipIf(!existsSync(CORPORA))("[I-01] every sample of the corpora", () => {
  const read = (path: string): unknown => JSON.parse(gunzipSync(readFileSync(join(CORPORA, path))).toString("utf8"))

  test("of the protocol itself is taken", async () => {
    for (const [name, signal] of [
      ["trace", "traces"],
      ["logs", "logs"],
      ["events", "logs"],
      ["metrics", "metrics"],
    ] as const) {
      const door = openDoor()
      expect([
        name,
        await door.send(signal as "traces", read(`opentelemetry-proto/${name}.json.gz`) as object),
      ]).toEqual([name, 200])
      const runs = await door.runs()
      expect([name, runs.size]).toEqual([name, name === "trace" ? 1 : 0])
      for (const events of runs.values()) expectSound(events)
    }
  })

  test("of a framework becomes one run, its usage that of the sample's generations", async () => {
    const folder = "langfuse-framework-traces/chatml"
    for (const file of readdirSync(join(CORPORA, folder)).filter((name) => name.includes(".trace."))) {
      const { observations } = read(`${folder}/${file}`) as { observations: Record<string, never>[] }
      const door = openDoor()
      const spans = observations.map((one) => {
        const { attributes = {} } = JSON.parse(one["metadata"] ?? "{}") as { attributes?: Record<string, unknown> }
        const nanos = (time: string): string => `${Date.parse(time)}000000`
        const isCall =
          one["type"] === "GENERATION" && Object.keys(attributes).every((name) => !/^(?:gen_ai|llm|ai)\./.test(name))
        const said = isCall
          ? {
              "gen_ai.operation.name": "chat",
              "gen_ai.usage.input_tokens": one["inputUsage"],
              "gen_ai.usage.output_tokens": one["outputUsage"],
              "gen_ai.request.model": one["model"] ?? "?",
            }
          : {}
        return {
          ...(spanJson({ id: 1, attributes: { ...attributes, ...said } }) as object),
          traceId: one["traceId"],
          spanId: one["id"],
          parentSpanId: one["parentObservationId"] ?? "",
          name: one["name"],
          startTimeUnixNano: nanos(one["startTime"]!),
          endTimeUnixNano: nanos(one["endTime"] ?? one["startTime"]!),
        }
      })
      await door.send("traces", tracesJson(spans))
      const events = await only(door)
      expectSound(events)
      const counted = told(events, "model_result").reduce(
        (sum, { payload }) => sum + ((payload as { token_usage: { prompt: number | null } }).token_usage.prompt ?? 0),
        0,
      )
      // The AI SDK's outer spans repeat what their calls used.
      const outer = new Set(
        observations.flatMap((one) => (one["type"] === "GENERATION" ? (one["parentObservationId"] ?? []) : [])),
      )
      const expected = observations
        .filter(({ type, id }) => type === "GENERATION" && !outer.has(id!))
        .reduce((sum, one) => sum + Number(one["inputUsage"] ?? 0), 0)
      expect([file, counted]).toEqual([file, expected])
    }
  })
})
