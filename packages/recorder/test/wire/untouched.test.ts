import { once } from "node:events"
import { createServer } from "node:net"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { brotliCompressSync, gzipSync } from "node:zlib"
import { describe, expect, onTestFinished, test, vi } from "vitest"
import { Recorder } from "../../src/index.js"
import { contractProblems, recordInMemory } from "../recording.js"
import { loopback, MESSAGES_REQUEST, messagesStream, sendJson, sendPieces } from "./loopback.js"

/** Everything a caller can see of an answer. */
async function seenOf(answer: Promise<Response>): Promise<unknown> {
  try {
    const response = await answer
    const pieces: string[] = []
    for await (const piece of response.body ?? []) pieces.push(Buffer.from(piece).toString("base64"))
    const { status, statusText, ok, url, redirected, type } = response
    const headers = [...response.headers].filter(([name]) => name !== "date")
    return { status, statusText, ok, url, redirected, type, headers, hasBody: response.body !== null, bytes: pieces }
  } catch (error) {
    return describeThrown(error)
  }
}

const describeThrown = (error: unknown): unknown => {
  const { name, message, cause } = error as Error
  return { name, message, cause: (cause as { code?: string } | undefined)?.code ?? String(cause) }
}

/** A recording fetch beside the plain one. */
function bothFetches() {
  const recording = recordInMemory({ strict: true })
  const run = recording.recorder.startRun({ entrypoint: "test" })
  return { ...recording, run, recorded: run.fetch, plain: globalThis.fetch }
}

describe("[K-02] the caller of a recording fetch sees what it would have seen without", () => {
  const bodies: Record<string, () => RequestInit> = {
    "a text": () => ({ method: "POST", body: "grüße 🌦 \ud800" }),
    "lower-case method": () => ({ method: "post", body: "x" }),
    bytes: () => ({ method: "POST", body: Uint8Array.of(0, 255, 128, 7).subarray(1) }),
    "an array buffer": () => ({ method: "PUT", body: Uint8Array.of(1, 2, 3).buffer }),
    "a data view": () => ({ method: "POST", body: new DataView(Uint8Array.of(1, 2, 3).buffer, 1) }),
    "form values": () => ({ method: "POST", body: new URLSearchParams({ a: "1", b: "ü" }) }),
    "a blob": () => ({ method: "POST", body: new Blob(["hello"], { type: "text/x-mine" }) }),
    "headers as a list": () => ({
      method: "POST",
      body: "{}",
      headers: [
        ["X-One", "1"],
        ["content-type", "application/json"],
      ],
    }),
    "headers as Headers": () => ({ headers: new Headers({ "x-two": "2" }) }),
    HEAD: () => ({ method: "HEAD" }),
    nothing: () => ({}),
  }
  test.each(Object.entries(bodies))("request with %s", async (_, init) => {
    const server = await loopback(({ method, headers, body }, response) => {
      const { host: _, ...kept } = headers
      sendJson(response, { method, headers: kept, body: body.toString("base64") })
    })
    const { recorded, plain, sink } = bothFetches()
    expect(await seenOf(recorded(`${server.url}/p?q=1`, init()))).toEqual(
      await seenOf(plain(`${server.url}/p?q=1`, init())),
    )
    expect(server.seen[0]!.body).toEqual(server.seen[1]!.body)
    if (server.seen[0]!.body.length > 0) {
      const refs = sink.events
        .flatMap((event) => event.artifact_refs)
        .filter(({ artifact_type }) => artifact_type === "body")
      expect(Buffer.from(sink.bodies.get(refs[0]!.artifact_hash)!)).toEqual(server.seen[0]!.body)
    }
  })

  test("a form, a stream and a Request object are sent to the byte as they are recorded", async () => {
    const server = await loopback((_, response) => response.end("ok"))
    const { recorded, sink, run } = bothFetches()
    const form = new FormData()
    form.set("file", new Blob([Uint8Array.of(0, 1, 2, 255)]), "a.bin")
    form.set("purpose", "batch")
    const stream = new ReadableStream({
      start(controller) {
        for (const piece of ["one ", "two"]) controller.enqueue(Buffer.from(piece))
        controller.close()
      },
    })
    const request = new Request(`${server.url}/r`, { method: "POST", body: "from a Request", headers: { "x-a": "1" } })
    for (const response of [
      await recorded(`${server.url}/f`, { method: "POST", body: form }),
      await recorded(`${server.url}/s`, { method: "POST", body: stream, duplex: "half" } as RequestInit),
      await recorded(request),
      await recorded(new Request(`${server.url}/g`), { headers: { "x-b": "2" } }),
    ]) {
      expect(await response.text()).toBe("ok")
    }
    run.complete()
    const sent = server.seen.map(({ body }) => body.toString("latin1"))
    expect(sent.slice(1)).toEqual(["one two", "from a Request", ""])
    expect(sent[0]).toContain(/boundary=(\S+)/.exec(server.seen[0]!.headers["content-type"]!)![1]!)
    expect(server.seen[2]!.headers["x-a"]).toBe("1")
    expect(server.seen[3]!.headers["x-b"]).toBe("2")
    expect(request.bodyUsed).toBe(true)
    const started = sink.events.flatMap((event) =>
      event.event_type === "step_started" ? [event.payload.body_ref] : [],
    )
    expect(started.map((ref) => (ref ? Buffer.from(sink.bodies.get(ref)!).toString("latin1") : ""))).toEqual(sent)
    expect(contractProblems(sink)).toEqual([])
  })

  const answers: Record<string, (response: import("node:http").ServerResponse) => unknown> = {
    json: (response) => sendJson(response, { a: "ü" }),
    "an event stream": (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" })
      return sendPieces(response, messagesStream(["Son", "nig ☀️"]))
    },
    gzip: (response) => {
      response.writeHead(200, { "content-encoding": "gzip", "content-type": "application/json" })
      response.end(gzipSync(`{"z":"${"ü".repeat(5000)}"}`))
    },
    brotli: (response) => {
      response.writeHead(200, { "content-encoding": "br" })
      response.end(brotliCompressSync("x".repeat(100_000)))
    },
    "204": (response) => response.writeHead(204).end(),
    "304": (response) => response.writeHead(304, { etag: "a" }).end(),
    "205": (response) => response.writeHead(205).end(),
    empty: (response) => response.end(),
    cookies: (response) => response.writeHead(200, { "set-cookie": ["a=1", "b=2"] }).end("x"),
    "an error": (response) => sendJson(response, { error: { message: "no" } }, 529),
    "a reset before headers": (response) => response.destroy(),
    "a broken gzip": (response) => response.writeHead(200, { "content-encoding": "gzip" }).end("not gzip"),
  }
  test.each(Object.entries(answers))("answer: %s", async (_, answer) => {
    const server = await loopback((_request, response) => answer(response))
    const { recorded, plain, run, sink } = bothFetches()
    const mine = (await seenOf(recorded(server.url))) as { bytes?: string[] }
    const theirs = (await seenOf(plain(server.url))) as { bytes?: string[] }
    // How the network cuts an answer may differ from one request to the next; what was cut may not.
    const joined = (seen: { bytes?: string[] }) => ({
      ...seen,
      bytes: seen.bytes && Buffer.concat(seen.bytes.map((piece) => Buffer.from(piece, "base64"))).toString("base64"),
    })
    expect(joined(mine)).toEqual(joined(theirs))
    run.complete()
    expect(contractProblems(sink)).toEqual([])
  })

  test("a redirect is followed or handed out as before", async () => {
    const server = await loopback(({ url }, response) =>
      url === "/end" ? response.end("arrived") : response.writeHead(307, { location: "/end" }).end(),
    )
    const { recorded, plain } = bothFetches()
    for (const redirect of ["follow", "manual", "error"] as const) {
      expect(await seenOf(recorded(`${server.url}/a`, { redirect }))).toEqual(
        await seenOf(plain(`${server.url}/a`, { redirect })),
      )
    }
    const response = await recorded(`${server.url}/a`)
    expect([response.url, response.redirected]).toEqual([`${server.url}/end`, true])
  })

  test("what is no valid request fails with the error of fetch itself, and is not recorded", async () => {
    const { recorded, plain, sink } = bothFetches()
    const before = sink.events.length
    for (const [input, init] of [
      ["not a url", {}],
      ["http://127.0.0.1:1", { method: "GET", body: "x" }],
      ["http://127.0.0.1:1", { headers: { "bad name": "x" } }],
      ["http://127.0.0.1:1", { method: "TRACE" }],
    ] as const) {
      expect(await seenOf(recorded(input, init))).toEqual(await seenOf(plain(input, init)))
    }
    expect(sink.events.filter(({ event_type }) => event_type === "model_called")).toEqual([])
    expect(before).toBe(2)
  })

  test("a network error is the same error", async () => {
    const { recorded, plain, run, sink } = bothFetches()
    const init = { method: "POST", body: JSON.stringify(MESSAGES_REQUEST) }
    const url = "http://127.0.0.1:1/v1/messages"
    expect(await seenOf(recorded(url, init))).toEqual(await seenOf(plain(url, init)))
    run.complete()
    const result = sink.events.find((event) => event.event_type === "model_result")!
    expect(result.payload).toMatchObject({
      status: "error",
      error_class: "TypeError",
      http_status: null,
      stream_end: "upstream_reset",
    })
    expect(contractProblems(sink)).toEqual([])
  })

  test("clone, json, text, bytes into a caller's buffer and reading without await work as on any Response", async () => {
    const server = await loopback((_, response) => sendJson(response, { a: [1, 2, 3] }))
    const { recorded } = bothFetches()
    const response = await recorded(server.url)
    const copy = response.clone()
    expect([copy.url, copy.type, copy instanceof Response]).toEqual([`${server.url}/`, "basic", true])
    expect(await Promise.all([response.json(), copy.text()])).toEqual([{ a: [1, 2, 3] }, '{"a":[1,2,3]}'])
    expect(response.bodyUsed).toBe(true)

    const reader = (await recorded(server.url)).body!.getReader({ mode: "byob" })
    const text: string[] = []
    for (;;) {
      const { done, value } = await reader.read(new Uint8Array(4))
      if (done) break
      text.push(Buffer.from(value).toString())
    }
    expect(text.join("")).toBe('{"a":[1,2,3]}')
    expect(text.length).toBeGreaterThan(2)
  })

  test("pieces keep their boundaries: each arrives before the next was sent", async () => {
    const pieces = messagesStream(["a", "b", "c"])
    let next: () => void = () => {}
    const server = await loopback(async (_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" })
      for (const piece of pieces) {
        const asked = new Promise<void>((resolve) => {
          next = resolve
        })
        response.write(piece)
        await asked
      }
      response.end()
    })
    const { recorded, sink, run } = bothFetches()
    const response = await recorded(`${server.url}/v1/messages`, {
      method: "POST",
      body: JSON.stringify(MESSAGES_REQUEST),
    })
    const seen: string[] = []
    for await (const piece of response.body!) {
      seen.push(Buffer.from(piece).toString())
      next()
    }
    expect(seen).toEqual(pieces)
    run.complete()
    const result = sink.events.find((event) => event.event_type === "model_result")!
    const { reads } = JSON.parse(sink.textOf(result.payload.stream_index_ref)!) as { reads: [number, number][] }
    expect(reads.map(([offset]) => offset)).toEqual(
      pieces.map((_, i) => Buffer.byteLength(pieces.slice(0, i).join(""))),
    )
  })

  test("back-pressure: a caller that does not read keeps the sender from sending", async () => {
    const total = 64 * 1024 * 1024
    let sent = 0
    const server = await loopback(async (_, response) => {
      response.setMaxListeners(0).writeHead(200)
      const piece = Buffer.alloc(256 * 1024, "x")
      while (sent < total && !response.destroyed) {
        sent += piece.length
        if (!response.write(piece)) await Promise.race([once(response, "drain"), once(response, "close")])
      }
      response.end()
    })
    const { recorded } = bothFetches()
    const response = await recorded(server.url)
    let before = -1
    // Quiet: all buffers on the way are full and nothing moves any more.
    await vi.waitFor(
      () => {
        const isQuiet = sent === before
        before = sent
        if (!isQuiet) throw new Error("still sending")
      },
      { interval: 100, timeout: 20_000 },
    )
    expect(sent).toBeLessThan(total / 2)
    const reader = response.body!.getReader()
    for (let i = 0; i < 200; i++) await reader.read()
    expect(sent).toBeGreaterThan(before)
    await reader.cancel()
  })

  test("a replaced global fetch gets the arguments the caller gave", async () => {
    const { recorded } = bothFetches()
    const replaced = vi.spyOn(globalThis, "fetch").mockImplementation(async () => Response.json({ ok: true }))
    onTestFinished(() => replaced.mockRestore())
    const init = { method: "POST", body: "{}", headers: { "x-a": "1" } }
    expect(await (await recorded("https://api.example/v1/x", init)).json()).toEqual({ ok: true })
    expect(replaced.mock.calls[0]![0]).toBe("https://api.example/v1/x")
    expect(replaced.mock.calls[0]![1]).toBe(init)
  })

  test("[R-11] with recording off it is the global fetch itself", () => {
    const off = Recorder.off()
    expect(off.fetch).toBe(globalThis.fetch)
    expect(off.startRun({ entrypoint: "x" }).fetch).toBe(globalThis.fetch)
  })
})

describe("[K-02] aborts", () => {
  const post = { method: "POST", body: JSON.stringify({ ...MESSAGES_REQUEST, stream: true }) }

  async function streaming(pieces: readonly string[]) {
    const server = await loopback((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" })
      for (const piece of pieces) response.write(piece)
    })
    const both = bothFetches()
    const result = () => both.sink.events.find((event) => event.event_type === "model_result")?.payload
    return { ...both, url: `${server.url}/v1/messages`, result }
  }

  test("before the request: the reason itself is thrown, and the call is on record", async () => {
    const { recorded, url, result } = await streaming([])
    const reason = new Error("mine")
    await expect(recorded(url, { ...post, signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    expect(result()).toMatchObject({ stream_end: "client_abort", error_class: "Error", response_ref: null })
  })

  test("before the headers", async () => {
    const server = await loopback(() => {})
    const { recorded, sink } = bothFetches()
    const controller = new AbortController()
    const answer = recorded(`${server.url}/v1/messages`, { ...post, signal: controller.signal })
    await vi.waitFor(() => expect(server.seen).toHaveLength(1))
    controller.abort()
    await expect(answer).rejects.toBe(controller.signal.reason)
    expect(sink.events.find((event) => event.event_type === "model_result")!.payload).toMatchObject({
      stream_end: "client_abort",
      error_class: "AbortError",
    })
  })

  test("in the middle of the body: the reader gets the reason, the record the part that came", async () => {
    const pieces = messagesStream(["half an "]).slice(0, 4)
    const { recorded, url, result, sink } = await streaming(pieces)
    const controller = new AbortController()
    const reader = (await recorded(url, { ...post, signal: controller.signal })).body!.getReader()
    let got = ""
    while (got.length < pieces.join("").length) got += Buffer.from((await reader.read()).value!).toString()
    controller.abort(new Error("enough"))
    await expect(reader.read()).rejects.toBe(controller.signal.reason)
    expect(result()).toMatchObject({
      status: "partial",
      stream_end: "client_abort",
      http_status: 200,
      output_summary: "half an",
    })
    expect(sink.textOf(result()!.response_ref)).toBe(pieces.join(""))
  })

  test("while nobody reads: the step ends all the same", async () => {
    const { recorded, url, result } = await streaming(messagesStream(["x"]).slice(0, 2))
    const controller = new AbortController()
    await recorded(url, { ...post, signal: controller.signal })
    controller.abort()
    expect(result()).toMatchObject({ stream_end: "client_abort" })
  })

  test("leaving by cancel, before and after the terminal event", async () => {
    const early = await streaming(messagesStream(["x"]).slice(0, 4))
    const reader = (await early.recorded(early.url, post)).body!.getReader()
    await reader.read()
    await reader.cancel("bored")
    expect(early.result()).toMatchObject({ status: "partial", stream_end: "client_abort" })

    const whole = messagesStream(["x"])
    const late = await streaming(whole)
    const lateReader = (await late.recorded(late.url, post)).body!.getReader()
    for (let got = 0; got < Buffer.byteLength(whole.join("")); ) got += (await lateReader.read()).value!.length
    await lateReader.cancel()
    expect(late.result()).toMatchObject({ status: "success", stream_end: "complete", finish_reason: "end_turn" })
  })

  test("after the end: nothing changes", async () => {
    const server = await loopback((_, response) => sendJson(response, { a: 1 }))
    const { recorded, sink } = bothFetches()
    const controller = new AbortController()
    await (await recorded(`${server.url}/v1/messages`, { ...post, signal: controller.signal })).text()
    controller.abort()
    expect(sink.events.filter((event) => event.event_type === "model_result")).toHaveLength(1)
    expect(sink.events.find((event) => event.event_type === "model_result")!.payload.stream_end).toBe("complete")
  })

  test("a signal's time limit is a timeout, before the headers and in the body", async () => {
    const silent = await loopback(() => {})
    const { recorded, sink } = bothFetches()
    await expect(
      recorded(`${silent.url}/v1/messages`, { ...post, signal: AbortSignal.timeout(30) }),
    ).rejects.toMatchObject({ name: "TimeoutError" })
    const slow = await streaming(messagesStream(["x"]).slice(0, 2))
    const response = await slow.recorded(slow.url, { ...post, signal: AbortSignal.timeout(200) })
    await expect(response.text()).rejects.toMatchObject({ name: "TimeoutError" })
    expect(sink.events.find((event) => event.event_type === "model_result")!.payload).toMatchObject({
      status: "timeout",
      stream_end: "timeout",
    })
    expect(slow.result()).toMatchObject({ status: "timeout", stream_end: "timeout" })
  })

  test("a hundred requests with one signal bring no warning about listeners", async () => {
    const server = await loopback((_, response) => response.end("ok"))
    const { recorded } = bothFetches()
    const warnings: string[] = []
    const listen = (warning: Error): void => void warnings.push(warning.name)
    process.on("warning", listen)
    onTestFinished(() => void process.off("warning", listen))
    const { signal } = new AbortController()
    await Promise.all(Array.from({ length: 100 }, async () => (await recorded(server.url, { signal })).text()))
    await new Promise((resolve) => setImmediate(resolve))
    expect(warnings).toEqual([])
  })

  test("a body that is dropped unread gives its connection back and ends its step", async () => {
    setFlagsFromString("--expose_gc")
    const gc = runInNewContext("gc") as () => void
    let isClosed = false
    const server = await loopback((_, response) => {
      response.on("close", () => {
        isClosed = true
      })
      response.writeHead(200, { "content-type": "text/event-stream" })
      response.write("data: {}\n\n")
    })
    const { recorded, sink } = bothFetches()
    await (async () => void (await recorded(`${server.url}/v1/messages`, post)).status)()
    await vi.waitFor(
      () => {
        gc()
        expect(isClosed).toBe(true)
      },
      { timeout: 20_000, interval: 50 },
    )
    expect(sink.events.find((event) => event.event_type === "model_result")!.payload.stream_end).toBe("client_abort")
  })

  test("a connection that breaks in the body is the same error, and the part that came is kept", async () => {
    const part = messagesStream(["so far"]).slice(0, 4).join("")
    const server = createServer((socket) => {
      socket.once("data", () => {
        socket.write(`HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n`)
        socket.write(`${Buffer.byteLength(part).toString(16)}\r\n${part}\r\n`, () =>
          setTimeout(() => socket.destroy(), 50),
        )
      })
    })
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    onTestFinished(() => void server.close())
    const url = `http://127.0.0.1:${(server.address() as { port: number }).port}/v1/messages`
    const { recorded, plain, sink, run } = bothFetches()
    expect(await seenOf(recorded(url, post))).toEqual(await seenOf(plain(url, post)))
    run.complete()
    const { payload } = sink.events.find((event) => event.event_type === "model_result")!
    expect(payload).toMatchObject({ status: "partial", stream_end: "upstream_reset", output_summary: "so far" })
    expect(sink.textOf(payload.response_ref)).toBe(part)
    expect(contractProblems(sink)).toEqual([])
  })
})
