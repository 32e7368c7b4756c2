import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from "node:http"
import type { AddressInfo, Socket } from "node:net"
import type { Duplex } from "node:stream"
import { given, newProxyToken, OrangeboxError } from "@orangebox/contract"
import { detectDialect, type PriceTable } from "@orangebox/dialects"
import { type Recorder, type Run, STEP_HEADER } from "@orangebox/recorder"
import type { ReplayRecorder } from "@orangebox/replay"
import { acceptCleartextHttp2 } from "./cleartext-http2.js"
import { Exchange, type Observer } from "./exchange.js"
import { DEFAULT_LIMITS, type ProxyLimits } from "./limits.js"
import { oneRun, type RunOpening, runPerConversation } from "./open-runs.js"
import type { ProxyStats } from "./proxy-stats.js"
import { type Door, type Route, refuse, routeOf, valuesOf } from "./route.js"
import { UnknownConnections } from "./unknown-connections.js"
import { openAgents, type UpstreamTls } from "./upstream-agents.js"
import { isSuspicious, readUpstreams } from "./upstreams.js"
import { WireRunRecorder } from "./wire-run-recorder.js"
import type { WorkspaceWatch } from "./workspace/record-workspace.js"

export interface ProxyOptions {
  readonly recorder: Recorder
  /** Name → origin. Nothing else is ever connected to. */
  readonly upstreams: Readonly<Record<string, string>>
  /** Upstreams of known providers whose clients may leave out the version of the API in their paths: it is put in. */
  readonly versioned?: readonly string[]
  /** The run everything is recorded in. Left out, every conversation becomes a run of its own and ends by idleness. */
  readonly run?: Run
  /** Default: any free one. */
  readonly port?: number
  /** The first part of every path; random by default. A client that knows it can spend the user's money through this port. */
  readonly token?: string
  /** How long a conversation may be silent before its run counts as ended. Default 15 minutes. */
  readonly idleRunMs?: number
  readonly limits?: Partial<ProxyLimits>
  readonly tls?: UpstreamTls
  readonly prices?: PriceTable
  /** Answers from a tape instead of asking the upstreams; `recorder` is then the replay's own. */
  readonly replay?: ReplayRecorder
  /** In a replay: requests that an agent's own recorder marks were answered or let go by its tape, so they go to the upstream. */
  readonly forwardsMarked?: boolean
  /** Awaited before a replay answers: no model is waited for there. */
  readonly beforeAnswer?: () => Promise<void>
  /** Told what the traffic says about the agent's work. */
  readonly workspace?: WorkspaceWatch
  readonly onStats?: (stats: ProxyStats) => void
  readonly onWarning?: (warning: OrangeboxError) => void
}

export interface RecordingProxy {
  readonly origin: string
  readonly port: number
  readonly token: string
  /** The base URL a client is given for an upstream; a path goes behind it as it would behind the upstream's own origin. */
  urlFor(upstream: string): string
  stats(): ProxyStats
  /** Takes no more requests, gives open ones `drainMs` to finish, and ends the runs it opened. */
  close(): Promise<void>
}

const IDLE_RUN_MS = 15 * 60_000

/**
 * Starts the recording reverse proxy on the loopback address.
 *
 * @example
 * const proxy = await startProxy({ recorder, upstreams: { anthropic: "https://api.anthropic.com" } })
 * new Anthropic({ baseURL: proxy.urlFor("anthropic") })
 */
export async function startProxy(options: ProxyOptions): Promise<RecordingProxy> {
  const limits = { ...DEFAULT_LIMITS, ...options.limits }
  const upstreams = readUpstreams(options.upstreams, options.versioned)
  for (const upstream of upstreams.values()) {
    if (!isSuspicious(upstream)) continue
    options.onWarning?.(
      new OrangeboxError("UPSTREAM", {
        what: `${upstream.origin} is a link-local address, where machines keep credentials`,
        where: `upstream ${upstream.name}`,
        next: "Remove it unless a model really answers there",
      }),
    )
  }
  const token = options.token ?? newProxyToken()
  const agents = openAgents(options.tls ?? {})
  const runs = options.run
    ? oneRun(options.run)
    : runPerConversation((opening) => startRun(options.recorder, opening), options.idleRunMs ?? IDLE_RUN_MS)
  const wireRuns = new WireRunRecorder(runs, options)

  const server = createServer({
    insecureHTTPParser: false,
    requireHostHeader: true,
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    // Longer than clients keep their idle connections: the proxy must not be the first to close, or a request could meet a closing door.
    keepAliveTimeout: KEEP_ALIVE_MS,
    noDelay: true,
  })
  server.maxConnections = limits.connections + limits.unknownConnections
  server.timeout = 0
  const http2 = acceptCleartextHttp2(server, limits.unknownMs, {
    taken: (socket) => connections.leaves(socket),
    answered: (socket, refusal) => refusal === undefined && unknown.forget(socket),
  })
  const connections = new Connections(server)
  const unknown = new UnknownConnections(server, limits)
  const draining = new Set<Exchange>()
  let door: Door

  const handle = (request: IncomingMessage, response: ServerResponse, expectsContinue: boolean): void => {
    const route = routeFor(request, door)
    const { replay, beforeAnswer } = options
    if (!isOutside(route)) unknown.forget(request.socket)
    if (!("upstream" in route)) {
      wireRuns.count({ refused: 1, refusedWebSockets: route.code === WEB_SOCKET ? 1 : 0 })
      // A client with the token is the agent. Without it anybody may have knocked, in the recording as well.
      if (route.code === "upstream") replay?.session.turnedAway("request", route.message)
      refuse(response, route)
      return
    }
    const marked = markedBy(request)
    const isLetGo = marked !== undefined && options.forwardsMarked === true
    const observer = marked && (isLetGo || !replay) ? linking(marked, response, wireRuns) : wireRuns
    const answering = { replay: isLetGo ? undefined : replay, beforeAnswer }
    const parts = { target: route, agents, limits, observer, ...answering, draining }
    new Exchange(request, response, parts).start({ expectsContinue })
  }
  server.on("request", (request, response) => handle(request, response, false))
  server.on("checkContinue", (request, response) => handle(request, response, true))
  server.on("connect", (request, socket) => {
    wireRuns.count({ refused: 1 })
    refuseSocket(socket, routeOf(request, door))
  })
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy()
    const status = error.code === "HPE_HEADER_OVERFLOW" ? "431 Request Header Fields Too Large" : "400 Bad Request"
    if (isNoRequest(error)) options.replay?.session.turnedAway("request", `it could not be read (${error.code})`)
    socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`)
  })

  const port = await listen(server, options.port ?? 0)
  door = { port, token, upstreams }
  const origin = `http://127.0.0.1:${port}`
  return {
    origin,
    port,
    token,
    urlFor(name) {
      if (!upstreams.has(name)) {
        throw new OrangeboxError("UPSTREAM", {
          what: `there is no upstream "${name}"`,
          next: [...upstreams.keys()].join(", "),
        })
      }
      return `${origin}/${token}/${name}`
    },
    stats: () => wireRuns.stats,
    async close() {
      await new Promise<void>((resolve) => {
        server.close(() => resolve())
        connections.closeIdle()
        http2.close(limits.drainMs)
        setTimeout(() => server.closeAllConnections(), limits.drainMs).unref()
      })
      // The server is done when the sockets are; an exchange whose client was killed hears of it a moment later, and still has its end to tell.
      await connections.allTold()
      await drained(draining)
      wireRuns.close()
      agents.destroy()
    },
  }
}

/** What an upstream still says behind an answer that is whole, the usage maybe, comes at once or is not waited for. */
async function drained(draining: ReadonlySet<Exchange>): Promise<void> {
  const until = performance.now() + LAST_DRAIN_MS
  while (draining.size > 0 && performance.now() < until) await new Promise((resolve) => setTimeout(resolve, 5))
  for (const exchange of draining) exchange.stopDraining()
}

const LAST_DRAIN_MS = 500

/** Without the token: refused before it was looked at, or for want of it. An upstream that is not there was asked for by the agent. */
const isOutside = (route: Route): boolean => "code" in route && !["upstream", "websocket"].includes(route.code)

/** Clients open connections ahead of time; the server itself does not count one as idle before it has carried a request. */
class Connections {
  readonly #open = new Set<Socket>()
  readonly #busy = new Set<Socket>()
  #isClosing = false

  constructor(server: Server) {
    server.on("connection", (socket) => {
      this.#open.add(socket)
      socket.once("close", () => this.#open.delete(socket))
    })
    server.on("request", (request, response) => this.#track(request, response))
    server.on("checkContinue", (request, response) => this.#track(request, response))
  }

  #track({ socket }: IncomingMessage, response: ServerResponse): void {
    this.#busy.add(socket)
    response.once("close", () => {
      this.#busy.delete(socket)
      if (this.#isClosing) socket.end()
    })
  }

  /** A connection that another server looks after. */
  leaves(socket: Socket): void {
    this.#open.delete(socket)
  }

  /** Resolves once every answer has been told that it is over. */
  async allTold(): Promise<void> {
    while (this.#busy.size > 0) await new Promise((resolve) => setTimeout(resolve, 1))
  }

  closeIdle(): void {
    this.#isClosing = true
    for (const socket of this.#open) if (!this.#busy.has(socket)) socket.destroy()
  }
}

/** Sent whole and not to be read; a client that only left in the middle asked nothing. */
const isNoRequest = ({ code }: NodeJS.ErrnoException): boolean =>
  code?.startsWith("HPE_") === true && code !== "HPE_INVALID_EOF_STATE"

const KEEP_ALIVE_MS = 11 * 60_000

const STEP_NAME = /^(run_[0-9A-Z]{26})\/([0-9a-f]{16})$/

interface MarkedStep {
  readonly runId: string
  readonly stepId: string
}

/** An agent that records itself says which step a request belongs to. */
function markedBy(request: IncomingMessage): MarkedStep | undefined {
  const [, runId, stepId] = STEP_NAME.exec(valuesOf(request.rawHeaders, STEP_HEADER)[0] ?? "") ?? []
  return runId === undefined || stepId === undefined ? undefined : { runId, stepId }
}

/** What is recorded already is not recorded a second time. */
function linking({ runId, stepId }: MarkedStep, response: ServerResponse, wireRuns: WireRunRecorder): Observer {
  return {
    opened() {
      wireRuns.linked(runId, stepId, () => !response.closed)
      return undefined
    },
  }
}

const WEB_SOCKET = "websocket"

/**
 * No client can insist on another protocol: a request that only offers one (Java's client offers HTTP/2 with its first) is a request like any
 * other. A WebSocket is no request, and half a recording is worse than none: 426 makes a client that prefers one fall back to HTTP, on the
 * paths where it would.
 */
function routeFor(request: IncomingMessage, door: Door): Route {
  const route = routeOf(request, door)
  if (!("upstream" in route) || !/websocket/i.test(request.headers.upgrade ?? "")) return route
  const isModelPath = detectDialect({ method: "POST", path: route.path }) !== undefined && request.method === "GET"
  return isModelPath
    ? { status: 426, code: WEB_SOCKET, message: "model calls are recorded over HTTP; ask again without the upgrade" }
    : { status: 501, code: WEB_SOCKET, message: "WebSockets are not recorded, and so not forwarded" }
}

/** Only `CONNECT` comes here, which `routeOf` refuses on every path. */
function refuseSocket(socket: Duplex, route: Route): void {
  if ("upstream" in route) return void socket.destroy()
  const body = `orangebox proxy: ${route.message}\n`
  socket.on("error", () => {})
  socket.end(
    `HTTP/1.1 ${route.status} ${STATUS_CODES[route.status]}\r\nconnection: close\r\ncontent-type: text/plain\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
}

function startRun(recorder: Recorder, { name, input, conversationId, continues }: RunOpening): Run {
  const run = recorder.startRun({
    entrypoint: name,
    ...given({ input, conversationId }),
  })
  if (continues !== undefined)
    run.addLink({ kind: "caused_by", runId: continues }, "the same conversation, after a pause")
  return run
}

function listen(server: ReturnType<typeof createServer>, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) => {
      const isTaken = cause.code === "EADDRINUSE"
      reject(
        new OrangeboxError("PORT", {
          what: isTaken ? `port ${port} is taken` : `the proxy cannot listen on port ${port}: ${cause.message}`,
          next: isTaken ? "Choose another port, or leave it out" : "Choose a port above 1023",
          cause,
        }),
      )
    })
    // The address, not the name: localhost may resolve to something else.
    server.listen(port, "127.0.0.1", () => resolve((server.address() as AddressInfo).port))
  })
}
