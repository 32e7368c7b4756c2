import { type AgentOptions, Agent as HttpAgent } from "node:http"
import { Agent as HttpsAgent } from "node:https"
import type { Socket } from "node:net"
import type { Duplex } from "node:stream"
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
  const http = new PatientHttpAgent(OPTIONS)
  const https = new PatientHttpsAgent({ ...OPTIONS, ...tls })
  return {
    http,
    https,
    destroy() {
      http.destroy()
      https.destroy()
    },
  }
}

class PatientHttpAgent extends HttpAgent {
  override keepSocketAlive(socket: Duplex): boolean {
    return rest(socket, super.keepSocketAlive(socket))
  }
  override reuseSocket(socket: Duplex, request: Parameters<HttpAgent["reuseSocket"]>[1]): void {
    super.reuseSocket(socket, request)
    wake(socket)
  }
}

class PatientHttpsAgent extends HttpsAgent {
  override keepSocketAlive(socket: Duplex): boolean {
    return rest(socket, super.keepSocketAlive(socket))
  }
  override reuseSocket(socket: Duplex, request: Parameters<HttpAgent["reuseSocket"]>[1]): void {
    super.reuseSocket(socket, request)
    wake(socket)
  }
}

// node gives void here in its types and a boolean in truth; both mean "keep it" unless it is false.
function rest(socket: Duplex, isKept: unknown): boolean {
  if (isKept === false) return false
  const plain = socket as Socket
  const promised = plain.timeout ?? 0
  plain.setTimeout(promised > 0 ? Math.min(promised, IDLE_SOCKET_MS) : IDLE_SOCKET_MS)
  return true
}

function wake(socket: Duplex): void {
  ;(socket as Socket).setTimeout(0)
}
