import Anthropic from "@anthropic-ai/sdk"
import { parseProfile } from "@orangebox/replay"
import { describe, expect, test } from "vitest"
import { rawRequest } from "./raw-client.js"
import { type Recorded, recordThroughProxy, replayThroughProxy } from "./replayed-proxy.js"
import { startUpstream } from "./upstream.js"

type Use = (baseUrl: string) => Promise<unknown>

const record = (origin: string, use: Use): Promise<Recorded> =>
  recordThroughProxy({ anthropic: origin }, (urlFor) => use(urlFor("anthropic")))

const replay = (
  recorded: Recorded,
  origin: string,
  use: Use,
  more?: Parameters<typeof replayThroughProxy>[3],
): ReturnType<typeof replayThroughProxy> =>
  replayThroughProxy(recorded, { anthropic: origin }, (urlFor) => use(urlFor("anthropic")), more)

const frame = (data: { type: string }): string => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
const stream = (text: string): string =>
  [
    {
      type: "message_start",
      message: {
        id: "msg_1",
        type: "message",
        role: "assistant",
        model: "claude-x",
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: 3, output_tokens: 1 },
      },
    },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    ...(text.match(/.{1,4}/gs) ?? []).map((part) => ({
      type: "content_block_delta",
      index: 0,
      delta: { type: "text_delta", text: part },
    })),
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage: { output_tokens: 9 } },
    { type: "message_stop" },
  ]
    .map(frame)
    .join("")

/** An upstream that counts, and answers each request with what it was asked. */
async function echo() {
  let asked = 0
  const upstream = await startUpstream((request, response) => {
    asked++
    const {
      stream: isStream,
      messages,
      model,
    } = JSON.parse(request.body.toString()) as { stream?: boolean; model: string; messages: { content: string }[] }
    const text = `${model} heard ${messages.at(-1)!.content} (${asked})`
    if (isStream) {
      response.writeHead(200, { "content-type": "text/event-stream", "request-id": `req_${asked}` })
      response.end(stream(text))
      return
    }
    response.writeHead(200, { "content-type": "application/json", "request-id": `req_${asked}` })
    response.end(
      JSON.stringify({
        id: "msg_2",
        type: "message",
        role: "assistant",
        model,
        content: [{ type: "text", text }],
        stop_reason: "end_turn",
        stop_sequence: null,
        usage: { input_tokens: 3, output_tokens: 9 },
      }),
    )
  })
  return { origin: upstream.origin, asked: () => asked }
}

const ask = (client: Anthropic, content: string, isStream: boolean): Promise<string> => {
  const body = { model: "claude-x", max_tokens: 64, messages: [{ role: "user" as const, content }] }
  const reply = isStream ? client.messages.stream(body).finalMessage() : client.messages.create(body)
  return reply.then(({ content: [first] }) => (first?.type === "text" ? first.text : ""))
}

const clientOf = (baseURL: string): Anthropic => new Anthropic({ baseURL, apiKey: "test-key", maxRetries: 0 })

describe("[P-03] a recorded agent runs again against the tape", () => {
  test("the official SDK gets equal answers, streams included, from no upstream at all, and the replay is certified", async () => {
    const upstream = await echo()
    const agent: Use = async (url) => {
      const client = clientOf(url)
      const first = await ask(client, "one", false)
      const many = await Promise.all(["two", "three", "four"].map((text, i) => ask(client, text, i % 2 === 0)))
      return [first, ...many, await ask(client, first, true), await ask(client, "one", false)]
    }
    let recordedAnswers: unknown
    const recorded = await record(upstream.origin, async (url) => {
      recordedAnswers = await agent(url)
    })
    const before = upstream.asked()
    const { said, certification, events } = await replay(recorded, upstream.origin, agent)
    expect(said).toEqual(recordedAnswers)
    expect(upstream.asked()).toBe(before)
    expect(certification.report.egress.upstream_sockets).toBe(0)
    expect({ issued: certification.issued, report: certification.report.divergences }).toEqual({
      issued: true,
      report: [],
    })
    const calls = events.filter(({ event_type }) => event_type === "model_called")
    expect(calls.map(({ determinism_mode, actor_type }) => [determinism_mode, actor_type])).toEqual(
      calls.map(() => ["exact", "replay_engine"]),
    )
  })

  test("thirty concurrent calls of equal shape each get their own answer", async () => {
    const upstream = await echo()
    const agent: Use = (url) =>
      Promise.all(Array.from({ length: 30 }, (_, i) => ask(clientOf(url), `question ${i}`, i % 2 === 0)))
    let answers: unknown
    const recorded = await record(upstream.origin, async (url) => {
      answers = await agent(url)
    })
    for (let round = 0; round < 3; round++) {
      expect((await replay(recorded, upstream.origin, agent)).said).toEqual(answers)
    }
    expect(upstream.asked()).toBe(30)
  })

  test("[P-06] a changed request is refused where it happens with the place that differs, never retried, never forwarded; no certificate", async () => {
    const upstream = await echo()
    const recorded = await record(upstream.origin, (url) => ask(clientOf(url), "as it was", false))
    const before = upstream.asked()
    const { said, certification } = await replay(recorded, upstream.origin, (url) =>
      ask(new Anthropic({ baseURL: url, apiKey: "test-key", maxRetries: 3 }), "as it is now", false),
    )
    expect(String(said)).toMatch(/422.*REQ_CHANGED/s)
    expect(upstream.asked()).toBe(before)
    expect(certification.issued).toBe(false)
    const [divergence] = certification.report.divergences
    expect(divergence).toMatchObject({ code: "REQ_CHANGED" })
    expect(JSON.stringify(divergence)).toContain("/messages/0/content")
  })

  test("a request more than was recorded is exhaustion, one never asked is missing, and no traffic at all is an error", async () => {
    const upstream = await echo()
    const recorded = await record(upstream.origin, async (url) => {
      await ask(clientOf(url), "one", false)
      await ask(clientOf(url), "two", false)
    })
    const codes = async (use: Use): Promise<string[]> =>
      (await replay(recorded, upstream.origin, use)).certification.report.divergences.map(({ code }) => code)
    expect(
      await codes(async (url) => {
        for (const text of ["one", "two", "two"]) await ask(clientOf(url), text, false)
      }),
    ).toContain("OCCURRENCE_EXHAUSTED")
    expect(await codes((url) => ask(clientOf(url), "one", false))).toContain("REQ_MISSING")
    expect(await codes(async () => {})).toContain("NO_TRAFFIC")
  })

  test("[P-08] a recorded reset breaks off at the same byte; a client that leaves is not an error of the proxy", async () => {
    const half = stream("a long answer that never ends").slice(0, 400)
    const upstream = await startUpstream((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" })
      response.write(half)
      setTimeout(() => response.socket?.destroy(), 30)
    })
    const read: Use = async (url) => {
      const response = await fetch(`${url}/v1/messages`, {
        method: "POST",
        body: JSON.stringify({ model: "claude-x", stream: true, messages: [{ role: "user", content: "x" }] }),
      })
      let bytes = 0
      try {
        for await (const piece of response.body!) bytes += (piece as Uint8Array).length
        return { bytes, broken: false }
      } catch {
        return { bytes, broken: true }
      }
    }
    let first: unknown
    const recorded = await record(upstream.origin, async (url) => {
      first = await read(url)
    })
    const { said } = await replay(recorded, upstream.origin, read)
    expect(first).toEqual({ bytes: half.length, broken: true })
    expect(said).toEqual(first)
  })
})

test("[P-08] where the recorded client left, one that stays is told so: its answer breaks off, and the report says why", async () => {
  const upstream = await startUpstream((_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" })
    response.write(frame({ type: "ping" }))
    const timer = setInterval(() => response.write(frame({ type: "ping" })), 5)
    response.on("close", () => clearInterval(timer))
  })
  const read =
    (pieces: number): Use =>
    async (url) => {
      const leaving = new AbortController()
      const body = JSON.stringify({ model: "claude-x", stream: true, messages: [{ role: "user", content: "x" }] })
      const response = await fetch(`${url}/v1/messages`, { method: "POST", body, signal: leaving.signal })
      let seen = 0
      try {
        for await (const _ of response.body!) if (++seen >= pieces) leaving.abort()
        return "whole"
      } catch {
        return leaving.signal.aborted ? "left" : "broken"
      }
    }
  const recorded = await record(upstream.origin, read(3))
  const same = await replay(recorded, upstream.origin, read(1))
  expect({ said: same.said, divergences: same.certification.report.divergences }).toEqual({
    said: "left",
    divergences: [],
  })
  const stays = await replay(recorded, upstream.origin, read(Number.POSITIVE_INFINITY))
  expect(stays.said).toBe("broken")
  expect(stays.certification.issued).toBe(false)
  expect(stays.certification.report.divergences).toMatchObject([{ code: "RECORDING_ENDS", severity: "halt" }])
})

test("[P-04] a fork answers what came before from the tape and asks the upstream behind it, changed as the profile says", async () => {
  const upstream = await echo()
  const agent: Use = async (url) => {
    const client = clientOf(url)
    const first = await ask(client, "one", false)
    return [first, await ask(client, `then ${first}`, false)]
  }
  const recorded = await record(upstream.origin, agent)
  const second = recorded.tape.calls.filter(({ kind }) => kind === "model")[1]!
  const profile = parseProfile({
    schema_version: 1,
    rules: [{ id: "swap", select: { kind: "model" }, op: { type: "model.swap", model: "claude-y" } }],
  })
  const before = upstream.asked()
  const { said, certification, events } = await replay(recorded, upstream.origin, agent, {
    policy: { reason: "what_if" },
    fork: { stepId: second.stepId, profile },
  })
  expect(said).toEqual(["claude-x heard one (1)", expect.stringMatching(/^claude-y heard then/)])
  expect(upstream.asked()).toBe(before + 1)
  expect(certification.issued).toBe(false)
  const modes = events
    .filter(({ event_type }) => event_type === "model_called")
    .map(({ determinism_mode }) => determinism_mode)
  expect(modes).toEqual(["exact", "live"])
})

test("[P-03] a call whose upstream could not be reached, or hung up, fails again in the same words, and the replay is certified", async () => {
  const hangingUp = await startUpstream((_, response) => void response.socket?.destroy())
  for (const origin of ["http://127.0.0.1:9", hangingUp.origin]) {
    const said: string[] = []
    const use: Use = async (baseUrl) => {
      const body = JSON.stringify({ model: "claude-x", max_tokens: 5, messages: [{ role: "user", content: "go" }] })
      const headers = { "content-type": "application/json" }
      const response = await fetch(`${baseUrl}/v1/messages`, { method: "POST", headers, body })
      said.push(`${response.status} ${await response.text()}`)
    }
    const recorded = await record(origin, use)
    const { certification } = await replay(recorded, origin, use)
    expect(said[0]).toMatch(/^502 /)
    expect(said[1]).toBe(said[0])
    expect(certification).toMatchObject({ issued: true })
  }
})

test("[P-03] a request that is refused before the tape is asked is one too many: there is no certificate", async () => {
  const upstream = await echo()
  const agent: Use = (url) => ask(clientOf(url), "one", false)
  const recorded = await record(upstream.origin, agent)
  const post = (url: string, body: string): Promise<unknown> => fetch(url, { method: "POST", body })
  const strays: readonly Use[] = [
    (url) => post(`${url}/v1/messages`, "x".repeat(33 * 1024 * 1024)),
    (url) => post(`${url.replace(/anthropic$/, "nobody")}/v1/messages`, "{}"),
    (url) => rawRequest(Number(new URL(url).port), `POST /x HTTP/1.1\r\nx: ${"a".repeat(70_000)}\r\n\r\n`),
  ]
  for (const stray of strays) {
    const { certification } = await replay(recorded, upstream.origin, async (url) => {
      await agent(url)
      await stray(url).catch(() => "the connection may be gone before all is sent")
    })
    expect(certification).toMatchObject({ issued: false, report: { counts: { asked: 2, missed: 1 } } })
    expect(certification.report.divergences).toMatchObject([{ code: "REQ_EXTRA", severity: "halt" }])
  }
  expect(upstream.asked()).toBe(1)
})

test("[P-06] the kept beginning of a long answer is never served as the answer, and there is no certificate", async () => {
  const upstream = await echo()
  const agent: Use = (url) => ask(clientOf(url), "x".repeat(4000), false).catch(() => "failed")
  const recorded = await recordThroughProxy(
    { anthropic: upstream.origin },
    (urlFor) => agent(urlFor("anthropic")),
    {},
    { responseBytes: 1000 },
  )
  const { said, certification } = await replay(recorded, upstream.origin, agent)
  expect(said).toBe("failed")
  expect(certification).toMatchObject({ issued: false, report: { counts: { missed: 1, wire: 0, sig: 0 } } })
  expect(certification.report.divergences[0]).toMatchObject({
    code: "BODY_ABSENT",
    message: expect.stringContaining("only its first 1000 bytes were kept"),
  })
})
