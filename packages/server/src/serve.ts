import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http"
import type { AddressInfo } from "node:net"
import type { WatchStatus } from "@orangebox/collector"
import { asRecord, InputError, OrangeboxError, textIn } from "@orangebox/contract"
import { OTLP_MOST_BYTES } from "@orangebox/exchange"
import { catchUpStore, locateData, StandingReading } from "@orangebox/reader"
import { findConfig } from "@orangebox/recorder"
import { AnswerMemory } from "./answer-memory.js"
import { AnswerThread } from "./answer-thread.js"
import { type ApiAsked, type ApiOptions, answerOrRefusal, isHeavy, isOfRuns } from "./api.js"
import { unlessKnown } from "./etag.js"
import { SAFE_HEADERS } from "./guard/headers.js"
import { allowedHosts, checkHost } from "./guard/host.js"
import { checkKey, freshKey, standingKey } from "./guard/key.js"
import {
  MOST_CONNECTIONS,
  MOST_MS,
  MOST_REQUESTS,
  MOST_STREAMS,
  MOST_URL_BYTES,
  Seats,
  withinTime,
} from "./guard/limits.js"
import { OneTimeCodes } from "./guard/one-time-code.js"
import { checkOrigin, isNavigation } from "./guard/origin.js"
import { catchUpMeanwhile, collectMeanwhile, type KeepingUp } from "./keep-up.js"
import { LiveFeed } from "./live-feed.js"
import { answerMcp } from "./mcp-over-http.js"
import { refusalOf } from "./problem.js"
import type { Reply } from "./reply.js"
import { removeServeFile, writeServeFile } from "./serve-file.js"
import { StaticFiles } from "./static-files.js"

export interface ServeOptions {
  /** The data folder. */
  readonly data: string
  /** The same where somebody named it: it stands in the commands that answers suggest. */
  readonly named?: string | undefined
  readonly version: string
  /** The port to listen at; the next free one above it where it is taken, unless it has to be this one. */
  readonly port: number
  readonly isPortFixed?: boolean
  /** Names of this machine that requests may use beside its own. */
  readonly hosts?: readonly string[]
  /** Where the built web UI is. */
  readonly webFolder?: string
  /** The built module that answers in a thread of its own; without it everything is answered in this one. */
  readonly answerScript?: URL
  /** How a debugging agent works, for the prompts of MCP; without it there is no MCP here. */
  readonly skill?: string
  /** Takes OTLP in at `/v1/traces`, `/v1/logs` and `/v1/metrics`; without it they are not there. */
  readonly otlp?: OtlpReceiver
  /** Hold the store and collect, as `serve` does; else it is only caught up, as `ui` does. */
  readonly collects: boolean
  readonly onStatus?: (status: WatchStatus) => void
  readonly onWarning?: (message: string) => void
}

export interface OtlpReceiver {
  /** Exporters on this machine need no key. */
  readonly isOpen: boolean
  handle(
    path: string,
    headers: IncomingHttpHeaders,
    body: Uint8Array,
  ): Promise<{ readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly body: Uint8Array }>
}

export interface RunningServer {
  readonly url: string
  readonly port: number
  /** What a browser is opened with: an address and a code that is good once, for a minute. */
  addressWithCode(path: string): string
  close(): Promise<void>
}

/** Starts the HTTP API and the web UI of a data folder, on this machine alone. */
export async function startServer(options: ServeOptions): Promise<RunningServer> {
  const { path: data } = locateData(options.data)
  const onWarning = options.onWarning ?? (() => {})
  const caughtUp = await catchUpStore(data, { onWarning })
  const key = freshKey()
  const codes = new OneTimeCodes()
  const stop = new AbortController()
  const keeping: KeepingUp =
    options.collects && !caughtUp.isReadOnly
      ? collectMeanwhile(data, stop.signal, { onStatus: options.onStatus ?? (() => {}), onWarning })
      : caughtUp.isReadOnly
        ? { behindBytes: () => caughtUp.behindBytes, done: Promise.resolve() }
        : catchUpMeanwhile(data, stop.signal, onWarning)
  const reading = new StandingReading(data)
  const api: ApiOptions = { reading, named: options.named, version: options.version, behindBytes: keeping.behindBytes }
  const feed = new LiveFeed(async () => ({ store: await reading.at(), behindBytes: keeping.behindBytes() }))
  const settings = { data, named: options.named, version: options.version }
  const thread = options.answerScript && new AnswerThread(options.answerScript, settings)
  const memory = new AnswerMemory()
  const files = new StaticFiles(options.webFolder)
  const requests = new Seats(MOST_REQUESTS, "requests")
  const streams = new Seats(MOST_STREAMS, "streams")
  let hosts: ReadonlySet<string> = new Set()

  const server = createServer({ requestTimeout: MOST_MS, headersTimeout: 10_000, connectionsCheckingInterval: 2000 })
  server.maxConnections = MOST_CONNECTIONS
  server.timeout = 2 * MOST_MS
  server.on("request", (request, response) => {
    handle(request, response)
      .catch((error: unknown) => refuse(response, error))
      .catch(() => response.destroy())
  })
  const port = await listen(server, options.port, options.isPortFixed === true).catch(async (error: unknown) => {
    stop.abort()
    await keeping.done
    throw error
  })
  hosts = allowedHosts(port, options.hosts)
  const url = `http://127.0.0.1:${port}`
  writeServeFile(data, { pid: process.pid, url, key, version: options.version })

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    for (const [name, value] of Object.entries(SAFE_HEADERS)) response.setHeader(name, value)
    const host = checkHost(request.rawHeaders, hosts)
    const target = request.url ?? "/"
    if (target.length > MOST_URL_BYTES)
      throw new InputError("URL_TOO_LONG", {
        what: `the URL has more than ${MOST_URL_BYTES} bytes`,
        next: "Ask for less",
      })
    const [path = "/", queryText = ""] = target.split("?", 2)
    const isApi = path === "/api" || path.startsWith("/api/")
    const isMcp = path === "/mcp" && options.skill !== undefined
    const otlp = OTLP_PATH.test(path) ? options.otlp : undefined
    // Following a link may come from anywhere; sending a form looks the same, and must not reach what takes something in.
    const isPage = !isApi && !isMcp && otlp === undefined
    if (!isPage || !isNavigation(request.headers)) checkOrigin(request.headers, host)
    if (otlp !== undefined) await handleOtlp(request, response, path, otlp)
    else if (isMcp) await handleMcp(request, response, `http://${host}${path}`)
    else if (isApi) await handleApi(request, response, path.slice("/api/v1".length), queryText)
    else sendFile(request, response, path)
  }

  async function handleApi(
    request: IncomingMessage,
    response: ServerResponse,
    path: string,
    query: string,
  ): Promise<void> {
    if (path === "/session") {
      onlyMethods(request, "POST")
      return sendJson(response, await session(request))
    }
    onlyMethods(request, "GET", "HEAD")
    checkKey(request.headers, key, "Open the page again with: orangebox ui")
    if (path === "/live") return listenIn(request, response, query)
    const giveBack = requests.take()
    try {
      const { range, "if-none-match": known } = request.headers
      const asked = { path, query, headers: { range } }
      // Asked of every question: a store that is gone, or was taken over by a newer build, is said before anything is read.
      const version = await versionNow()
      const reply = isOfRuns(path)
        ? await memory.answer(`${path}?${query}`, version, () => answerTo(asked))
        : await answerTo(asked)
      sendReply(response, unlessKnown(reply, known), request.method !== "HEAD")
    } finally {
      giveBack()
    }
  }

  const answerTo = (asked: ApiAsked): Promise<Reply> =>
    thread !== undefined && isHeavy(asked.path)
      ? thread.ask(asked, keeping.behindBytes())
      : withinTime(answerOrRefusal(api, asked))

  /** Of all that answers about runs are made of: the store, what has not come into it yet, and the rules and prices of the configuration. */
  async function versionNow(): Promise<string> {
    const config = JSON.stringify(findConfig(process.cwd())?.config ?? null)
    return `${await reading.version()} ${keeping.behindBytes()} ${config}`
  }

  async function handleMcp(request: IncomingMessage, response: ServerResponse, url: string): Promise<void> {
    checkKey(request.headers, standingKey(data), "See the key with: orangebox serve --print-env")
    onlyMethods(request, "POST")
    const giveBack = requests.take()
    try {
      const headers = Object.fromEntries(
        ["content-type", "accept", "mcp-protocol-version"].flatMap((name) => {
          const value = request.headers[name]
          return typeof value === "string" ? [[name, value]] : []
        }),
      )
      const body = (await bodyOf(request, MOST_MCP_BYTES)).toString("utf8")
      const mcp = { data: options.named, version: options.version, skill: options.skill ?? "" }
      sendReply(response, await withinTime(answerMcp(mcp, { url, headers, body })), true)
    } finally {
      giveBack()
    }
  }

  async function handleOtlp(
    request: IncomingMessage,
    response: ServerResponse,
    path: string,
    receiver: OtlpReceiver,
  ): Promise<void> {
    if (!receiver.isOpen)
      checkKey(request.headers, standingKey(data), "See what an exporter needs with: orangebox serve --print-env")
    onlyMethods(request, "POST")
    const giveBack = requests.take()
    try {
      const answer = await receiver.handle(path, request.headers, await bodyOf(request, OTLP_MOST_BYTES))
      response.writeHead(answer.status, { ...answer.headers, "content-length": answer.body.length }).end(answer.body)
    } finally {
      giveBack()
    }
  }

  /** A code for the key; or, for who has the key, another code. */
  async function session(request: IncomingMessage): Promise<object> {
    const code = textIn(asRecord(await jsonBody(request)) ?? {}, "code")
    if (code !== undefined) {
      if (codes.redeem(code)) return { key }
      throw new InputError("NO_KEY", {
        what: "this code was used already, or is older than a minute",
        next: "Open the page again with: orangebox ui",
      })
    }
    checkKey(request.headers, key, "Send the code of the address, or the key")
    return { code: codes.issue() }
  }

  function listenIn(request: IncomingMessage, response: ServerResponse, query: string): void {
    const giveBack = streams.take()
    response.on("close", giveBack)
    request.socket.setTimeout(0)
    response.writeHead(200, { "content-type": "text/event-stream", "x-accel-buffering": "no" })
    const runId = new URLSearchParams(query).get("run") ?? undefined
    const lastEventId = request.headers["last-event-id"]
    feed.listen(response, {
      ...(runId === undefined ? {} : { runId }),
      ...(typeof lastEventId === "string" ? { lastEventId } : {}),
    })
  }

  function sendFile(request: IncomingMessage, response: ServerResponse, path: string): void {
    onlyMethods(request, "GET", "HEAD")
    const file = files.find(path)
    if (file === undefined) throw new InputError("NO_SUCH_PATH", { what: "there is no such file", next: "Open /" })
    const kept = file.isForEver ? { "cache-control": "public, max-age=31536000, immutable" } : {}
    response
      .writeHead(200, { "content-type": file.type, "content-length": file.bytes.length, ...kept })
      .end(request.method === "HEAD" ? undefined : file.bytes)
  }

  return {
    url,
    port,
    addressWithCode: (path) => `${url}${path}#k=${codes.issue()}`,
    async close() {
      removeServeFile(data, key)
      feed.close()
      stop.abort()
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
      await thread?.close()
      await keeping.done
      await reading.close()
    },
  }
}

const OTLP_PATH = /^\/v1\/(?:traces|logs|metrics)\/?$/

function onlyMethods({ method }: IncomingMessage, ...methods: readonly string[]): void {
  if (methods.includes(method ?? "")) return
  throw new InputError("METHOD", { what: `this takes ${methods.join(" and ")}`, next: "Nothing is changed over HTTP" })
}

function sendReply(response: ServerResponse, { status, headers, body }: Reply, hasBody: boolean): void {
  response.writeHead(status, { ...headers, "content-length": Buffer.byteLength(body) }).end(hasBody ? body : undefined)
}

function sendJson(response: ServerResponse, value: object): void {
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value))
}

async function refuse(response: ServerResponse, error: unknown): Promise<void> {
  if (response.headersSent) {
    response.destroy()
    return
  }
  const { status, headers, body } = await refusalOf(error)
  // What is left of a request that is refused is not waited for.
  response.writeHead(status, { ...headers, connection: "close" }).end(body)
}

const MOST_SESSION_BYTES = 4096
/** A report of findings is the longest that a client of MCP sends. */
const MOST_MCP_BYTES = 1024 * 1024

async function bodyOf(request: IncomingMessage, most: number): Promise<Buffer> {
  const pieces: Buffer[] = []
  let size = 0
  for await (const piece of request as AsyncIterable<Buffer>) {
    size += piece.length
    if (size > most)
      throw new InputError("BODY_TOO_LONG", { what: `${most} bytes at most are taken`, next: "Send less" })
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

async function jsonBody(request: IncomingMessage): Promise<unknown> {
  const body = await bodyOf(request, MOST_SESSION_BYTES)
  if (body.length === 0) return {}
  try {
    return JSON.parse(body.toString("utf8"))
  } catch {
    throw new InputError("USAGE", { what: "the request is no JSON", next: 'Send {"code": "…"}' })
  }
}

const MOST_PORTS = 50

async function listen(server: Server, wanted: number, isFixed: boolean): Promise<number> {
  for (let port = wanted; ; port++) {
    try {
      await new Promise<void>((resolve, reject) => {
        server.once("error", reject)
        server.listen({ port, host: "127.0.0.1" }, () => {
          server.removeListener("error", reject)
          resolve()
        })
      })
      return (server.address() as AddressInfo).port
    } catch (error) {
      const isTaken = (error as NodeJS.ErrnoException).code === "EADDRINUSE"
      if (isTaken && !isFixed && port < wanted + MOST_PORTS) continue
      throw isTaken
        ? new OrangeboxError("PORT_TAKEN", {
            what: `port ${port} is taken`,
            next: "Name another with --port, or stop what listens there",
            cause: error,
          })
        : error
    }
  }
}
