import { type ClientHttp2Session, connect, constants } from "node:http2"
import { expect, onTestFinished, test } from "vitest"
import { rawRequest } from "./raw-client.js"
import { eventually, recordedProxy } from "./recorded-proxy.js"
import { messageRequest, messageStream, sendPieces, startUpstream } from "./upstream.js"

const ANSWER = messageStream({ text: "Hello over another protocol" })
const REQUEST = messageRequest([{ role: "user", content: "Hi" }])

interface Told {
  readonly status: number
  readonly headers: Record<string, unknown>
  readonly body: Buffer
  readonly reset: number
}

function ask(
  client: ClientHttp2Session,
  path: string,
  body: Buffer,
  headers: Record<string, string> = {},
): Promise<Told> {
  return new Promise((resolve) => {
    const stream = client.request({ ":method": "POST", ":path": path, "content-type": "application/json", ...headers })
    const pieces: Buffer[] = []
    let told: Record<string, unknown> = {}
    stream.on("response", (received) => {
      told = received
    })
    stream.on("data", (piece: Buffer) => pieces.push(piece))
    stream.on("error", () => {})
    stream.on("close", () =>
      resolve({
        status: Number(told[":status"]),
        headers: told,
        body: Buffer.concat(pieces),
        reset: stream.rstCode ?? 0,
      }),
    )
    stream.end(body)
  })
}

function http2Client(origin: string): ClientHttp2Session {
  const client = connect(origin)
  client.on("error", () => {})
  onTestFinished(() => client.destroy())
  return client
}

test("[K-12] a client that speaks HTTP/2 without TLS is forwarded and recorded byte for byte, several streams at once", async () => {
  const upstream = await startUpstream((_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream", "x-request-id": "req_1" })
    void sendPieces(response, [ANSWER.subarray(0, 99), ANSWER.subarray(99)]).then(() => response.end())
  })
  const proxy = await recordedProxy({ api: upstream.origin })
  const client = http2Client(proxy.origin)
  const path = `${new URL(proxy.urlFor("api")).pathname}/v1/messages`
  const told = await Promise.all([1, 2, 3].map(() => ask(client, path, REQUEST, { "x-api-key": "k" })))
  for (const { status, headers, body } of told) {
    expect(status).toBe(200)
    expect(headers["x-request-id"]).toBe("req_1")
    expect(body.equals(ANSWER)).toBe(true)
  }
  expect(upstream.seen.map(({ body }) => body.equals(REQUEST))).toEqual([true, true, true])
  expect(upstream.seen[0]!.rawHeaders.join(" ")).toContain("x-api-key k")
  await eventually(() => proxy.stats().modelCalls === 3, "three calls")
  const [result] = proxy.all("model_result")
  expect(proxy.body(result!.payload.response_ref)!.equals(ANSWER)).toBe(true)
})

test("[K-12] over HTTP/2 the doors are the same, and an answer that breaks off is a reset and not a whole one", async () => {
  const upstream = await startUpstream((_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" })
    response.write(ANSWER.subarray(0, 99), () => response.destroy())
  })
  const proxy = await recordedProxy({ api: upstream.origin })
  const client = http2Client(proxy.origin)
  expect((await ask(client, "/wrong/api/v1/messages", REQUEST)).status).toBe(404)
  const broken = await ask(client, `${new URL(proxy.urlFor("api")).pathname}/v1/messages`, REQUEST)
  expect(broken).toMatchObject({ status: 200, reset: constants.NGHTTP2_INTERNAL_ERROR })
  expect(broken.body.equals(ANSWER.subarray(0, broken.body.length))).toBe(true)
  await eventually(() => proxy.all("model_result").length === 1, "the result")
  // A session that its client leaves open must not keep the proxy from closing.
  await proxy.close()
})

test("[K-12] a request that offers to upgrade to HTTP/2 is answered over HTTP/1.1, as Java's client expects", async () => {
  const upstream = await startUpstream((_, response) => response.end(ANSWER))
  const proxy = await recordedProxy({ api: upstream.origin })
  const { bytes } = await rawRequest(
    proxy.port,
    `POST ${new URL(proxy.urlFor("api")).pathname}/v1/messages HTTP/1.1\r\nHost: 127.0.0.1:${proxy.port}\r\nConnection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAEAAEAAAAIAAAAA\r\nContent-Length: ${REQUEST.length}\r\n\r\n${REQUEST}`,
  )
  expect(bytes.toString()).toMatch(/^HTTP\/1\.1 200 /)
  expect(upstream.seen[0]!.body.equals(REQUEST)).toBe(true)
  expect(upstream.seen[0]!.rawHeaders.join(" ").toLowerCase()).not.toMatch(/upgrade|http2-settings/)
  await eventually(() => proxy.stats().modelCalls === 1, "one call")
})

test("[K-12] a WebSocket is refused with a sentence that says what to do, and nothing hangs", async () => {
  const proxy = await recordedProxy({ api: "http://127.0.0.1:1" })
  const upgrade = async (path: string): Promise<string> =>
    (
      await rawRequest(
        proxy.port,
        `GET ${new URL(proxy.urlFor("api")).pathname}${path} HTTP/1.1\r\nHost: 127.0.0.1:${proxy.port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x\r\nSec-WebSocket-Version: 13\r\n\r\n`,
      )
    ).bytes.toString()
  expect(await upgrade("/v1/responses")).toMatch(
    /^HTTP\/1\.1 426 [\s\S]*model calls are recorded over HTTP; ask again without the upgrade/,
  )
  expect(await upgrade("/v1/realtime")).toMatch(
    /^HTTP\/1\.1 501 [\s\S]*WebSockets are not recorded, and so not forwarded/,
  )
})

test("[K-12] turns and tool results that nobody recorded are noticed where the history shows them, and only there", async () => {
  const upstream = await startUpstream((request, response) => {
    const { messages } = JSON.parse(request.body.toString()) as { messages: unknown[] }
    const tool = { id: `toolu_${messages.length}`, name: "read_file", input: { path: `file-${messages.length}` } }
    response.writeHead(200, { "content-type": "text/event-stream" })
    response.end(messageStream({ tool }))
  })
  const proxy = await recordedProxy({ api: upstream.origin })
  const history: unknown[] = [{ role: "user", content: "read all the files" }]
  const send = async (): Promise<void> => {
    const { length } = proxy.all("model_result")
    const body = new Uint8Array(messageRequest(history))
    await (await fetch(`${proxy.urlFor("api")}/v1/messages`, { method: "POST", body })).text()
    await eventually(() => proxy.all("model_result").length > length, "the result")
    // What follows from an answer is taken a moment after its end.
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  const turn = (nr: number): unknown[] => [
    {
      role: "assistant",
      content: [{ type: "tool_use", id: `toolu_${nr}`, name: "read_file", input: { path: `file-${nr}` } }],
    },
    { role: "user", content: [{ type: "tool_result", tool_use_id: `toolu_${nr}`, content: `content ${nr}` }] },
  ]
  await send()
  history.push(...turn(1))
  await send()
  expect(proxy.stats().unseenTurns).toBe(0)
  // The second of these is answered by a server that the proxy never heard of.
  history.push(...turn(3), ...turn(5))
  await send()
  expect(proxy.stats().unseenTurns).toBe(1)
  const said = proxy.all("log").filter(({ attributes }) => attributes?.["unseen_turns"] !== undefined)
  expect(said).toMatchObject([
    {
      inferred_by: expect.any(String),
      attributes: { unseen_turns: "1", unseen_tool_results: "1" },
      payload: { level: "warn" },
    },
  ])
  // Once told is told, and a client's own short words are no turn of a model.
  history.push(...turn(7), { role: "assistant", content: "Ok." }, { role: "user", content: "go on" })
  await send()
  expect(proxy.stats().unseenTurns).toBe(1)
})
