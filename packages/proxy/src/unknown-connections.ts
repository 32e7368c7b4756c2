import type { Server } from "node:http"
import type { Socket } from "node:net"
import type { ProxyLimits } from "./limits.js"

/**
 * Connections that have not shown the token yet. Anything on this machine may open them, so they have a deadline and a limit of their own:
 * one too many closes the oldest, and never keeps the agent out.
 */
export class UnknownConnections {
  readonly #deadlines = new Map<Socket, NodeJS.Timeout>()

  constructor(server: Server, limits: Pick<ProxyLimits, "unknownConnections" | "unknownMs">) {
    server.on("connection", (socket: Socket) => {
      const deadline = setTimeout(() => socket.destroy(), limits.unknownMs)
      deadline.unref()
      this.#deadlines.set(socket, deadline)
      socket.once("close", () => this.forget(socket))
      if (this.#deadlines.size > limits.unknownConnections) this.#closeOldest()
    })
  }

  /** It has shown the token, or is closed. */
  forget(socket: Socket): void {
    clearTimeout(this.#deadlines.get(socket))
    this.#deadlines.delete(socket)
  }

  #closeOldest(): void {
    const [oldest] = this.#deadlines.keys()
    if (oldest === undefined) return
    this.forget(oldest)
    oldest.destroy()
  }
}
