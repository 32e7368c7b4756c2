import { randomBytes } from "node:crypto"
import type { ServerResponse } from "node:http"
import { type ModelServer, startModelServer } from "../model-server.js"

/** What the model does in one turn: shell commands, side by side where there are several, or its last word. */
export type VendorTurn = { readonly runs: readonly string[] } | { readonly says: string }

export interface ScriptedVendor extends ModelServer {
  /** Method and path of every request, in order. */
  readonly asked: string[]
}

/**
 * A model server that speaks the four protocols coding agents use, streamed and whole, and follows one script in each. Ids are new in every
 * answer, as a provider's are. How far a conversation has come it reads from the request alone, so it answers the same question alike.
 */
export async function startScriptedVendor(script: readonly VendorTurn[]): Promise<ScriptedVendor> {
  const asked: string[] = []
  const server = await startModelServer((body, response, request) => {
    const path = request.url ?? ""
    asked.push(`${request.method} ${path}`)
    const protocol = PROTOCOLS.find(({ path: pattern }) => pattern.test(path))
    if (protocol === undefined || request.method !== "POST") {
      response.writeHead(404, { "content-type": "application/json" })
      response.end('{"error":{"type":"not_found_error","message":"no such thing here"}}')
      return
    }
    const asks = JSON.parse(String(body)) as Json
    const shell = shellTool(protocol.toolNames(asks))
    const turn = shell === undefined ? SIDE_ANSWER : turnAfter(script, protocol.results(asks))
    const answer: VendorAnswer = {
      id: randomBytes(12).toString("hex"),
      model: String(asks["model"] ?? /models\/([^:]+)/.exec(path)?.[1] ?? "scripted"),
      text: "says" in turn ? turn.says : "Working on it.",
      calls:
        "runs" in turn && shell !== undefined
          ? turn.runs.map((command) => ({
              id: `call_${randomBytes(12).toString("hex")}`,
              name: shell.name,
              args: shell.args(command),
            }))
          : [],
    }
    protocol.answer(answer, asks, path, response)
  })
  return { ...server, asked }
}

type Json = { readonly [key: string]: unknown }
type List = readonly Json[]

interface VendorAnswer {
  readonly id: string
  readonly model: string
  readonly text: string
  /** Arguments that are a text are those of a tool that takes no JSON. */
  readonly calls: readonly { readonly id: string; readonly name: string; readonly args: Json | string }[]
}

interface Protocol {
  readonly path: RegExp
  toolNames(request: Json): readonly string[]
  /** How many tool results the conversation holds. */
  results(request: Json): number
  answer(answer: VendorAnswer, request: Json, path: string, response: ServerResponse): void
}

/** A request without tools is a side call: a title, a summary, a probe. */
const SIDE_ANSWER: VendorTurn = { says: "A small note" }

function turnAfter(script: readonly VendorTurn[], results: number): VendorTurn {
  let before = 0
  for (const turn of script) {
    if (before >= results) return turn
    before += "runs" in turn ? turn.runs.length : 1
  }
  return { says: "Nothing is left to do." }
}

/** The tool with which a client runs shell commands, and how it wants them. */
const SHELLS: Readonly<Record<string, (command: string) => Json | string>> = {
  Bash: (command) => ({ command, description: "Does a step" }),
  bash: (command) => ({ command, description: "Does a step" }),
  run_shell_command: (command) => ({ command, description: "Does a step" }),
  exec_command: (cmd) => ({ cmd }),
  shell_command: (command) => ({ command }),
  shell: (command) => ({ command: ["bash", "-lc", command] }),
  // Codex has its commands run from a script.
  exec: (cmd) => `const ran = await tools.exec_command(${JSON.stringify({ cmd })}); text(ran.output)`,
}

function shellTool(names: readonly string[]) {
  const name = names.find((candidate) => Object.hasOwn(SHELLS, candidate))
  return name === undefined ? undefined : { name, args: SHELLS[name]! }
}

const list = (value: unknown): List => (Array.isArray(value) ? (value as List) : [])
const named = (tools: List): string[] => tools.map(({ name }) => String(name ?? ""))

const MESSAGES: Protocol = {
  path: /\/messages(?:\?|$)/,
  toolNames: ({ tools }) => named(list(tools)),
  results: ({ messages }) =>
    list(messages).flatMap(({ content }) => list(content).filter(({ type }) => type === "tool_result")).length,
  answer({ id, model, text, calls }, { stream }, _, response) {
    const usage = { input_tokens: 120, output_tokens: 30 }
    const stop_reason = calls.length > 0 ? "tool_use" : "end_turn"
    const content = [
      { type: "text", text },
      ...calls.map(({ id, name, args }) => ({
        type: "tool_use",
        id: id.replace("call_", "toolu_"),
        name,
        input: args,
      })),
    ]
    const message = { id: `msg_${id}`, type: "message", role: "assistant", model, stop_sequence: null }
    if (stream !== true) return sendJson(response, { ...message, content, stop_reason, usage })
    const events: Json[] = [
      {
        type: "message_start",
        message: { ...message, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } },
      },
    ]
    for (const [index, block] of content.entries()) {
      const isText = "text" in block
      const empty = isText ? { type: "text", text: "" } : { ...block, input: {} }
      const delta = isText
        ? { type: "text_delta", text: block.text }
        : { type: "input_json_delta", partial_json: JSON.stringify(block.input) }
      events.push({ type: "content_block_start", index, content_block: empty })
      events.push({ type: "content_block_delta", index, delta })
      events.push({ type: "content_block_stop", index })
    }
    events.push({ type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 30 } })
    events.push({ type: "message_stop" })
    sendEvents(
      response,
      events.map((event) => `event: ${String(event["type"])}\ndata: ${JSON.stringify(event)}\n\n`),
    )
  },
}

const RESPONSES: Protocol = {
  path: /\/responses(?:\?|$)/,
  toolNames: ({ tools, input }) => [
    ...named(list(tools)),
    ...list(input).flatMap((item) => list(item["tools"]).flatMap((space) => named(list(space["tools"])))),
  ],
  results: ({ input }) =>
    list(input).filter(({ type }) => /^(?:function|custom_tool)_call_output$/.test(String(type))).length,
  answer({ id, model, text, calls }, { stream }, _, response) {
    const output: Json[] = [
      {
        id: `msg_${id}`,
        type: "message",
        role: "assistant",
        status: "completed",
        content: [{ type: "output_text", text, annotations: [] }],
      },
      ...calls.map(({ id, name, args }) => ({
        id: id.replace("call_", "fc_"),
        call_id: id,
        name,
        status: "completed",
        ...(typeof args === "string"
          ? { type: "custom_tool_call", input: args }
          : { type: "function_call", arguments: JSON.stringify(args) }),
      })),
    ]
    const usage = {
      input_tokens: 120,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 30,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 150,
    }
    const whole = {
      id: `resp_${id}`,
      object: "response",
      created_at: nowSeconds(),
      status: "completed",
      model,
      output,
      usage,
    }
    if (stream !== true) return sendJson(response, whole)
    const started = { ...whole, status: "in_progress", output: [], usage: null }
    const events: Json[] = [{ type: "response.created", response: started }]
    for (const [output_index, item] of output.entries()) {
      events.push({ type: "response.output_item.added", output_index, item: { ...item, status: "in_progress" } })
      if (item["type"] === "message") {
        const at = { item_id: item["id"], output_index, content_index: 0 }
        events.push({
          type: "response.content_part.added",
          ...at,
          part: { type: "output_text", text: "", annotations: [] },
        })
        events.push({ type: "response.output_text.delta", ...at, delta: text })
        events.push({ type: "response.output_text.done", ...at, text })
      } else {
        const at = { item_id: item["id"], output_index }
        const [kind, member] =
          item["type"] === "function_call"
            ? ["function_call_arguments", "arguments"]
            : ["custom_tool_call_input", "input"]
        events.push({ type: `response.${kind}.delta`, ...at, delta: item[member] })
        events.push({ type: `response.${kind}.done`, ...at, [member]: item[member] })
      }
      events.push({ type: "response.output_item.done", output_index, item })
    }
    events.push({ type: "response.completed", response: whole })
    sendEvents(
      response,
      events.map(
        (event, sequence_number) =>
          `event: ${String(event["type"])}\ndata: ${JSON.stringify({ ...event, sequence_number })}\n\n`,
      ),
    )
  },
}

const CHAT: Protocol = {
  path: /\/chat\/completions(?:\?|$)/,
  toolNames: ({ tools }) => named(list(tools).map(({ function: declared }) => (declared ?? {}) as Json)),
  results: ({ messages }) => list(messages).filter(({ role }) => role === "tool").length,
  answer({ id, model, text, calls }, { stream }, _, response) {
    const head = { id: `chatcmpl-${id}`, created: nowSeconds(), model }
    const tool_calls = calls.map(({ id, name, args }) => ({
      id,
      type: "function",
      function: { name, arguments: JSON.stringify(args) },
    }))
    const finish_reason = calls.length > 0 ? "tool_calls" : "stop"
    const usage = { prompt_tokens: 120, completion_tokens: 30, total_tokens: 150 }
    const message = { role: "assistant", content: text, ...(calls.length > 0 ? { tool_calls } : {}) }
    if (stream !== true) {
      return sendJson(response, {
        ...head,
        object: "chat.completion",
        choices: [{ index: 0, message, finish_reason }],
        usage,
      })
    }
    const chunk = (delta: Json, finish: string | null): Json => ({
      ...head,
      object: "chat.completion.chunk",
      choices: [{ index: 0, delta, finish_reason: finish }],
    })
    const chunks = [
      chunk({ role: "assistant", content: text }, null),
      ...tool_calls.map((call, index) => chunk({ tool_calls: [{ index, ...call }] }, null)),
      chunk({}, finish_reason),
      { ...head, object: "chat.completion.chunk", choices: [], usage },
    ]
    sendEvents(response, [...chunks.map((one) => `data: ${JSON.stringify(one)}\n\n`), "data: [DONE]\n\n"])
  },
}

const GEMINI: Protocol = {
  path: /:(?:stream)?[gG]enerateContent/,
  toolNames: ({ tools }) => list(tools).flatMap(({ functionDeclarations }) => named(list(functionDeclarations))),
  results: ({ contents }) =>
    list(contents).flatMap(({ parts }) => list(parts).filter((part) => part["functionResponse"] !== undefined)).length,
  answer({ id, model, text, calls }, { generationConfig }, path, response) {
    const wantsJson = (generationConfig as Json | undefined)?.["responseMimeType"] === "application/json"
    const parts = [
      { text: wantsJson ? GEMINI_JSON : text },
      ...calls.map(({ name, args }) => ({ functionCall: { name, args } })),
    ]
    const answer = {
      candidates: [{ index: 0, content: { role: "model", parts }, finishReason: "STOP" }],
      usageMetadata: { promptTokenCount: 120, candidatesTokenCount: 30, totalTokenCount: 150 },
      modelVersion: model,
      responseId: id,
    }
    if (!path.includes(":streamGenerateContent")) return sendJson(response, answer)
    sendEvents(response, [`data: ${JSON.stringify(answer)}\n\n`])
  },
}

/** What Gemini CLI's router and its check of who speaks next want to hear. */
const GEMINI_JSON = JSON.stringify({
  reasoning: "short",
  model_choice: "pro",
  next_speaker: "user",
  complexity_reasoning: "short",
  complexity_score: 50,
})

const PROTOCOLS: readonly Protocol[] = [MESSAGES, RESPONSES, CHAT, GEMINI]

const nowSeconds = (): number => Math.floor(Date.now() / 1000)

function sendJson(response: ServerResponse, value: Json): void {
  response.writeHead(200, { "content-type": "application/json", "request-id": `req_${randomBytes(8).toString("hex")}` })
  response.end(JSON.stringify(value))
}

function sendEvents(response: ServerResponse, events: readonly string[]): void {
  response.writeHead(200, {
    "content-type": "text/event-stream",
    "request-id": `req_${randomBytes(8).toString("hex")}`,
  })
  for (const event of events) response.write(event)
  response.end()
}
