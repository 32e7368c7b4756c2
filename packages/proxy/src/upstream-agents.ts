import { type AgentOptions, type ClientRequest, Agent as HttpAgent } from "node:http"
import { Agent as HttpsAgent } from "node:https"
import type { Socket } from "node:net"
import type { SecureContextOptions } from "node:tls"

/** How TLS to the upstreams is checked, where the system's own certificates are not enough. */
export type UpstreamTls = Pick<SecureContextOptions, "ca">

/**
 * Idle connections are given up before servers usually do. A request on a connection that its server is just closing fails, the proxy must
 * not repeat it, and its client would not have had that failure without us.
 */
const IDLE_SOCKET_MS = 4000

const OPTIONS: AgentOptions = {
  keepAlive: true,
  noDelay: true,
  scheduling: "lifo",
  maxSockets: Number.POSITIVE_INFINITY,
}

export interface UpstreamAgents {
  readonly http: HttpAgent
  readonly https: HttpsAgent
  destroy(): void
}

export function openAgents(tls: UpstreamTls): UpstreamAgents {
  const http = patient(new HttpAgent(OPTIONS))
  const https = patient(new HttpsAgent({ ...OPTIONS, ...tls }))
  return {
    http,
    https,
    destroy() {
      http.destroy()
      https.destroy()
    },
  }
}

/** An agent whose idle connections wait no longer than that. */
function patient<A extends HttpAgent>(agent: A): A {
  const { keepSocketAlive, reuseSocket } = agent
  return Object.assign(agent, {
    keepSocketAlive(socket: Socket): boolean {
      // node gives void here in its types and a boolean in truth; both mean "keep it" unless it is false.
      const isKept: unknown = keepSocketAlive.call(agent, socket)
      const promised = socket.timeout ?? 0
      if (isKept !== false) socket.setTimeout(promised > 0 ? Math.min(promised, IDLE_SOCKET_MS) : IDLE_SOCKET_MS)
      return isKept !== false
    },
    reuseSocket(socket: Socket, request: ClientRequest): void {
      reuseSocket.call(agent, socket, request)
      socket.setTimeout(0)
    },
  })
}
