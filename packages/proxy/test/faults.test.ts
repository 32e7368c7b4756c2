import { createServer as createTcpServer } from "node:net"
import { SystemError } from "@orangebox/contract"
import { MemorySink, Recorder } from "@orangebox/recorder"
import { expect, onTestFinished, test } from "vitest"
import { startProxy } from "../src/index.js"
import { rawRequest, unchunk } from "./raw-client.js"
import { eventually, type RecordedProxy, recordedProxy } from "./recorded-proxy.js"
import { messageRequest, messageStream, startUpstream } from "./upstream.js"

const REQUEST = messageRequest([{ role: "user", content: "Say hello" }])
const ANSWER = messageStream({ text: "Hello" })

function post(proxy: RecordedProxy, more = ""): Buffer {
  const path = new URL(proxy.urlFor("anthropic")).pathname
  const head = `POST ${path}/v1/messages HTTP/1.1\r\nHost: 127.0.0.1:${proxy.port}\r\nContent-Length: ${REQUEST.length}\r\n${more}Connection: close\r\n\r\n`
  return Buffer.concat([Buffer.from(head), REQUEST])
}

test("[K-10] an upstream that breaks off at every seventh byte of its answer: the client has every byte, then a broken connection", async () => {
  let cut = 0
  const upstream = await startUpstream((_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" })
    response.write(ANSWER.subarray(0, cut), () => response.socket?.destroy())
  })
  const proxy = await recordedProxy({ anthropic: upstream.origin })
  const results = () => proxy.all("model_result").filter((event) => event.attempt_no !== undefined)
  for (cut = 1; cut < ANSWER.length; cut += 7) {
    const before = results().length
    const { bytes } = await rawRequest(proxy.port, post(proxy))
    const { body, isWhole } = unchunk(bytes)
    expect(body.equals(ANSWER.subarray(0, cut))).toBe(true)
    expect(isWhole).toBe(false)
    const result = await eventually(() => results()[before], "a result")
    expect(result.payload.stream_end).toBe("upstream_reset")
    expect(result.payload.status).not.toBe("success")
    expect(proxy.body(result.payload.response_ref)?.equals(ANSWER.subarray(0, cut))).toBe(true)
  }
})

test("[K-10] an upstream that breaks off before it answers is named in a 502, and nothing is tried again", async () => {
  const upstream = await startUpstream((_, response) => response.socket?.destroy())
  const proxy = await recordedProxy({ anthropic: upstream.origin })
  const response = await fetch(`${proxy.urlFor("anthropic")}/v1/messages`, { method: "POST", body: REQUEST })
  expect(response.status).toBe(502)
  expect(response.headers.get("x-orangebox-proxy")).toBe("upstream_failed")
  expect(await response.text()).toContain(`anthropic (${upstream.origin})`)
  expect(upstream.seen).toHaveLength(1)
  const [result] = proxy.all("model_result")
  expect(result!.payload).toMatchObject({ stream_end: "upstream_reset", status: "error", http_status: null })
})

test.each([
  ["a port nobody listens on", "http://127.0.0.1:1", "ECONNREFUSED"],
  ["a name that does not exist", "http://no-such-host.invalid", "ENOTFOUND|EAI_AGAIN"],
])("[K-10] %s is a 502 that says so", async (_, origin, code) => {
  const proxy = await recordedProxy({ anthropic: origin })
  const response = await fetch(`${proxy.urlFor("anthropic")}/v1/messages`, { method: "POST", body: REQUEST })
  expect(response.status).toBe(502)
  expect(await response.text()).toMatch(new RegExp(code))
  // It may be asked again; that it failed as a whole is known when nothing more comes.
  expect(proxy.stats()).toMatchObject({ modelCalls: 1, errors: 0, failedAttempts: 1 })
  await fetch(`${proxy.urlFor("anthropic")}/v1/messages`, { method: "POST", body: REQUEST })
  await proxy.close()
  expect(proxy.stats()).toMatchObject({ modelCalls: 1, errors: 1, failedAttempts: 2 })
})

test("[K-10] an upstream that does not speak the TLS it is configured for is a 502; the request never leaves", async () => {
  const upstream = await startUpstream((_, response) => response.end("plain"))
  const proxy = await recordedProxy({ anthropic: upstream.origin.replace("http:", "https:") })
  const response = await fetch(`${proxy.urlFor("anthropic")}/v1/messages`, { method: "POST", body: REQUEST })
  expect(response.status).toBe(502)
  expect(upstream.seen).toHaveLength(0)
})

test("[K-10] an upstream that says nothing is a 504, one that stops in the middle breaks off, both recorded as timeout", async () => {
  let isStarted = false
  const upstream = await startUpstream((_, response) => {
    if (!isStarted) return
    response.writeHead(200)
    response.write(ANSWER.subarray(0, 50))
  })
  const proxy = await recordedProxy({ anthropic: upstream.origin }, { limits: { upstreamSilenceMs: 100 } })
  const silent = await fetch(`${proxy.urlFor("anthropic")}/v1/messages`, { method: "POST", body: REQUEST })
  expect(silent.status).toBe(504)
  isStarted = true
  const { bytes } = await rawRequest(proxy.port, post(proxy))
  expect(unchunk(bytes)).toMatchObject({ isWhole: false })
  const ends = proxy.all("model_result").map((event) => event.payload.stream_end)
  expect(ends.length).toBeGreaterThanOrEqual(2)
  expect(new Set(ends)).toEqual(new Set(["timeout"]))
})

test("[K-10] a half-open upstream, a listener that never accepts the protocol, is cancelled when its client leaves", async () => {
  let closed = 0
  const server = createTcpServer((socket) => {
    socket.on("error", () => {})
    socket.on("close", () => closed++)
    socket.resume()
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as { port: number }
  const proxy = await recordedProxy({ anthropic: `http://127.0.0.1:${port}` })
  const leave = new AbortController()
  const pending = fetch(`${proxy.urlFor("anthropic")}/v1/messages`, {
    method: "POST",
    body: REQUEST,
    signal: leave.signal,
  })
  await eventually(() => proxy.all("model_called").length === 1, "the call")
  leave.abort()
  await expect(pending).rejects.toThrow()
  await eventually(() => closed === 1, "the upstream connection is closed")
  const result = await eventually(() => proxy.all("model_result")[0], "a result")
  expect(result.payload.stream_end).toBe("client_abort")
  server.close()
})

test.each([429, 500, 529])(
  "[K-10] %i with Retry-After passes unchanged and is recorded as what it was",
  async (status) => {
    const error = JSON.stringify({ type: "error", error: { type: "overloaded_error", message: "Overloaded" } })
    const upstream = await startUpstream((_, response) => {
      response.writeHead(status, { "retry-after": "7", "content-type": "application/json" })
      response.end(error)
    })
    const proxy = await recordedProxy({ anthropic: upstream.origin })
    const response = await fetch(`${proxy.urlFor("anthropic")}/v1/messages`, { method: "POST", body: REQUEST })
    expect([response.status, response.headers.get("retry-after"), await response.text()]).toEqual([status, "7", error])
    expect(upstream.seen).toHaveLength(1)
    const [result] = proxy.all("model_result")
    expect(result!.payload).toMatchObject({ status: "error", http_status: status, error_class: "overloaded_error" })
    expect(proxy.body(result!.payload.response_ref)?.toString()).toBe(error)
  },
)

test("[K-10] a client that leaves in the middle cancels the upstream, and what came is kept", async () => {
  const upstream = await startUpstream((_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" })
    response.write(ANSWER.subarray(0, 200))
  })
  const proxy = await recordedProxy({ anthropic: upstream.origin })
  const leave = new AbortController()
  const response = await fetch(`${proxy.urlFor("anthropic")}/v1/messages`, {
    method: "POST",
    body: REQUEST,
    signal: leave.signal,
  })
  await response.body!.getReader().read()
  leave.abort()
  await eventually(() => upstream.sockets.size === 0, "the upstream connection is closed")
  const result = await eventually(() => proxy.all("model_result")[0], "a result")
  expect(result.payload).toMatchObject({ stream_end: "client_abort", status: "partial" })
  expect(proxy.body(result.payload.response_ref)?.equals(ANSWER.subarray(0, 200))).toBe(true)
  expect(proxy.stats()).toMatchObject({ clientAborts: 1, errors: 0 })
})

test("[K-10] a client that leaves after the terminal event did not abort: the rest is read to its end", async () => {
  let finish = (): void => {}
  const upstream = await startUpstream((_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" })
    response.write(ANSWER)
    finish = () => void response.end(": goodbye\n\n")
  })
  const proxy = await recordedProxy({ anthropic: upstream.origin })
  const leave = new AbortController()
  const response = await fetch(`${proxy.urlFor("anthropic")}/v1/messages`, {
    method: "POST",
    body: REQUEST,
    signal: leave.signal,
  })
  const reader = response.body!.getReader()
  for (let bytes = 0; bytes < ANSWER.length; ) bytes += (await reader.read()).value!.length
  leave.abort()
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(proxy.all("model_result")).toHaveLength(0)
  finish()
  const result = await eventually(() => proxy.all("model_result")[0], "a result")
  expect(result.payload).toMatchObject({ stream_end: "complete", status: "success", finish_reason: "end_turn" })
  expect(proxy.body(result.payload.response_ref)?.toString()).toBe(`${ANSWER.toString()}: goodbye\n\n`)
})

test("[K-10] thirty clients that leave large answers at once do not hold up the others", async () => {
  const large = Buffer.alloc(1024 * 1024, "x")
  const upstream = await startUpstream((request, response) => {
    response.writeHead(200)
    if (request.url?.endsWith("/quick")) response.end("quick")
    else response.write(large)
  })
  const proxy = await recordedProxy({ api: upstream.origin })
  const leave = new AbortController()
  const started = await Promise.all(
    Array.from({ length: 30 }, (_, n) => fetch(`${proxy.urlFor("api")}/large/${n}`, { signal: leave.signal })),
  )
  leave.abort()
  await Promise.allSettled(started.map((response) => response.arrayBuffer()))
  expect(await (await fetch(`${proxy.urlFor("api")}/quick`)).text()).toBe("quick")
  await eventually(() => proxy.stats().clientAborts === 30, "thirty aborts")
})

test("[K-10] a client that reads slowly slows the upstream, and memory does not grow with the answer", async () => {
  let written = 0
  const upstream = await startUpstream((_, response) => {
    response.writeHead(200)
    const piece = Buffer.alloc(256 * 1024, "y")
    const fill = (): void => {
      while (written < 200 * 1024 * 1024) {
        written += piece.length
        if (!response.write(piece)) return void response.once("drain", fill)
      }
      response.end()
    }
    fill()
  })
  const proxy = await recordedProxy({ api: upstream.origin }, { limits: { responseBytes: 1024 } })
  const response = await fetch(`${proxy.urlFor("api")}/large`)
  const reader = response.body!.getReader()
  await reader.read()
  await new Promise((resolve) => setTimeout(resolve, 300))
  // What the kernel's buffers hold on three connections, and not the answer.
  expect(written).toBeLessThan(50 * 1024 * 1024)
  await reader.cancel()
})

test("[K-10] where recording is required and has failed, the request is answered with a 502 before it leaves", async () => {
  const upstream = await startUpstream((_, response) => response.end(ANSWER))
  class FullDisk extends MemorySink {
    override commit(): void {
      throw new SystemError({ what: "the disk is full" })
    }
  }
  const recorder = Recorder.open({ app: "test", sink: new FullDisk() })
  const run = recorder.startRun({ entrypoint: "test" })
  expect(() => run.commit("log", { level: "info", message: "a manifest" })).toThrow(/disk is full/)
  const proxy = await startProxy({ recorder, run, upstreams: { anthropic: upstream.origin } })
  onTestFinished(() => proxy.close())
  const response = await fetch(`${proxy.urlFor("anthropic")}/v1/messages`, { method: "POST", body: REQUEST })
  expect([response.status, response.headers.get("x-orangebox-proxy")]).toEqual([502, "audit"])
  expect(await response.text()).toMatch(/the disk is full/)
  expect(upstream.seen).toHaveLength(0)
})

test("[K-10] tries of one call share a step, and the call ends as its last try did", async () => {
  let tries = 0
  const upstream = await startUpstream((_, response) => {
    if (++tries < 3)
      response
        .writeHead(529, { "retry-after": "0" })
        .end('{"type":"error","error":{"type":"overloaded_error","message":"x"}}')
    else response.writeHead(200).end(ANSWER)
  })
  const proxy = await recordedProxy({ anthropic: upstream.origin })
  for (let n = 0; n < 3; n++) {
    await (await fetch(`${proxy.urlFor("anthropic")}/v1/messages`, { method: "POST", body: REQUEST })).arrayBuffer()
  }
  expect(proxy.all("step_started").filter((event) => event.payload.kind === "turn")).toHaveLength(1)
  expect(proxy.all("prompt_assembled")).toHaveLength(1)
  const opened = proxy.all("model_called")
  const call = opened.find((event) => event.attempt_no === undefined)!
  const attempts = opened.filter((event) => event.parent_step_id === call.step_id)
  expect(opened).toHaveLength(4)
  expect(attempts.map((event) => event.attempt_no)).toEqual([1, 2, 3])
  const closed = proxy.all("model_result")
  expect(closed.filter((event) => event.step_id === call.step_id).map((event) => event.payload.status)).toEqual([
    "success",
  ])
  expect(closed.filter((event) => event.attempt_no).map((event) => event.payload.status)).toEqual([
    "error",
    "error",
    "success",
  ])
})
