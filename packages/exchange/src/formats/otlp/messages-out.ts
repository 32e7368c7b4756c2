import {
  dialectByShape,
  dialectOfAnswer,
  foldResponse,
  type PromptPart,
  readBody,
  readRequest,
} from "@orangebox/dialects"
import { type Json, listOf, recordOf } from "../told-values.js"
import { type Pair, text } from "./pairs.js"

/** What a model was given and answered, out of bodies in any form, in that of the GenAI conventions. */

export function messageAttributes(
  request: Uint8Array | undefined,
  response: Uint8Array | undefined,
  finish: string | undefined,
): Pair[] {
  const asked = request === undefined ? undefined : messagesAsked(request)
  const answered = response === undefined ? undefined : messagesAnswered(response, finish)
  return [
    ...(asked === undefined || asked.system.length === 0
      ? []
      : [text("gen_ai.system_instructions", JSON.stringify(asked.system))]),
    ...(asked === undefined || asked.input.length === 0
      ? []
      : [text("gen_ai.input.messages", JSON.stringify(asked.input))]),
    ...(answered === undefined || answered.length === 0
      ? []
      : [text("gen_ai.output.messages", JSON.stringify(answered))]),
  ]
}

function messagesAsked(
  bytes: Uint8Array,
): { readonly system: readonly object[]; readonly input: readonly object[] } | undefined {
  const json = readBody(bytes)
  const dialect = dialectByShape(json, null)
  const anatomy = dialect && readRequest(dialect, json)
  if (anatomy !== undefined && anatomy.parts.length > 0) {
    const system = anatomy.parts.filter(({ kind }) => kind === "system").map(partOf)
    const input = anatomy.messages
      .map(({ role, parts }) => ({
        role: role ?? "user",
        parts: parts.filter(({ kind }) => kind !== "system").map(partOf),
      }))
      .filter(({ parts }) => parts.length > 0)
    return {
      system,
      input: input.map((message) =>
        message.parts.every((part) => part["type"] === "tool_call_response") ? { ...message, role: "tool" } : message,
      ),
    }
  }
  const told = recordOf(parsedJson(json.text))
  const listed = [...listOf(told["messages"]), ...listOf(told["new_messages"])]
  return listed.length === 0 ? undefined : { system: [], input: listed.map(toldMessage) }
}

function partOf({ kind, text: content, callId, name, arguments: args }: PromptPart): Json {
  if (kind === "tool-call")
    return { type: "tool_call", id: callId, name: name ?? "?", arguments: parsedJson(args ?? "") ?? args }
  if (kind === "tool-result") return { type: "tool_call_response", id: callId, response: content ?? "" }
  if (kind === "thinking") return { type: "reasoning", content: content ?? "" }
  return { type: "text", content: content ?? `(${kind})` }
}

/** A message as another program's record told it: some form with a role, and parts or content. */
function toldMessage(value: unknown): Json {
  const message = recordOf(value)
  const role = typeof message["role"] === "string" ? message["role"] : "user"
  const content = message["parts"] ?? message["content"] ?? message["output"] ?? message["text"] ?? ""
  const parts = Array.isArray(content)
    ? content.map(toldPart)
    : [{ type: "text", content: typeof content === "string" ? content : JSON.stringify(content) }]
  return { role, parts }
}

function toldPart(value: unknown): Json {
  const part = recordOf(value)
  if (part["type"] === "tool_use")
    return { type: "tool_call", id: part["id"], name: part["name"], arguments: part["input"] }
  if (part["type"] === "tool_result")
    return { type: "tool_call_response", id: part["tool_use_id"], response: part["content"] }
  if (part["type"] === "text" || part["type"] === "input_text" || part["type"] === "output_text")
    return { type: "text", content: part["content"] ?? part["text"] ?? "" }
  return typeof value === "string" ? { type: "text", content: value } : part
}

function messagesAnswered(bytes: Uint8Array, finish: string | undefined): object[] | undefined {
  const source = Buffer.from(bytes).toString("utf8")
  const told = recordOf(parsedJson(source))
  if (Array.isArray(told["messages"]))
    return told["messages"].map((message) => ({ finish_reason: finish ?? "stop", ...toldMessage(message) }))
  const dialect = dialectOfAnswer(source) ?? dialectOfStream(source)
  if (dialect === undefined) return undefined
  const { parts, finishKind } = foldResponse(dialect, bytes)
  return [
    {
      role: "assistant",
      parts: parts.map((part) =>
        part.kind === "tool-call"
          ? { type: "tool_call", id: part.id, name: part.name, arguments: parsedJson(part.arguments) ?? part.arguments }
          : { type: part.kind === "thinking" ? "reasoning" : "text", content: part.text },
      ),
      finish_reason: finishKind ?? finish ?? "stop",
    },
  ]
}

/** A streamed answer is known by the JSON of its first event. */
function dialectOfStream(source: string) {
  const first = /^data: ?(\{.*)$/m.exec(source.slice(0, 65_536))?.[1]
  return first === undefined ? undefined : dialectOfAnswer(first)
}

function parsedJson(source: string): unknown {
  try {
    return JSON.parse(source)
  } catch {
    return undefined
  }
}
