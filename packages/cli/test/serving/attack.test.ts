import { mkdirSync, writeFileSync } from "node:fs"
import { createServer, request } from "node:http"
import { type AddressInfo, connect, type Socket } from "node:net"
import { join } from "node:path"
import { readServeFile, standingKey } from "@orangebox/server"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { type Scratch, scratchFolder } from "../command.js"
import { record, recordOrdinaryRun } from "../recorded-run.js"
import { serveHere, type TestServer } from "./http-server.js"

describe("[O-03] the server against those who should not get in", () => {
  let scratch: Scratch
  let server: TestServer
  const secret = "the sheep of the king"
  beforeAll(async () => {
    scratch = scratchFolder()
    await record(scratch.path, async (recorder) => void (await recordOrdinaryRun(recorder, secret)))
    const webFolder = join(scratch.path, "web")
    mkdirSync(join(webFolder, "assets"), { recursive: true })
    writeFileSync(join(webFolder, "index.html"), "<!doctype html><title>orangebox</title>")
    writeFileSync(join(webFolder, "assets", "main-0123abcd.js"), "0")
    server = await serveHere(scratch.path, { webFolder, skill: "find, don't fix" })
  })
  afterAll(async () => {
    await server?.close()
    scratch.remove()
  })

  /** A request byte for byte, as no browser or library would let it through. */
  const raw = (lines: readonly string[]): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connect(server.port, "127.0.0.1")
      let text = ""
      socket.on("data", (piece) => {
        text += piece.toString()
      })
      socket.on("close", () => resolve(text))
      socket.on("error", reject)
      socket.write(`${lines.join("\r\n")}\r\n\r\n`)
    })
  const bearer = (): string => `Authorization: Bearer ${server.key}`
  const statusOf = (answer: string): number => Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1])

  test.each([
    ["a name that was made to point here", ["Host: evil.example:*"]],
    ["the right name with another port", ["Host: 127.0.0.1:1"]],
    ["a name that begins like ours", ["Host: 127.0.0.1.evil.example:*"]],
    ["no port", ["Host: localhost"]],
    ["two hosts", ["Host: 127.0.0.1:*", "Host: evil.example"]],
  ])("a request for %s is refused on every path", async (_, hosts) => {
    for (const path of ["/api/v1/runs", "/", "/assets/main-0123abcd.js", "/mcp", "/api/v1/session"]) {
      const lines = hosts.map((host) => host.replace("*", String(server.port)))
      const answer = await raw([`GET ${path} HTTP/1.1`, ...lines, bearer(), "Connection: close"])
      expect([400, 421], `${path}: ${answer.slice(0, 80)}`).toContain(statusOf(answer))
      expect(answer).not.toContain(secret)
      expect(answer).not.toContain("<!doctype")
    }
  })

  test.each([
    [{ origin: "https://evil.example" }],
    [{ origin: "null" }],
    [{ origin: "http://127.0.0.1:1" }],
    [{ "sec-fetch-site": "cross-site" }],
    [{ "sec-fetch-site": "same-site" }],
    [{ "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" }],
  ])("a page of another site gets nothing: %j", async (headers) => {
    const { status, text } = await get(server, "/api/v1/runs", headers)
    expect([status, text.includes(secret)]).toEqual([403, false])
    const { status: session } = await get(server, "/api/v1/session", headers, "POST")
    expect(session).toBe(403)
  })

  test("a link from anywhere leads to the page, which holds no data; what it loads comes from here alone", async () => {
    const link = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" }
    const { status, text, headers } = await get(server, "/runs/run_1/3?tab=context", link)
    expect([status, text]).toEqual([200, "<!doctype html><title>orangebox</title>"])
    expect(headers["content-security-policy"]).toContain("default-src 'none'; script-src 'self'")
    expect(headers["content-security-policy"]).toContain("require-trusted-types-for 'script'; trusted-types 'none'")
    expect(headers["content-security-policy"]).toContain("frame-ancestors 'none'")
    const script = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "script" }
    expect((await get(server, "/assets/main-0123abcd.js", script)).status).toBe(403)
  })

  test("a form that a page of another site sends here brings nothing in, also where exporters need no key", async () => {
    const taken: string[] = []
    const handle = async (path: string) => {
      taken.push(path)
      return { status: 200, headers: {}, body: Buffer.from("{}") }
    }
    const open = await serveHere(scratch.path, { otlp: { isOpen: true, handle } })
    try {
      const form = { "sec-fetch-mode": "navigate", "sec-fetch-dest": "document", "content-type": "text/plain" }
      for (const site of [{ "sec-fetch-site": "cross-site" }, { origin: "https://evil.example" }])
        expect((await get(open, "/v1/traces", { ...form, ...site }, "POST")).status).toBe(403)
      expect(taken).toEqual([])
      expect((await get(open, "/v1/traces", { authorization: "" }, "POST")).status).toBe(200)
      expect(taken).toEqual(["/v1/traces"])
    } finally {
      await open.close()
    }
  })

  test("without the key, with another, with one in the address or in a cookie there is no answer", async () => {
    const wrong = server.key.replace(/.$/, (last) => (last === "A" ? "B" : "A"))
    for (const headers of [
      {},
      { authorization: `Bearer ${wrong}` },
      { authorization: "Bearer " },
      { authorization: `Basic ${server.key}` },
      { cookie: `key=${server.key}` },
    ]) {
      const { status, text } = await get(server, "/api/v1/runs", { authorization: "", ...headers })
      expect([status, JSON.parse(text).code]).toEqual([401, "NO_KEY"])
    }
    for (const path of [`/api/v1/runs?key=${server.key}`, `/api/v1/runs?access_token=${server.key}`])
      expect((await get(server, path, { authorization: "" })).status).toBe(401)
  })

  test("the key of the server and the key that stays open each their own door", async () => {
    const stays = standingKey(scratch.path)
    expect((await get(server, "/api/v1/runs", { authorization: `Bearer ${stays}` })).status).toBe(401)
    expect((await get(server, "/mcp", { authorization: `Bearer ${server.key}` }, "POST")).status).toBe(401)
    expect((await get(server, "/mcp", { authorization: `Bearer ${stays}` })).status).toBe(405)
    standingKey(scratch.path, { isRotated: true })
    expect((await get(server, "/mcp", { authorization: `Bearer ${stays}` }, "POST")).status).toBe(401)
  })

  test("a code is good once, and only its holder or the holder of the key gets one", async () => {
    const code = server.addressWithCode("/runs").split("#k=")[1]!
    const swap = async (body: object, headers = {}): Promise<[number, Record<string, string>]> => {
      const response = await fetch(`${server.url}/api/v1/session`, {
        method: "POST",
        body: JSON.stringify(body),
        headers,
      })
      return [response.status, (await response.json()) as Record<string, string>]
    }
    expect(await swap({ code })).toEqual([200, { key: server.key }])
    expect((await swap({ code }))[0]).toBe(401)
    expect((await swap({}))[0]).toBe(401)
    expect((await swap({ code: "x".repeat(5000) }))[0]).toBe(413)
    const [status, { code: another }] = await swap({}, { authorization: `Bearer ${server.key}` })
    expect(status).toBe(200)
    expect(await swap({ code: another })).toEqual([200, { key: server.key }])
  })

  test.each([
    "/assets/../../../serve.json",
    "/assets/..%2f..%2fserve.json",
    "/..%5c..%5cserve.json",
    "//serve.json",
    "/serve.json",
    "/serve-key",
    "/assets/%2e%2e/index.html",
    "/assets/main-0123abcd.js/../../serve.json",
    "/assets/nothing.js",
    "/api/v1/../../serve.json",
  ])("the path %s leads to no file", async (path) => {
    const answer = await raw([`GET ${path} HTTP/1.1`, `Host: 127.0.0.1:${server.port}`, bearer(), "Connection: close"])
    expect(answer).not.toContain(server.key)
    // What looks like an address of the page is answered with the page, and with nothing else.
    expect([404, 401, 200]).toContain(statusOf(answer))
    if (statusOf(answer) === 200) expect(answer).toMatch(/<!doctype html><title>orangebox<\/title>$/)
  })

  test.each([
    ["sha256:..%2f..%2fserve.json", 400],
    ["..%2f..%2f..%2fserve.json", 400],
    [`sha256:${"0".repeat(64)}`, 410],
    [`sha256:${"A".repeat(64)}`, 400],
    [`sha256:${"0".repeat(63)}`, 400],
    ["%00", 400],
    ["%ff", 404],
  ])("the body %s is not there, and nothing else is", async (hash, status) => {
    for (const path of [`/bodies/${hash}`, `/bodies/${hash}/raw`]) expect((await server.ask(path)).status).toBe(status)
  })

  test("nothing is written, whatever the method", async () => {
    for (const method of ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"]) {
      const response = await server.ask("/runs", { method })
      expect([response.status, response.headers.get("access-control-allow-origin")]).toEqual([405, null])
    }
  })

  test("a URL that is too long is refused, and so is a head without end", async () => {
    expect((await server.ask(`/search?q=${"a".repeat(9000)}`)).status).toBe(414)
    const answer = await raw([`GET /${"a".repeat(40_000)} HTTP/1.1`, `Host: 127.0.0.1:${server.port}`])
    expect(statusOf(answer)).toBe(431)
  })

  test("every answer says that it must not be kept, sniffed, framed or read by others", async () => {
    for (const path of ["/api/v1/runs", "/api/v1/nothing", "/", "/nothing.js"]) {
      const { headers } = await get(server, path)
      expect(headers).toMatchObject({
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
      })
      expect(Object.keys(headers).filter((name) => /set-cookie|access-control/.test(name))).toEqual([])
    }
    expect((await get(server, "/assets/main-0123abcd.js")).headers["cache-control"]).toMatch(/immutable/)
  })

  test("ten thousand connections that say nothing get no further than the bound, and the server answers when they are gone", async () => {
    const sockets = new Set<Socket>()
    let turnedAway = 0
    let at = 0
    // A process has room for some thousand sockets at once: those that are turned away make room for the next.
    const next = (): void => {
      if (at >= 10_000) return
      at += 1
      const socket = connect(server.port, "127.0.0.1")
      sockets.add(socket)
      socket
        .on("error", () => {})
        .on("close", () => {
          turnedAway += 1
          sockets.delete(socket)
          next()
        })
    }
    try {
      for (let first = 0; first < 1000; first += 1) next()
      await expect.poll(() => at, { timeout: 120_000, interval: 200 }).toBe(10_000)
      await expect.poll(() => sockets.size, { timeout: 120_000, interval: 200 }).toBeLessThanOrEqual(MOST_CONNECTIONS)
      expect(turnedAway).toBeGreaterThanOrEqual(10_000 - MOST_CONNECTIONS)
    } finally {
      at = Number.POSITIVE_INFINITY
      for (const socket of sockets) socket.destroy()
    }
    await expect.poll(async () => (await server.ask("/meta").catch(() => undefined))?.status, POLL).toBe(200)
  })

  test("a client that sends its head letter by letter is cut off", async () => {
    const socket = connect(server.port, "127.0.0.1")
    const closed = new Promise<number>((resolve) =>
      socket.on("close", () => resolve(performance.now())).on("error", () => {}),
    )
    const begun = performance.now()
    socket.write("GET /api/v1/runs HTTP/1.1\r\n")
    const drip = setInterval(() => socket.write("X-A: b\r\n"), 500)
    socket.on("close", () => clearInterval(drip))
    expect((await closed) - begun).toBeLessThan(25_000)
  })

  test("of the requests that come at once no more than sixty-four are worked on; the others are told to wait", async () => {
    const answers = await Promise.all(
      Array.from({ length: 200 }, async () => (await server.ask("/runs/last/report").catch(() => undefined))?.status),
    )
    const told = answers.filter((status) => status !== undefined)
    expect(told.every((status) => status === 200 || status === 503)).toBe(true)
    expect(told).toContain(200)
    expect((await server.ask("/meta")).status).toBe(200)
  })

  test("a seventeenth stream is refused, and its place is free when another ends", async () => {
    const streams = await Promise.all(Array.from({ length: 16 }, () => stream(server)))
    try {
      const refused = await server.ask("/live")
      expect([refused.status, ((await refused.json()) as { code: string }).code]).toEqual([503, "BUSY"])
    } finally {
      for (const end of streams) end()
    }
    await expect
      .poll(async () => {
        const answer = await fetch(`${server.url}/api/v1/live`, { headers: { authorization: `Bearer ${server.key}` } })
        await answer.body?.cancel()
        return answer.status
      }, POLL)
      .toBe(200)
  })

  test("the page of another server on this machine gets nothing, not even with what its browser holds for us", async () => {
    const other = createServer().listen(0, "127.0.0.1")
    await new Promise((resolve) => other.once("listening", resolve))
    const origin = `http://127.0.0.1:${(other.address() as AddressInfo).port}`
    try {
      for (const site of ["same-site", "cross-site"]) {
        const headers = { origin, "sec-fetch-site": site, "sec-fetch-mode": "cors" }
        const { status, text, headers: answered } = await get(server, "/api/v1/runs", headers)
        expect([status, text.includes(secret), answered["access-control-allow-origin"]]).toEqual([
          403,
          false,
          undefined,
        ])
      }
      // Cookies ignore ports: there is none that it could have been sent.
      expect((await get(server, "/")).headers["set-cookie"]).toBeUndefined()
    } finally {
      other.close()
    }
  })

  test("the file with the key is for its owner alone, and gone with the server", async () => {
    const { statSync, existsSync } = await import("node:fs")
    const another = await serveHere(scratch.path)
    const path = join(scratch.path, "serve.json")
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(statSync(join(scratch.path, "serve-key")).mode & 0o777).toBe(0o600)
    expect(readServeFile(scratch.path)!.key).not.toBe(server.key)
    await another.close()
    expect(existsSync(path)).toBe(false)
  })
})

const POLL = { timeout: 20_000, interval: 200 }
/** As docs/http-api.md says. */
const MOST_CONNECTIONS = 256

interface Got {
  readonly status: number
  readonly text: string
  readonly headers: Record<string, string | string[] | undefined>
}

/** As `fetch` lets nobody set: headers that browsers keep for themselves. */
function get({ port, key }: TestServer, path: string, headers: object = {}, method = "GET"): Promise<Got> {
  return new Promise((resolve, reject) => {
    const asked = request(
      { ...{ host: "127.0.0.1", port, path, method }, headers: { authorization: `Bearer ${key}`, ...headers } },
      (response) => {
        let text = ""
        response.setEncoding("utf8").on("data", (piece: string) => {
          text += piece
        })
        response.on("end", () => resolve({ status: response.statusCode!, text, headers: response.headers }))
      },
    )
    asked.on("error", reject).end()
  })
}

function stream({ port, key }: TestServer): Promise<() => void> {
  return new Promise((resolve, reject) => {
    const asked = request(
      { host: "127.0.0.1", port, path: "/api/v1/live", headers: { authorization: `Bearer ${key}` } },
      (response) => {
        response.on("error", () => {})
        response.once("data", () => resolve(() => asked.destroy()))
      },
    )
    asked.on("error", reject).end()
  })
}
