import type { JsonNode } from "@orangebox/contract"
import { booleanAt, isPresent, itemsAt, itemsOf, memberOf, numberAt, stringAt } from "../json/node.js"
import {
  type CacheMarkMade,
  type PartKind,
  type PartPlace,
  type PromptPart,
  promptPart,
  type RequestOutline,
  type ServerContext,
} from "../request/outline.js"
import { paramsOf } from "../request/params.js"

const PROMPT_MEMBERS = new Set(["model", "stream", "stream_options", "tools", "functions", "messages", "prompt"])

export function outlineChat(root: JsonNode): RequestOutline {
  const messages = itemsAt(root, "messages")
  return {
    model: stringAt(root, "model"),
    stream: booleanAt(root, "stream") ?? false,
    sampling: {
      temperature: numberAt(root, "temperature"),
      topP: numberAt(root, "top_p"),
      maxTokens: numberAt(root, "max_completion_tokens") ?? numberAt(root, "max_tokens"),
      seed: numberAt(root, "seed"),
    },
    params: paramsOf(root, PROMPT_MEMBERS),
    thinking: memberOf(root, "reasoning_effort") ?? memberOf(root, "reasoning") ?? null,
    parts: [...toolParts(root), ...messages.flatMap(messageParts), ...completionPrompt(root)],
    wholeMark: null,
    serverContext: messages.flatMap(filesOf),
    conversationHint: sessionIn(root) ?? stringAt(root, "prompt_cache_key"),
  }
}

/** Where clients and gateways put the session, for they have no field of their own for it. */
export function sessionIn(root: JsonNode): string | null {
  return (
    stringAt(root, "metadata", "session_id") ??
    stringAt(root, "metadata", "conversation_id") ??
    stringAt(root, "client_metadata", "session_id") ??
    stringAt(root, "session_id")
  )
}

function toolParts(root: JsonNode): PromptPart[] {
  return [...itemsAt(root, "tools"), ...itemsAt(root, "functions")].map((node) => {
    const definition = memberOf(node, "function") ?? memberOf(node, "custom") ?? node
    const place = { role: null, message: null, node, cacheMark: markOf(node) }
    const name = stringAt(definition, "name") ?? stringAt(node, "type") ?? "?"
    return promptPart("tool-def", place, stringAt(definition, "description"), { name })
  })
}

const SYSTEM_ROLES = new Set(["system", "developer"])

function messageParts(message: JsonNode, index: number): PromptPart[] {
  const role = stringAt(message, "role")
  const content = memberOf(message, "content")
  const place = (node: JsonNode): PartPlace => ({ role, message: index, node, cacheMark: markOf(node) })
  if (role === "tool" || role === "function") {
    const more = { callId: stringAt(message, "tool_call_id"), name: stringAt(message, "name") }
    return [promptPart("tool-result", place(message), contentText(content), more)]
  }
  const textKind: PartKind = role !== null && SYSTEM_ROLES.has(role) ? "system" : "text"
  const parts: PromptPart[] = []
  for (const key of ["reasoning_content", "reasoning"]) {
    const thinking = memberOf(message, key)
    if (thinking?.kind === "string") parts.push(promptPart("thinking", place(thinking), thinking.value))
  }
  if (content?.kind === "string") {
    parts.push(promptPart(textKind, { ...place(content), cacheMark: markOf(message) }, content.value))
  }
  for (const node of itemsOf(content)) parts.push(contentPart(place(node), textKind))
  for (const node of itemsAt(message, "tool_calls")) {
    const call = memberOf(node, "function") ?? memberOf(node, "custom")
    parts.push(promptPart("tool-call", place(node), null, { ...callOf(call), callId: stringAt(node, "id") }))
  }
  const legacy = memberOf(message, "function_call")
  if (isPresent(legacy)) parts.push(promptPart("tool-call", place(legacy), null, callOf(legacy)))
  return parts.length > 0 ? parts : [promptPart("other", place(message), null)]
}

const callOf = (call: JsonNode | undefined): { name: string; arguments: string } => ({
  name: stringAt(call, "name") ?? "",
  arguments: stringAt(call, "arguments") ?? stringAt(call, "input") ?? "",
})

const KINDS: Readonly<Record<string, PartKind>> = {
  text: "text",
  refusal: "text",
  image_url: "image",
  file: "document",
  thinking: "thinking",
}

function contentPart(place: PartPlace, textKind: PartKind): PromptPart {
  const type = stringAt(place.node, "type") ?? ""
  const kind = Object.hasOwn(KINDS, type) ? KINDS[type]! : "other"
  const text = stringAt(place.node, "text") ?? stringAt(place.node, "refusal")
  return promptPart(kind === "text" ? textKind : kind, place, text)
}

function contentText(content: JsonNode | undefined): string | null {
  if (content?.kind === "string") return content.value
  const texts = itemsOf(content).flatMap((part) => stringAt(part, "text") ?? [])
  return texts.length > 0 ? texts.join("\n") : null
}

// OpenRouter passes Anthropic's marks through; OpenAI has its own.
function markOf(node: JsonNode): CacheMarkMade | null {
  const mark = memberOf(node, "cache_control") ?? memberOf(node, "prompt_cache_breakpoint")
  return isPresent(mark) ? { ttl: stringAt(mark, "ttl") } : null
}

/** The older completions endpoint: one text instead of messages. */
function completionPrompt(root: JsonNode): PromptPart[] {
  const prompt = memberOf(root, "prompt")
  if (!isPresent(prompt)) return []
  const texts = prompt.kind === "array" ? prompt.items : [prompt]
  return texts.map((node, message) =>
    promptPart("text", { role: "user", message, node, cacheMark: null }, node.kind === "string" ? node.value : null),
  )
}

function filesOf(message: JsonNode): ServerContext[] {
  return itemsAt(message, "content").flatMap((part): ServerContext[] => {
    const id = stringAt(part, "file", "file_id")
    return id === null ? [] : [{ what: "file", id }]
  })
}
