import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http"
import type { AddressInfo, Socket } from "node:net"
import { onTestFinished } from "vitest"

/** A server on the loopback address that does exactly what a test tells it, and remembers what it was asked. */
export interface Upstream {
  readonly origin: string
  readonly port: number
  readonly seen: SeenRequest[]
  readonly sockets: Set<Socket>
}

export interface SeenRequest {
  readonly method: string
  readonly url: string
  readonly rawHeaders: readonly string[]
  readonly body: Buffer
}

export type Behaviour = (request: IncomingMessage & { body: Buffer }, response: ServerResponse) => void

export async function startUpstream(behave: Behaviour): Promise<Upstream> {
  const seen: SeenRequest[] = []
  return serve(createServer(), seen, (request, response) => {
    const pieces: Buffer[] = []
    request.on("data", (piece: Buffer) => pieces.push(piece))
    request.on("end", () => {
      const body = Buffer.concat(pieces)
      seen.push({ method: request.method ?? "", url: request.url ?? "", rawHeaders: request.rawHeaders, body })
      behave(Object.assign(request, { body }), response)
    })
    request.on("error", () => {})
    response.on("error", () => {})
  })
}

async function serve(server: Server, seen: SeenRequest[], listener: RequestListener): Promise<Upstream> {
  const sockets = new Set<Socket>()
  server.on("connection", (socket) => {
    sockets.add(socket)
    socket.on("close", () => sockets.delete(socket))
    socket.on("error", () => {})
  })
  server.on("request", listener)
  // On a busy machine five idle seconds pass between two requests, and the second would meet a connection that is being closed.
  server.keepAliveTimeout = 60_000
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { origin: `http://127.0.0.1:${port}`, port, seen, sockets }
}

/** Sends a body in pieces of the given sizes, each on its own. */
export async function sendPieces(response: ServerResponse, pieces: readonly Uint8Array[]): Promise<void> {
  for (const piece of pieces) {
    response.write(piece)
    await new Promise((resolve) => setImmediate(resolve))
  }
}

export const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value))

/** A streamed answer of the Messages API. */
export function messageStream(answer: {
  text?: string
  tool?: { id: string; name: string; input: unknown }
  usage?: Record<string, number>
}): Buffer {
  const events: [string, object][] = [
    [
      "message_start",
      {
        message: {
          id: `msg_${Math.random().toString(36).slice(2)}`,
          type: "message",
          role: "assistant",
          model: "claude-sonnet-4-5",
          content: [],
          stop_reason: null,
          usage: { input_tokens: 100, output_tokens: 1, ...answer.usage },
        },
      },
    ],
  ]
  let index = 0
  if (answer.text !== undefined) {
    events.push(["content_block_start", { index, content_block: { type: "text", text: "" } }])
    events.push(["content_block_delta", { index, delta: { type: "text_delta", text: answer.text } }])
    events.push(["content_block_stop", { index: index++ }])
  }
  if (answer.tool) {
    const { id, name, input } = answer.tool
    events.push(["content_block_start", { index, content_block: { type: "tool_use", id, name, input: {} } }])
    events.push([
      "content_block_delta",
      { index, delta: { type: "input_json_delta", partial_json: JSON.stringify(input) } },
    ])
    events.push(["content_block_stop", { index }])
  }
  const stop_reason = answer.tool ? "tool_use" : "end_turn"
  events.push(["message_delta", { delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 20 } }])
  events.push(["message_stop", {}])
  return Buffer.from(
    events.map(([type, data]) => `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`).join(""),
  )
}

export function messageRequest(messages: unknown[], more: Record<string, unknown> = {}): Buffer {
  return json({
    model: "claude-sonnet-4-5",
    max_tokens: 1024,
    stream: true,
    system: "You are a careful engineer.",
    tools: [{ name: "read_file", description: "Reads a file", input_schema: { type: "object" } }],
    messages,
    ...more,
  })
}
