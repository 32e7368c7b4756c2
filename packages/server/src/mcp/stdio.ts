import { once } from "node:events"
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js"
import type { JSONRPCMessage, RequestId } from "@modelcontextprotocol/sdk/types.js"
import { createMcpServer, type McpOptions } from "./mcp-server.js"

/**
 * Serves one client over stdin and stdout, until it closes stdin and has all its answers: a script may write its questions and close at once.
 * Says whether a client spoke at all.
 */
export async function serveMcpOverStdio(options: McpOptions): Promise<boolean> {
  const server = createMcpServer(options)
  const transport = new CountingTransport()
  await server.connect(transport)
  transport.count()
  // A file that is at its end is never closed, and what is closed from the beginning never ends.
  await Promise.race([once(process.stdin, "end"), once(process.stdin, "close")])
  await transport.answered
  await server.close()
  return transport.hasSpoken
}

/** Knows which requests have no answer yet. */
class CountingTransport extends StdioServerTransport {
  hasSpoken = false
  readonly #open = new Set<RequestId>()
  #whenAnswered: (() => void) | undefined

  /** To be called when the server has taken the transport: it sets `onmessage` then. */
  count(): void {
    const { onmessage } = this
    this.onmessage = (message) => {
      this.hasSpoken = true
      if ("method" in message && "id" in message) this.#open.add(message.id)
      onmessage?.(message)
    }
  }

  get answered(): Promise<void> {
    return this.#open.size === 0 ? Promise.resolve() : new Promise((resolve) => (this.#whenAnswered = resolve))
  }

  override async send(message: JSONRPCMessage): Promise<void> {
    await super.send(message)
    if (!("method" in message) && message.id !== undefined) this.#open.delete(message.id)
    if (this.#open.size === 0) this.#whenAnswered?.()
  }
}
