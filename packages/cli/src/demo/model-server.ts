import { once } from "node:events"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import type { Message, MessagesRequest, StreamEvent } from "./messages-api.js"
import type { ScriptedReply, ScriptedTask } from "./model-script.js"

export interface ModelServer {
  readonly url: string
  /** Resolves with the number of bytes sent when a reply that is never finished has come to its stop. */
  readonly stopped: Promise<number>
  close(): Promise<void>
}

/** Plays a script over the Anthropic Messages API, streaming, on the loopback. Which reply is due it tells from the conversation it is sent. */
export async function startModelServer(script: readonly ScriptedTask[]): Promise<ModelServer> {
  const player = new ScriptPlayer(script)
  const server = createServer((request, response) => {
    player.answer(request, response).catch((error: unknown) => {
      // The agent went away in mid-answer, which is what the demo is about.
      response.destroy(error instanceof Error ? error : undefined)
    })
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    stopped: player.stopped,
    close: async () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

const PAUSE_MS = 4
const LETTERS_A_DELTA = 24
const CHARS_A_TOKEN = 4
const MOST_REQUEST_BYTES = 1024 * 1024

class ScriptPlayer {
  readonly stopped: Promise<number>
  readonly #script: readonly ScriptedTask[]
  readonly #prefixesSeen = new Set<string>()
  #sayStopped: (bytes: number) => void = () => {}
  #answers = 0

  constructor(script: readonly ScriptedTask[]) {
    this.#script = script
    this.stopped = new Promise((resolve) => {
      this.#sayStopped = resolve
    })
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readText(request)
    if (request.method !== "POST" || request.url !== "/v1/messages") return refuse(response, 404, "not_found_error")
    if (!request.headers["x-api-key"]) return refuse(response, 401, "authentication_error")
    const asked = JSON.parse(body) as MessagesRequest
    const reply = this.#replyTo(asked)
    if (!reply || !request.headers["anthropic-version"]) {
      return refuse(response, 400, "invalid_request_error")
    }

    this.#answers += 1
    const serial = String(this.#answers).padStart(4, "0")
    response.writeHead(200, {
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-cache",
      "request-id": `req_demo_${serial}`,
    })
    const events = [...eventsOf(reply, serial, asked.model, this.#usageOf(asked))]
    const last = reply.isNeverFinished ? Math.floor(events.length * 0.6) : events.length
    let sent = 0
    for (const event of events.slice(0, last)) {
      const frame = `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
      sent += Buffer.byteLength(frame)
      response.write(frame)
      await sleep(PAUSE_MS)
    }
    if (reply.isNeverFinished) this.#sayStopped(sent)
    else response.end()
  }

  #replyTo(asked: MessagesRequest): ScriptedReply | undefined {
    const opening = textOf(asked.messages[0])
    const task = this.#script.find(({ request }) => opening?.includes(request))
    return task?.replies[asked.messages.filter(({ role }) => role === "assistant").length]
  }

  /** What stands before the cache mark, tools and system prompt, is written to the cache once and read from it after that. */
  #usageOf(asked: MessagesRequest): { input: number; cacheRead: number; cacheWrite: number } {
    const prefix = JSON.stringify([asked.tools, asked.system])
    const isWarm = this.#prefixesSeen.has(prefix)
    this.#prefixesSeen.add(prefix)
    const prefixTokens = tokensOf(prefix)
    return {
      input: tokensOf(JSON.stringify(asked.messages)),
      cacheRead: isWarm ? prefixTokens : 0,
      cacheWrite: isWarm ? 0 : prefixTokens,
    }
  }
}

function* eventsOf(
  reply: ScriptedReply,
  serial: string,
  model: string,
  usage: { input: number; cacheRead: number; cacheWrite: number },
): Generator<StreamEvent> {
  const message = {
    id: `msg_demo_${serial}`,
    type: "message",
    role: "assistant",
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: {
      input_tokens: usage.input,
      cache_creation_input_tokens: usage.cacheWrite,
      cache_read_input_tokens: usage.cacheRead,
      output_tokens: 1,
    },
  }
  yield { type: "message_start", message }
  yield { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }
  yield { type: "ping" }
  for (const text of piecesOf(reply.text)) {
    yield { type: "content_block_delta", index: 0, delta: { type: "text_delta", text } }
  }
  yield { type: "content_block_stop", index: 0 }

  let letters = reply.text.length
  const tools = reply.tools ?? []
  for (const [place, { name, input }] of tools.entries()) {
    const index = place + 1
    const json = JSON.stringify(input)
    letters += json.length
    const id = `toolu_demo_${serial}_${index}`
    yield { type: "content_block_start", index, content_block: { type: "tool_use", id, name, input: {} } }
    for (const partial_json of piecesOf(json)) {
      yield { type: "content_block_delta", index, delta: { type: "input_json_delta", partial_json } }
    }
    yield { type: "content_block_stop", index }
  }
  yield {
    type: "message_delta",
    delta: { stop_reason: tools.length > 0 ? "tool_use" : "end_turn" },
    usage: { output_tokens: Math.ceil(letters / CHARS_A_TOKEN) },
  }
  yield { type: "message_stop" }
}

/** Whole words, as models write them; the recorder keeps back a word that is not finished, because it may become a secret. */
function* piecesOf(text: string): Generator<string> {
  let piece = ""
  for (const [word] of text.matchAll(/\s*\S+\s*/g)) {
    piece += word
    if (piece.length < LETTERS_A_DELTA) continue
    yield piece
    piece = ""
  }
  if (piece !== "") yield piece
}

const tokensOf = (text: string): number => Math.ceil(text.length / CHARS_A_TOKEN)

function textOf(message: Message | undefined): string | undefined {
  return typeof message?.content === "string" ? message.content : undefined
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MOST_REQUEST_BYTES)
      throw new Error(`a request to the demo's model is at most ${MOST_REQUEST_BYTES} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString("utf8")
}

function refuse(response: ServerResponse, status: number, type: string): void {
  response.writeHead(status, { "content-type": "application/json" })
  const error = { type, message: "the demo's model answers only what its script foresees" }
  response.end(JSON.stringify({ type: "error", error }))
}
