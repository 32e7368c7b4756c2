import { Agent, type IncomingHttpHeaders, request, type Server } from "node:http"
import { constants, createServer, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2"
import type { AddressInfo, Socket } from "node:net"
import { pipeline } from "node:stream"

/** The first bytes of a client that speaks HTTP/2 without asking; no method of HTTP/1.1 begins so. */
const PREFACE = Buffer.from("PRI * HTTP/2.0")

export interface CleartextHttp2 {
  /** Takes no more streams; open ones have this long. */
  close(drainMs: number): void
}

/**
 * Lets clients in that speak HTTP/2 without TLS from their first byte. Each of their streams is asked of the server itself over HTTP/1.1,
 * so that there is one way a request is checked, recorded and forwarded.
 *
 * @param server before anything else listens to its connections
 * @param heard `taken` which connections are not the server's own, `answered` one of whose requests was answered, and for what word it was refused
 */
export function acceptCleartextHttp2(
  server: Server,
  firstByteMs: number,
  heard: {
    readonly taken: (socket: Socket) => void
    readonly answered: (socket: Socket, refusal: string | undefined) => void
  },
): CleartextHttp2 {
  const agent = new Agent({ keepAlive: true })
  const sessions = new Set<ServerHttp2Session>()
  const http2 = createServer()
  const sockets = new WeakMap<object, Socket>()
  let arriving: Socket | undefined
  http2.on("session", (session) => {
    sessions.add(session)
    if (arriving) sockets.set(session, arriving)
    session.once("close", () => sessions.delete(session))
    session.on("error", () => {})
  })
  http2.on("stream", (stream, headers) => {
    const socket = stream.session && sockets.get(stream.session)
    askOverHttp1(stream, headers, (server.address() as AddressInfo).port, agent, (refusal) => {
      if (socket) heard.answered(socket, refusal)
    })
  })

  const serveHttp1 = server.listeners("connection")
  server.removeAllListeners("connection")
  server.on("connection", (socket: Socket) => {
    const ignore = (): void => {}
    socket.on("error", ignore)
    socket.setTimeout(firstByteMs, () => socket.destroy())
    const look = (): void => {
      const first = socket.read() as Buffer | null
      if (first === null) return void (socket.readableEnded || socket.destroyed || socket.once("readable", look))
      socket.unshift(first)
      const length = Math.min(first.length, PREFACE.length)
      const isPreface = first.compare(PREFACE, 0, length, 0, length) === 0
      if (isPreface && length < PREFACE.length) return void socket.once("readable", look)
      socket.setTimeout(0)
      socket.removeAllListeners("timeout")
      socket.removeListener("error", ignore)
      if (isPreface) {
        heard.taken(socket)
        arriving = socket
        http2.emit("connection", socket)
        arriving = undefined
      } else for (const serve of serveHttp1) serve.call(server, socket)
    }
    socket.once("readable", look)
  })
  return {
    close(drainMs) {
      for (const session of sessions) session.close()
      setTimeout(() => {
        for (const session of sessions) session.destroy()
        agent.destroy()
      }, drainMs).unref()
    },
  }
}

/** What speaks about one connection of HTTP/1.1, and may not be said on a stream. */
const OF_THE_CONNECTION = new Set(["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"])

function askOverHttp1(
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  port: number,
  agent: Agent,
  onAnswer: (refusal: string | undefined) => void,
): void {
  const { ":method": method, ":path": path, ":authority": authority } = headers as Record<string, string>
  const sent = Object.entries(headers).filter(([name]) => !name.startsWith(":"))
  const asked = request({
    host: "127.0.0.1",
    port,
    agent,
    ...(method === undefined ? {} : { method }),
    ...(path === undefined ? {} : { path }),
    headers: Object.fromEntries([...(authority === undefined ? [] : [["host", authority]]), ...sent]),
  })
  const breakOff = (): void => {
    if (!stream.destroyed) stream.close(constants.NGHTTP2_INTERNAL_ERROR)
  }
  asked.on("response", (answer) => {
    const refusal = answer.headers["x-orangebox-proxy"]
    onAnswer(typeof refusal === "string" ? refusal : undefined)
    if (stream.destroyed) return void answer.destroy()
    const given = Object.entries(answer.headers).filter(([name]) => !OF_THE_CONNECTION.has(name))
    stream.respond({ ":status": answer.statusCode ?? 502, ...Object.fromEntries(given) })
    // A broken answer destroys the stream with its error, which the client sees as a reset.
    pipeline(answer, stream, () => {})
  })
  asked.on("error", breakOff)
  stream.on("error", () => {})
  stream.on("close", () => asked.destroy())
  stream.pipe(asked)
}
