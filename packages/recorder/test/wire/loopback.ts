import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { onTestFinished } from "vitest"

export interface SeenRequest {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage["headers"]
  readonly body: Buffer
}

export type Handler = (request: SeenRequest, response: ServerResponse) => unknown

/** A server on this machine that answers as scripted and remembers what it was asked. Gone with the test. */
export async function loopback(handler: Handler): Promise<{ url: string; seen: SeenRequest[] }> {
  const seen: SeenRequest[] = []
  const server = createServer((incoming, response) => {
    const pieces: Buffer[] = []
    incoming.on("data", (piece: Buffer) => pieces.push(piece))
    incoming.on("end", () => {
      const { method = "", url = "", headers } = incoming
      const request = { method, url, headers, body: Buffer.concat(pieces) }
      seen.push(request)
      void handler(request, response)
    })
  })
  // On a busy machine five idle seconds pass between two requests, and the second would meet a connection that is being closed.
  server.keepAliveTimeout = 60_000
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen }
}

/** Sends pieces one by one, each on its own when the last has left. */
export async function sendPieces(response: ServerResponse, pieces: readonly (string | Uint8Array)[]): Promise<void> {
  for (const piece of pieces) {
    await new Promise((resolve) => response.write(piece, resolve))
    await new Promise((resolve) => setImmediate(resolve))
  }
  response.end()
}

export function sendJson(
  response: ServerResponse,
  value: unknown,
  status = 200,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers })
  response.end(JSON.stringify(value))
}

export const sseFrame = (data: unknown, event?: string): string =>
  `${event === undefined ? "" : `event: ${event}\n`}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`

/** The events of a Messages stream that says the given texts, and asks for a tool if told to. */
export function messagesStream(texts: readonly string[], tool?: { id: string; name: string; input: string }): string[] {
  const usage = { input_tokens: 12, output_tokens: 1, cache_creation_input_tokens: 0, cache_read_input_tokens: 100 }
  const frame = (data: { type: string } & Record<string, unknown>): string => sseFrame(data, data.type)
  return [
    frame({
      type: "message_start",
      message: {
        id: "msg_1",
        type: "message",
        role: "assistant",
        model: "claude-x-1",
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage,
      },
    }),
    frame({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }),
    frame({ type: "ping" }),
    ...texts.map((text) => frame({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } })),
    frame({ type: "content_block_stop", index: 0 }),
    ...(tool
      ? [
          frame({
            type: "content_block_start",
            index: 1,
            content_block: { type: "tool_use", id: tool.id, name: tool.name, input: {} },
          }),
          frame({
            type: "content_block_delta",
            index: 1,
            delta: { type: "input_json_delta", partial_json: tool.input },
          }),
          frame({ type: "content_block_stop", index: 1 }),
        ]
      : []),
    frame({
      type: "message_delta",
      delta: { stop_reason: tool ? "tool_use" : "end_turn", stop_sequence: null },
      usage: { output_tokens: 7 },
    }),
    frame({ type: "message_stop" }),
  ]
}

export const MESSAGES_REQUEST = {
  model: "claude-x",
  max_tokens: 64,
  messages: [{ role: "user" as const, content: "Wie ist das Wetter in Zürich? 🌦" }],
}
