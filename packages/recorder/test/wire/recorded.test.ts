import { spawn } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import Anthropic from "@anthropic-ai/sdk"
import type { Event } from "@orangebox/contract"
import { listJournals, readStream, tailJournal } from "@orangebox/journal"
import fc from "fast-check"
import { describe, expect, onTestFinished, test, vi } from "vitest"
import { Recorder } from "../../src/index.js"
import { breachesIn, readFolder, scratchFolder } from "../recorded-folder.js"
import { contractProblems, recordInMemory } from "../recording.js"
import { loopback, MESSAGES_REQUEST, messagesStream, sendJson, sendPieces } from "./loopback.js"

const post = (value: unknown, headers: Record<string, string> = {}): RequestInit => ({
  method: "POST",
  body: typeof value === "string" ? value : JSON.stringify(value),
  headers: { "content-type": "application/json", ...headers },
})

function journalInScratch() {
  const folder = scratchFolder()
  const recorder = Recorder.open({ app: "test-app", folder: folder.path })
  onTestFinished(() => {
    recorder.close()
    folder.remove()
  })
  return { recorder, folder: folder.path }
}

const ANSWER = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "claude-x-1",
  content: [{ type: "text", text: "sunny" }],
  stop_reason: "end_turn",
  stop_sequence: null,
  usage: { input_tokens: 12, output_tokens: 3, cache_read_input_tokens: 2000, cache_creation_input_tokens: 100 },
}

describe("what is recorded of an exchange", () => {
  test("[K-01] [K-03] [H-01] method, URL, headers, exact bytes, status, usage, cache tokens and prefix are on record", async () => {
    const { recorder, sink, only } = recordInMemory({ strict: true })
    const server = await loopback((_, response) =>
      sendJson(response, ANSWER, 200, { "request-id": "req_7", "x-a": "b" }),
    )
    const run = recorder.startRun({ entrypoint: "ask" })
    const request = {
      ...MESSAGES_REQUEST,
      temperature: 0.5,
      system: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } }],
    }
    // Spaces, because re-serialised bytes would not have them.
    const text = JSON.stringify(request, null, 2)
    await (
      await run.fetch(`${server.url}/v1/messages?beta=true`, post(text, { "anthropic-version": "2023-06-01" }))
    ).json()
    run.complete()

    const called = only("model_called").payload
    expect(called).toMatchObject({
      provider: "anthropic",
      model_id: "claude-x",
      model_api_version: "2023-06-01",
      temperature: 0.5,
      max_tokens: 64,
      stream: false,
      http_method: "POST",
      url: `${server.url}/v1/messages?beta=true`,
      cache_use: "unknown",
    })
    expect(sink.textOf(called.request_ref)).toBe(text)
    for (const digest of [
      called.call_signature_hash,
      called.wire_digest,
      called.shape_digest,
      called.prefix_fingerprint,
    ]) {
      expect(digest).toMatch(/^sha256:/)
    }
    expect(called.prefix_length).toBeGreaterThan(0)
    const assembled = only("prompt_assembled")
    expect(assembled.inferred_by).toBe("dialects")
    expect(assembled.payload.segments.map(({ kind }) => kind)).toEqual(["persona", "user-msg"])
    expect(assembled.payload.segments.every(({ segment_hash }) => segment_hash?.startsWith("sha256:"))).toBe(true)

    const result = only("model_result").payload
    expect(result).toMatchObject({
      status: "success",
      http_status: 200,
      model_id: "claude-x-1",
      finish_reason: "end_turn",
      token_usage: { prompt: 2112, completion: 3, cache_read: 2000, cache_write: 100 },
      provider_request_id: "req_7",
      stream_end: "complete",
      output_summary: "sunny",
    })
    expect(result.first_byte_ms).toBeGreaterThan(0)
    expect(sink.textOf(result.response_ref)).toBe(JSON.stringify(ANSWER))
    const headers = JSON.parse(sink.textOf(result.response_headers_ref)!)
    expect(headers).toContainEqual(["request-id", "req_7"])
    // A header that nobody knows is there, and its value is not.
    expect(headers).toContainEqual(["x-a", "…redacted…"])
    expect(contractProblems(sink)).toEqual([])
  })

  test("[R-15] the first call of a client that is made inside the first call belongs to its step", async () => {
    const { recorder, sink } = recordInMemory({ strict: true })
    const server = await loopback((_, response) => sendJson(response, ANSWER, 200))
    let client: Anthropic | undefined
    const clientMadeOnUse = (): Anthropic => {
      client ??= new Anthropic({ baseURL: server.url, apiKey: "none", fetch: recorder.fetch })
      return client
    }
    const run = recorder.startRun({ entrypoint: "ask" })
    for (const content of ["one", "two"]) {
      const request = { model: "claude-x-1", max_tokens: 9, messages: [{ role: "user" as const, content }] }
      await run.model({ provider: "anthropic", model: "claude-x-1", request }, (send) =>
        clientMadeOnUse().messages.create(request, send),
      )
    }
    run.complete()
    expect(sink.events.filter(({ event_type }) => event_type === "run_started")).toHaveLength(1)
    const calls = sink.events.filter(({ event_type }) => event_type === "model_called")
    expect(calls.map(({ attempt_no }) => attempt_no)).toEqual([undefined, 1, undefined, 1])
    const headers = server.seen.map((request) => Object.keys(request.headers))
    expect(headers.flat().filter((name) => name.startsWith("x-orangebox"))).toEqual([])
  })

  test("[H-01] a request that only fills the cache is told as warm", async () => {
    const { recorder, only } = recordInMemory()
    const server = await loopback((_, response) => sendJson(response, ANSWER))
    const system = [{ type: "text", text: "x", cache_control: { type: "ephemeral" } }]
    const run = recorder.startRun({ entrypoint: "warm" })
    await (await run.fetch(`${server.url}/v1/messages`, post({ ...MESSAGES_REQUEST, system, max_tokens: 1 }))).text()
    expect(only("model_called").payload.cache_use).toBe("warm")
  })

  test("[K-01] the request is in the journal when the provider sees it", async () => {
    const { recorder, folder } = journalInScratch()
    let atArrival: Event[] = []
    const server = await loopback((_, response) => {
      atArrival = readFolder(folder).events
      sendJson(response, ANSWER)
    })
    const run = recorder.startRun({ entrypoint: "ask" })
    await (await run.fetch(`${server.url}/v1/messages`, post(MESSAGES_REQUEST))).json()
    run.complete()
    expect(atArrival.map((event) => event.event_type)).toContain("model_called")
    expect(atArrival.map((event) => event.event_type)).not.toContain("model_result")
    expect(breachesIn(readFolder(folder))).toEqual([])
  })

  test("[K-01] a client killed in the middle of a stream leaves the request and every byte it was given", async () => {
    const folder = scratchFolder()
    onTestFinished(folder.remove)
    const pieces = messagesStream(Array.from({ length: 50 }, (_, i) => `wörd ${i} `)).slice(0, 40)
    const server = await loopback(async (_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" })
      for (const piece of pieces) response.write(piece)
    })
    const script = new URL("../children/streaming-agent.mjs", import.meta.url).pathname
    const child = spawn(process.execPath, [script, folder.path, server.url], { stdio: ["ignore", "pipe", "inherit"] })
    const given: Buffer[] = []
    child.stdout.on("data", (piece: Buffer) => given.push(piece))
    const whole = Buffer.byteLength(pieces.join(""))
    await vi.waitFor(() => expect(Buffer.concat(given).length).toBe(whole), { timeout: 20_000 })
    const gone = new Promise((resolve) => child.on("close", resolve))
    child.kill("SIGKILL")
    await gone

    const found = readFolder(folder.path)
    expect(found.events.map((event) => event.event_type)).toContain("model_called")
    expect(breachesIn(found)).toEqual([])
    expect(streamedIn(folder.path)).toEqual(Buffer.concat(given))
  })

  test("[K-01] errors keep status, headers and the raw body, and a reader is told what the provider said", async () => {
    const { recorder, sink, eventsOf } = recordInMemory({ strict: true })
    const bodies = [
      [400, '{"type":"error","error":{"type":"invalid_request_error","message":"max_tokens: required"}}'],
      [529, '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}'],
      [502, "<html>Bad gateway</html>"],
      [500, ""],
    ] as const
    let next = 0
    const server = await loopback((_, response) => {
      const [status, body] = bodies[next++]!
      response.writeHead(status, { "retry-after": "3" }).end(body)
    })
    const run = recorder.startRun({ entrypoint: "ask" })
    for (const _ of bodies) await (await run.fetch(`${server.url}/v1/messages`, post(MESSAGES_REQUEST))).text()
    run.complete()
    const results = eventsOf("model_result").map(({ payload }) => payload)
    expect(results.map(({ status, http_status, error_class }) => [status, http_status, error_class])).toEqual([
      ["error", 400, "invalid_request_error"],
      ["error", 529, "overloaded_error"],
      ["error", 502, "HTTP 502"],
      ["error", 500, "HTTP 500"],
    ])
    expect(results.map(({ response_ref }) => sink.textOf(response_ref) ?? "")).toEqual(bodies.map(([, body]) => body))
    expect(results[1]!.error_summary).toBe("Overloaded")
    expect(contractProblems(sink)).toEqual([])
  })

  test("[K-01] an error answer that is thrown away unread is kept as well", async () => {
    const { recorder, sink, eventsOf } = recordInMemory()
    const body = '{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}'
    const server = await loopback((_, response) => response.writeHead(429).end(body))
    const run = recorder.startRun({ entrypoint: "ask" })
    const response = await run.fetch(`${server.url}/v1/messages`, post(MESSAGES_REQUEST))
    await response.body!.cancel()
    await vi.waitFor(() => expect(eventsOf("model_result")).toHaveLength(1))
    expect(sink.textOf(eventsOf("model_result")[0]!.payload.response_ref)).toBe(body)
  })

  test("[K-03] calls of a provider nobody knows are kept as opaque model calls, other traffic as http steps", async () => {
    const { recorder, sink, only, eventsOf } = recordInMemory({ strict: true })
    const server = await loopback((_, response) => sendJson(response, { any: "thing" }))
    const run = recorder.startRun({ entrypoint: "ask" })
    await (await run.fetch(`${server.url}/rerank`, post({ model: "ranker-1", query: "q" }))).text()
    await (await run.fetch(`${server.url}/health`)).text()
    run.complete()
    expect(only("model_called").payload).toMatchObject({ model_id: "ranker-1", provider: new URL(server.url).host })
    expect(sink.textOf(only("model_result").payload.response_ref)).toBe('{"any":"thing"}')
    expect(eventsOf("step_started")[0]!.payload.kind).toBe("http")
    expect(eventsOf("step_ended")[0]!.attributes).toMatchObject({ http_status: 200, stream_end: "complete" })
    expect(contractProblems(sink)).toEqual([])
  })

  test("[K-01] no secret of headers, query or address is in any byte of the journal folder, and a rotated key shows", async () => {
    const { recorder, folder } = journalInScratch()
    const secrets = Array.from({ length: 12 }, (_, i) => `canary-${i}-${"s3cr3t".repeat(3)}-${i}`)
    const server = await loopback((_, response) =>
      sendJson(response, ANSWER, 200, { "set-cookie": `session=${secrets[0]}`, "x-session-token": secrets[1]! }),
    )
    const run = recorder.startRun({ entrypoint: "ask" })
    const headers = {
      authorization: `Bearer ${secrets[2]}`,
      "x-api-key": secrets[3]!,
      "x-goog-api-key": secrets[4]!,
      cookie: `a=${secrets[5]}`,
      "proxy-authorization": `Basic ${secrets[6]}`,
      "x-amz-security-token": secrets[7]!,
      "api-key": secrets[8]!,
    }
    const address = (path: string): string => `${server.url}${path}`
    for (const path of [
      `/v1/messages?key=${secrets[9]}`,
      `/v1beta/models/gemini-x:generateContent?key=${secrets[10]}&alt=sse`,
      `/files?access_token=${secrets[11]}`,
    ]) {
      await (await run.fetch(address(path), post(MESSAGES_REQUEST, headers))).text()
      await (await recorder.fetch(address(path), post(MESSAGES_REQUEST, headers))).text()
    }
    await run.fetch(`http://127.0.0.1:1/v1/messages?key=${secrets[9]}`, post(MESSAGES_REQUEST, headers)).catch(() => {})
    await run.fetch(address("/v1/messages"), post(MESSAGES_REQUEST, { "x-api-key": `${secrets[3]!.slice(0, -3)}xyz` }))
    run.complete()
    expect(server.seen[0]!.headers["x-api-key"]).toBe(secrets[3])
    const stored = everyByteBelow(folder)
    for (const secret of secrets) expect(stored.includes(secret), secret).toBe(false)

    const found = readFolder(folder)
    expect(breachesIn(found)).toEqual([])
    const keys = found.events.flatMap((event) => {
      const ref = event.event_type === "model_called" ? event.payload.request_headers_ref : undefined
      const list = ref ? (JSON.parse(Buffer.from(found.bodies.get(ref)!).toString()) as [string, string][]) : []
      return list.filter(([name]) => name === "x-api-key").map(([, value]) => value)
    })
    expect(new Set(keys)).toEqual(new Set(["can…redacted…t-3", "can…redacted…xyz"]))
  })

  test("whatever a request or an answer holds, what is recorded keeps the contract", async () => {
    const odd = fc.oneof(
      fc.constantFrom("", null, -1, 1.5, 1e308, true, [], {}, "x".repeat(600), [[]], [null], "ephemeral"),
      fc.jsonValue(),
    )
    const keys = fc.constantFrom(
      "model",
      "max_tokens",
      "messages",
      "tools",
      "system",
      "temperature",
      "stream",
      "type",
      "content",
      "usage",
      "stop_reason",
      "choices",
      "output",
      "error",
      "id",
      "input",
      "finish_reason",
      "delta",
      "name",
      "role",
    )
    const oddObject = fc.dictionary(
      keys,
      fc.oneof(odd, fc.array(fc.dictionary(keys, odd), { maxLength: 3 }), fc.dictionary(keys, odd)),
      { maxKeys: 8 },
    )
    let answer = ""
    const server = await loopback((_, response) => response.writeHead(200, { "content-type": "" }).end(answer))
    const paths = fc.constantFrom(
      "/v1/messages",
      "/v1/chat/completions",
      "/v1/responses",
      "/v1beta/models/x:generateContent",
      "/v1/messages/count_tokens",
      "/else",
    )
    await fc.assert(
      fc.asyncProperty(paths, oddObject, oddObject, fc.boolean(), async (path, request, reply, isStream) => {
        const { recorder, sink } = recordInMemory({ strict: true })
        const run = recorder.startRun({ entrypoint: "odd" })
        answer = isStream
          ? `event: ${typeof reply["type"] === "string" ? reply["type"] : "x"}\ndata: ${JSON.stringify(reply)}\n\ndata: [DONE]\n\n`
          : JSON.stringify(reply)
        const body = JSON.stringify(request)
        const response = await run.fetch(server.url + path, { method: "POST", body })
        expect(await response.text()).toBe(answer)
        run.complete()
        expect(contractProblems(sink)).toEqual([])
      }),
      { numRuns: 200 },
    )
  })
})

describe("one logical call", () => {
  test("[K-06] the prompt as the application built it and as it went out are both on record, on one call", async () => {
    const { recorder, sink, only, eventsOf } = recordInMemory({ strict: true })
    const server = await loopback((_, response) => sendJson(response, ANSWER))
    const run = recorder.startRun({ entrypoint: "ask" })
    // A client that changes what it is given, as SDKs and middleware do.
    const fetch = recorder.fetch
    const client = async (request: object, options: { headers: Record<string, string> }) =>
      (
        await fetch(`${server.url}/v1/messages`, post({ ...request, system: "added on the way" }, options.headers))
      ).json()
    const reply = await run.model({ provider: "anthropic", model: "claude-x", request: MESSAGES_REQUEST }, (send) =>
      client(MESSAGES_REQUEST, send),
    )
    run.complete()
    expect(reply).toEqual(ANSWER)
    expect(server.seen[0]!.headers["x-orangebox-step"]).toBeUndefined()

    const [logical, attempt] = eventsOf("model_called")
    const before = only("prompt_rendered")
    expect(before.step_id).toBe(logical!.step_id)
    expect(attempt).toMatchObject({ parent_step_id: logical!.step_id, attempt_no: 1 })
    expect(JSON.parse(sink.textOf(before.payload.rendered_prompt_ref)!)).toEqual(MESSAGES_REQUEST)
    expect(sink.textOf(attempt!.payload.request_ref)).toBe(server.seen[0]!.body.toString())
    expect(eventsOf("model_result").map(({ payload }) => payload.token_usage.prompt)).toEqual([2112, 2112])
    expect(contractProblems(sink)).toEqual([])
  })

  test("a streamed call ends when its bytes have come, with what they said", async () => {
    const { recorder, sink, eventsOf } = recordInMemory({ strict: true })
    const server = await loopback((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" })
      return sendPieces(response, messagesStream(["sun", "ny"]))
    })
    const run = recorder.startRun({ entrypoint: "ask" })
    const stream = await run.model(
      { provider: "anthropic", model: "claude-x", request: MESSAGES_REQUEST },
      async (_, call) =>
        (await call.fetch(`${server.url}/v1/messages`, post({ ...MESSAGES_REQUEST, stream: true }))).body!,
    )
    expect(eventsOf("model_result")).toEqual([])
    const pieces: Uint8Array[] = []
    for await (const piece of stream) pieces.push(piece)
    run.complete()
    const [attempt, logical] = eventsOf("model_result").map(({ payload }) => payload)
    expect(logical).toMatchObject({
      status: "success",
      finish_reason: "end_turn",
      output_summary: "sunny",
      http_status: 200,
      model_id: "claude-x-1",
    })
    expect(logical!.response_ref).toBe(attempt!.response_ref)
    expect(Buffer.from(sink.bodies.get(logical!.response_ref!)!)).toEqual(Buffer.concat(pieces))
    expect(contractProblems(sink)).toEqual([])
  })

  test("a request without a step is a run of its own, which fails when the network does", async () => {
    const { recorder, sink, only, eventsOf } = recordInMemory({ strict: true })
    const server = await loopback((_, response) => sendJson(response, ANSWER))
    await (
      await recorder.fetch(
        `${server.url}/v1/messages`,
        post(MESSAGES_REQUEST, { "x-orangebox-step": "run_x/deadbeef" }),
      )
    ).json()
    await expect(recorder.fetch("http://127.0.0.1:1/v1/messages", post(MESSAGES_REQUEST))).rejects.toThrow(
      "fetch failed",
    )
    expect(server.seen[0]!.headers["x-orangebox-step"]).toBeUndefined()
    expect(eventsOf("run_started").map(({ payload }) => payload.entrypoint_name)).toEqual([
      "POST /v1/messages",
      "POST /v1/messages",
    ])
    expect(only("run_completed").run_id).not.toBe(only("run_failed").run_id)
    expect(contractProblems(sink)).toEqual([])
  })

  test("[R-09] a sub-agent's calls stand in its own run of the same trace", async () => {
    const { recorder, sink, eventsOf, only } = recordInMemory({ strict: true })
    const server = await loopback((_, response) => sendJson(response, ANSWER))
    const run = recorder.startRun({ entrypoint: "lead" })
    const step = run.step("delegate")
    const child = step.startRun({ entrypoint: "helper" })
    await (await child.fetch(`${server.url}/v1/messages`, post(MESSAGES_REQUEST))).json()
    child.complete()
    step.end()
    run.complete()
    expect(only("model_called")).toMatchObject({ run_id: child.runId, trace_id: run.traceId })
    expect(only("link_added").payload.link).toMatchObject({ kind: "spawned", run_id: child.runId })
    expect(eventsOf("run_started")[1]!.links).toContainEqual(
      expect.objectContaining({ kind: "spawned_by", run_id: run.runId, step_id: step.id }),
    )
    expect(contractProblems(sink)).toEqual([])
  })
})

function everyByteBelow(folder: string): Buffer {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return Buffer.concat(files.map((file) => readFileSync(join(file.parentPath, file.name))))
}

/** The bytes of the one stream in a folder that nobody came to finish. */
function streamedIn(folder: string): Buffer {
  const [file] = listJournals(join(folder, "journal"))
  const ids = new Set<string>()
  for (const item of tailJournal(file!.path)) {
    if (item.kind === "line" && item.line.kind === "chunk") ids.add(item.line.streamId)
  }
  expect(ids.size).toBe(1)
  return Buffer.from(readStream(file!.path, [...ids][0]!).bytes)
}
