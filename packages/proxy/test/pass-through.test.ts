import { createServer } from "node:http"
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib"
import { bodyHash } from "@orangebox/contract"
import fc from "fast-check"
import { describe, expect, onTestFinished, test } from "vitest"
import { rawRequest, unchunk } from "./raw-client.js"
import { eventually, recordedProxy } from "./recorded-proxy.js"
import { messageRequest, messageStream, sendPieces, startUpstream } from "./upstream.js"

const REQUEST = messageRequest([{ role: "user", content: "Say hello" }])

test("[K-01] a streamed call passes byte for byte and is stored byte for byte, the request before it leaves", async () => {
  const answer = messageStream({ text: "Hello" })
  let calledBefore = 0
  const upstream = await startUpstream((_, response) => {
    calledBefore = proxy.all("model_called").length
    response.writeHead(200, { "Content-Type": "text/event-stream", "Request-Id": "req_1" })
    response.end(answer)
  })
  const proxy = await recordedProxy({ anthropic: upstream.origin })
  const response = await fetch(`${proxy.urlFor("anthropic")}/v1/messages?beta=true`, {
    method: "POST",
    headers: { "X-Api-Key": "sk-ant-0123456789abcdef", "content-type": "application/json" },
    body: REQUEST,
  })
  const received = Buffer.from(await response.arrayBuffer())

  expect(received.equals(answer)).toBe(true)
  expect(upstream.seen[0]).toMatchObject({ method: "POST", url: "/v1/messages?beta=true" })
  expect(upstream.seen[0]!.body.equals(REQUEST)).toBe(true)
  expect(calledBefore).toBe(1)
  const [called] = proxy.all("model_called")
  const result = await eventually(() => proxy.all("model_result")[0], "a result")
  expect(proxy.body(called!.payload.request_ref)?.equals(REQUEST)).toBe(true)
  expect(proxy.body(result.payload.response_ref)?.equals(answer)).toBe(true)
  expect(result.payload).toMatchObject({
    status: "success",
    http_status: 200,
    stream_end: "complete",
    provider_request_id: "req_1",
    token_usage: { prompt: 100, completion: 20 },
  })
  const headers = proxy.body(called!.payload.request_headers_ref)!.toString()
  expect(headers).not.toContain("0123456789")
  expect(headers).toContain("sk-…redacted…def")
})

test("[K-02] header order and spelling reach the upstream, hop-by-hop headers and our own do not", async () => {
  const upstream = await startUpstream((_, response) => response.end("ok"))
  const proxy = await recordedProxy({ api: upstream.origin })
  const path = new URL(proxy.urlFor("api")).pathname
  await rawRequest(
    proxy.port,
    `GET ${path}/x?a=%2F&b=1 HTTP/1.1\r\nX-First: 1\r\nHost: 127.0.0.1:${proxy.port}\r\nx-SECOND: two\r\nAccept-Encoding: br;q=0.1, zstd\r\nTE: trailers\r\nX-Hop: 1\r\nConnection: close, x-hop\r\nX-Orangebox-Step: nonsense\r\n\r\n`,
  )
  const [seen] = upstream.seen
  expect(seen!.url).toBe("/x?a=%2F&b=1")
  const { rawHeaders } = seen!
  expect(rawHeaders.slice(0, 8)).toEqual([
    "X-First",
    "1",
    "Host",
    `127.0.0.1:${upstream.port}`,
    "x-SECOND",
    "two",
    "Accept-Encoding",
    "br;q=0.1, zstd",
  ])
  expect(rawHeaders.map((name) => name.toLowerCase())).not.toEqual(
    expect.arrayContaining(["te", "x-hop", "x-orangebox-step"]),
  )
  expect(rawHeaders.join(" ").toLowerCase()).not.toContain("x-orangebox")
})

test("[K-02] an answer's headers, trailers, status line and length are the upstream's, and nothing is added", async () => {
  const upstream = await startUpstream((_, response) => {
    response.sendDate = false
    response.writeHead(299, "Rather Fine", ["X-Odd", "1", "x-odd", "2", "Trailer", "X-Sum"])
    response.write("body")
    response.addTrailers({ "X-Sum": "42" })
    response.end()
  })
  const proxy = await recordedProxy({ api: upstream.origin })
  const path = new URL(proxy.urlFor("api")).pathname
  const { bytes } = await rawRequest(
    proxy.port,
    `GET ${path}/ HTTP/1.1\r\nHost: 127.0.0.1:${proxy.port}\r\nConnection: close\r\n\r\n`,
  )
  const text = bytes.toString("latin1")
  expect(text).toMatch(/^HTTP\/1\.1 299 Rather Fine\r\nX-Odd: 1\r\nx-odd: 2\r\nTrailer: X-Sum\r\n/)
  expect(text).toMatch(/0\r\nX-Sum: 42\r\n\r\n$/)
  expect(text.toLowerCase()).not.toContain("date:")
})

describe("[K-02] encodings", () => {
  const plain = messageStream({ text: "Grüße, 世界! ".repeat(200) })
  const encodings: [string, Buffer][] = [
    ["gzip", gzipSync(plain)],
    ["br", brotliCompressSync(plain)],
    ["deflate", deflateSync(plain)],
    ["deflate", deflateRawSync(plain)],
    ["gzip, br", brotliCompressSync(gzipSync(plain))],
  ]
  test.each(encodings)("%s passes as it came and is stored decoded, however it is cut", async (encoding, wire) => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: wire.length }), { maxLength: 12 }), async (cuts) => {
        const upstream = await startUpstream(async (_, response) => {
          response.writeHead(200, { "content-encoding": encoding, "content-type": "text/event-stream" })
          await sendPieces(response, cutAt(wire, cuts))
          response.end()
        })
        const proxy = await recordedProxy({ anthropic: upstream.origin })
        const path = new URL(proxy.urlFor("anthropic")).pathname
        const { bytes } = await rawRequest(
          proxy.port,
          Buffer.concat([
            Buffer.from(
              `POST ${path}/v1/messages HTTP/1.1\r\nHost: 127.0.0.1:${proxy.port}\r\nContent-Length: ${REQUEST.length}\r\nConnection: close\r\n\r\n`,
            ),
            REQUEST,
          ]),
        )
        expect(unchunk(bytes).body.equals(wire)).toBe(true)
        const result = await eventually(() => proxy.all("model_result")[0], "a result")
        expect(proxy.body(result.payload.response_ref)?.equals(plain)).toBe(true)
        expect(result.attributes).toMatchObject({
          response_wire_encoding: encoding,
          response_wire_bytes: wire.length,
          response_wire_digest: bodyHash(wire),
        })
        expect(result.payload.finish_reason).toBe("end_turn")
      }),
      { numRuns: 6, examples: [[[1]], [[1, 2, 3]]] },
    )
  })

  test("zstd is decoded too, in requests as well", async () => {
    const wire = ZSTD_HELLO
    const upstream = await startUpstream((_, response) => {
      response.writeHead(200, { "content-encoding": "zstd" })
      response.end(wire)
    })
    const proxy = await recordedProxy({ api: upstream.origin })
    const response = await fetch(`${proxy.urlFor("api")}/x`, {
      method: "POST",
      headers: { "content-encoding": "zstd", "accept-encoding": "identity" },
      body: wire,
    }).catch((error: unknown) => error)
    expect(response).toBeInstanceOf(Response)
    expect(upstream.seen[0]!.body.equals(wire)).toBe(true)
    const ended = await eventually(() => proxy.all("step_ended").find((event) => event.payload.body_ref), "an end")
    expect(proxy.body(ended.payload.body_ref)?.toString()).toBe("hello hello hello hello\n")
    const [started] = proxy.all("step_started")
    expect(proxy.body(started!.payload.body_ref)?.toString()).toBe("hello hello hello hello\n")
    expect(started!.attributes).toMatchObject({ request_wire_encoding: "zstd", request_wire_bytes: wire.length })
  })

  test.each([
    ["a bomb", "gzip", gzipSync(Buffer.alloc(64 * 1024 * 1024))],
    ["too many layers", Array(42).fill("gzip").join(", "), gzipSync("x")],
    ["an unknown encoding", "rot13", Buffer.from("uryyb")],
    ["what is not what it says", "gzip", Buffer.from("plainly not gzip")],
    ["a huge zstd window", "zstd", Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xf8, ...Array(30).fill(1)])],
  ])(
    "%s passes unharmed and is recorded as not decoded; its bytes are kept only under full",
    async (_, encoding, wire) => {
      const upstream = await startUpstream((_, response) => {
        response.writeHead(200, { "content-encoding": encoding })
        response.end(wire)
      })
      const proxy = await recordedProxy({ api: upstream.origin })
      const path = new URL(proxy.urlFor("api")).pathname
      const { bytes } = await rawRequest(
        proxy.port,
        `GET ${path}/ HTTP/1.1\r\nHost: 127.0.0.1:${proxy.port}\r\nConnection: close\r\n\r\n`,
      )
      expect(unchunk(bytes).body.equals(wire)).toBe(true)
      const ended = await eventually(() => proxy.all("step_ended")[0], "an end")
      expect(ended.attributes?.["response_not_decoded"]).toEqual(expect.any(String))
      const [ref] = ended.artifact_refs
      if (ref && ref.content_encoding !== "identity") {
        expect(ref).toMatchObject({ absent: "not_kept", byte_size: wire.length })
        expect(proxy.body(ref.artifact_hash)).toBeUndefined()
        expect(ended.redaction_status).toBe("blocked")
      }
      expect(ended.attributes?.["response_wire_bytes"]).toBe(wire.length)
    },
  )
})

test("[K-02] a chunk leaves before the next one arrives", async () => {
  let step = (): void => {}
  const upstream = await startUpstream((_, response) => {
    let count = 0
    step = () => {
      count += 1
      if (count > 3) response.end()
      else response.write(`data: ${count}\n\n`)
    }
    response.writeHead(200, { "content-type": "text/event-stream" })
    response.flushHeaders()
  })
  const proxy = await recordedProxy({ api: upstream.origin })
  const response = await fetch(`${proxy.urlFor("api")}/stream`)
  const reader = response.body!.getReader()
  for (let count = 1; count <= 3; count++) {
    step()
    const { value } = await reader.read()
    expect(Buffer.from(value!).toString()).toBe(`data: ${count}\n\n`)
  }
  step()
  expect((await reader.read()).done).toBe(true)
})

test("[K-10] a body over the limit passes whole; its first part is recorded and the ref says how long it was", async () => {
  const big = Buffer.alloc(300_000, "abcdefghij")
  const upstream = await startUpstream((request, response) => response.end(request.body))
  const proxy = await recordedProxy(
    { api: upstream.origin },
    { limits: { requestBytes: 100_000, responseBytes: 100_000 } },
  )
  const response = await fetch(`${proxy.urlFor("api")}/echo`, { method: "POST", body: big })
  expect(Buffer.from(await response.arrayBuffer()).equals(big)).toBe(true)
  expect(upstream.seen[0]!.body.equals(big)).toBe(true)
  const [started] = proxy.all("step_started")
  const ended = await eventually(() => proxy.all("step_ended")[0], "an end")
  for (const event of [started!, ended]) {
    const [ref] = event.artifact_refs
    expect(ref).toMatchObject({ byte_size: 100_000, full_byte_size: 300_000 })
    expect(proxy.body(ref!.artifact_hash)?.equals(big.subarray(0, 100_000))).toBe(true)
  }
})

test("[K-10] HEAD, OPTIONS, DELETE with a body, Expect: 100-continue and early hints work as without a proxy", async () => {
  const upstream = await startUpstream((request, response) => {
    if (request.url === "/hints") response.writeEarlyHints({ link: "</style.css>; rel=preload" })
    response.writeHead(200, {
      "x-method": request.method,
      "content-length": request.method === "HEAD" ? 99 : request.body.length,
    })
    response.end(request.method === "HEAD" ? undefined : request.body)
  })
  const proxy = await recordedProxy({ api: upstream.origin })
  const base = proxy.urlFor("api")
  const head = await fetch(`${base}/a`, { method: "HEAD" })
  expect([head.headers.get("x-method"), head.headers.get("content-length")]).toEqual(["HEAD", "99"])
  expect((await fetch(`${base}/a`, { method: "OPTIONS" })).headers.get("x-method")).toBe("OPTIONS")
  expect(await (await fetch(`${base}/a`, { method: "DELETE", body: "gone" })).text()).toBe("gone")

  const path = new URL(base).pathname
  const expecting = await rawRequest(
    proxy.port,
    `POST ${path}/a HTTP/1.1\r\nHost: 127.0.0.1:${proxy.port}\r\nExpect: 100-continue\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbody`,
  )
  expect(expecting.bytes.toString()).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK[\s\S]*body$/)
  const hinted = await rawRequest(
    proxy.port,
    `GET ${path}/hints HTTP/1.1\r\nHost: 127.0.0.1:${proxy.port}\r\nConnection: close\r\n\r\n`,
  )
  expect(hinted.bytes.toString()).toMatch(/^HTTP\/1\.1 103 Early Hints\r\nLink: <\/style\.css>/i)
})

test("[K-10] an upstream that refuses a body before it has come is passed on and recorded", async () => {
  const server = createServer()
  server.on("checkContinue", (_, response) => response.writeHead(417).end("no"))
  server.on("request", (_, response) => response.writeHead(413, { connection: "close" }).end("too large"))
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as { port: number }
  const proxy = await recordedProxy({ api: `http://127.0.0.1:${port}` }, { limits: { requestBytes: 1000 } })
  const path = new URL(proxy.urlFor("api")).pathname
  const head = `POST ${path}/a HTTP/1.1\r\nHost: 127.0.0.1:${proxy.port}\r\nConnection: close\r\n`
  const refused = await rawRequest(proxy.port, `${head}Expect: 100-continue\r\nContent-Length: 9999\r\n\r\n`)
  expect(refused.bytes.toString()).toMatch(/^HTTP\/1\.1 417 /)
  const large = await rawRequest(proxy.port, `${head}Content-Length: 99999\r\n\r\n${"x".repeat(5000)}`)
  expect(large.bytes.toString()).toMatch(/^HTTP\/1\.1 413 /)
  const ends = await eventually(() => proxy.all("step_ended").length === 2 && proxy.all("step_ended"), "two ends")
  expect(ends.map((event) => event.attributes?.["http_status"])).toEqual([417, 413])
  expect(proxy.all("step_started").map((event) => event.attributes?.["request_sent"])).toEqual(["in part", "in part"])
})

test("[K-10] redirects are passed on, never followed", async () => {
  const elsewhere = await startUpstream((_, response) => response.end("never"))
  const upstream = await startUpstream((_, response) => {
    response.writeHead(307, { location: `${elsewhere.origin}/secret` })
    response.end()
  })
  const proxy = await recordedProxy({ api: upstream.origin })
  const response = await fetch(`${proxy.urlFor("api")}/x`, { redirect: "manual" })
  expect(response.status).toBe(307)
  expect(response.headers.get("location")).toBe(`${elsewhere.origin}/secret`)
  expect(elsewhere.seen).toHaveLength(0)
})

function cutAt(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [...new Set([0, ...cuts, bytes.length])].sort((a, b) => a - b)
  return places.slice(1).map((end, index) => bytes.subarray(places[index]!, end))
}

/** "hello hello hello hello\n", by the zstd command with its defaults. */
const ZSTD_HELLO = Buffer.from("KLUv/QRYbQAAOGhlbGxvIAoBAJlLEah8Lqg=", "base64")
