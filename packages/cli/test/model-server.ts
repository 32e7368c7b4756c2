import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

/** A model on the loopback address. */
export interface ModelServer {
  readonly origin: string
  close(): Promise<void>
}

/** What it does with a request that has come whole. */
export type Behaviour = (body: Buffer, response: ServerResponse, request: IncomingMessage) => void

export async function startModelServer(behave: Behaviour): Promise<ModelServer> {
  const server = createServer((request, response) => {
    const pieces: Buffer[] = []
    request.on("data", (piece: Buffer) => pieces.push(piece))
    request.on("end", () => behave(Buffer.concat(pieces), response, request))
  })
  // On a busy machine five idle seconds pass between two requests, and the second would meet a connection that is being closed.
  server.keepAliveTimeout = 60_000
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  return {
    origin: `http://127.0.0.1:${port}`,
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

/** Answers as the Messages API does, in one piece. */
export function answerMessage(response: ServerResponse, message: MessageAnswer): void {
  response.writeHead(200, { "content-type": "application/json" })
  response.end(JSON.stringify({ ...MESSAGE, ...message }))
}

export interface MessageAnswer {
  readonly id?: string
  readonly model?: string
  readonly content: readonly object[]
  readonly stop_reason?: "end_turn" | "tool_use"
  readonly usage?: object
}

const MESSAGE = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "claude-x",
  stop_reason: "end_turn",
  usage: { input_tokens: 9, output_tokens: 5 },
}
