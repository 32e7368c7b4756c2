import type { JsonNode } from "@orangebox/contract"
import { booleanAt, isPresent, itemsAt, itemsOf, memberOf, numberAt, stringAt } from "../json/node.js"
import { sessionIn } from "../openai-chat/outline.js"
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

const PROMPT_MEMBERS = new Set(["model", "stream", "stream_options", "instructions", "tools", "input"])

export function outlineResponses(root: JsonNode, text: string): RequestOutline {
  const reasoning = memberOf(root, "reasoning")
  return {
    model: stringAt(root, "model"),
    stream: booleanAt(root, "stream") ?? false,
    sampling: {
      temperature: numberAt(root, "temperature"),
      topP: numberAt(root, "top_p"),
      maxTokens: numberAt(root, "max_output_tokens"),
      seed: null,
    },
    params: paramsOf(root, PROMPT_MEMBERS),
    thinking: isPresent(reasoning) ? reasoning : null,
    parts: [...toolParts(root), ...instructionParts(root), ...inputParts(root, text)],
    wholeMark: null,
    serverContext: serverContextOf(root),
    conversationHint: idAt(root, "conversation") ?? sessionIn(root) ?? stringAt(root, "prompt_cache_key"),
  }
}

function toolParts(root: JsonNode): PromptPart[] {
  return itemsAt(root, "tools").map((node) =>
    promptPart("tool-def", { role: null, message: null, node, cacheMark: null }, stringAt(node, "description"), {
      name: stringAt(node, "name") ?? stringAt(node, "server_label") ?? stringAt(node, "type") ?? "?",
    }),
  )
}

function instructionParts(root: JsonNode): PromptPart[] {
  const node = memberOf(root, "instructions")
  if (!isPresent(node)) return []
  const place = { role: "system", message: null, node, cacheMark: null }
  return [promptPart("system", place, node.kind === "string" ? node.value : null)]
}

function inputParts(root: JsonNode, text: string): PromptPart[] {
  const input = memberOf(root, "input")
  if (input?.kind === "string") {
    return [promptPart("text", { role: "user", message: 0, node: input, cacheMark: null }, input.value)]
  }
  return itemsOf(input).flatMap((item, index) => itemParts(item, index, text))
}

function itemParts(item: JsonNode, message: number, text: string): PromptPart[] {
  const type = stringAt(item, "type") ?? "message"
  if (type === "message") return messageParts(item, message)
  const place = (role: string | null): PartPlace => ({ role, message, node: item, cacheMark: markOf(item) })
  if (type === "reasoning") {
    const thoughts = [...itemsAt(item, "summary"), ...itemsAt(item, "content")]
    return [
      promptPart("thinking", place("assistant"), thoughts.flatMap((part) => stringAt(part, "text") ?? []).join("\n")),
    ]
  }
  if (type.endsWith("_call_output")) {
    return [promptPart("tool-result", place("tool"), outputText(item), { callId: stringAt(item, "call_id") })]
  }
  if (type.endsWith("_call")) {
    const call = {
      name: stringAt(item, "name") ?? type.slice(0, -"_call".length),
      callId: stringAt(item, "call_id") ?? stringAt(item, "id"),
      arguments: argumentsOf(item, text),
    }
    return [promptPart("tool-call", place("assistant"), null, call)]
  }
  return [promptPart("other", place(type === "compaction" ? "assistant" : null), null)]
}

function argumentsOf(item: JsonNode, text: string): string {
  for (const key of ["arguments", "input", "code", "action", "operation", "queries"]) {
    const value = memberOf(item, key)
    if (value?.kind === "string") return value.value
    if (isPresent(value)) return text.slice(value.start, value.end)
  }
  return ""
}

const KINDS: Readonly<Record<string, PartKind>> = {
  input_text: "text",
  output_text: "text",
  text: "text",
  refusal: "text",
  input_image: "image",
  input_file: "document",
}

function messageParts(item: JsonNode, message: number): PromptPart[] {
  const role = stringAt(item, "role")
  const textKind: PartKind = role === "system" || role === "developer" ? "system" : "text"
  const content = memberOf(item, "content")
  if (content?.kind === "string") {
    return [promptPart(textKind, { role, message, node: content, cacheMark: markOf(item) }, content.value)]
  }
  return itemsOf(content).map((node) => {
    const type = stringAt(node, "type") ?? ""
    const kind = Object.hasOwn(KINDS, type) ? KINDS[type]! : "other"
    const text = stringAt(node, "text") ?? stringAt(node, "refusal")
    return promptPart(kind === "text" ? textKind : kind, { role, message, node, cacheMark: markOf(node) }, text)
  })
}

function outputText(item: JsonNode): string | null {
  const output = memberOf(item, "output")
  if (output?.kind === "string") return output.value
  const texts = itemsOf(output).flatMap((part) => stringAt(part, "text") ?? stringAt(part, "stdout") ?? [])
  return texts.length > 0 ? texts.join("\n") : null
}

function markOf(node: JsonNode): CacheMarkMade | null {
  const mark = memberOf(node, "prompt_cache_breakpoint")
  return isPresent(mark) ? { ttl: stringAt(mark, "ttl") } : null
}

/** Some members hold an id, or an object with one. */
function idAt(root: JsonNode, key: string): string | null {
  return stringAt(root, key) ?? stringAt(root, key, "id")
}

function serverContextOf(root: JsonNode): ServerContext[] {
  const found: ServerContext[] = []
  const previous = stringAt(root, "previous_response_id")
  if (previous !== null) found.push({ what: "previous_response", id: previous })
  const conversation = idAt(root, "conversation")
  if (conversation !== null) found.push({ what: "conversation", id: conversation })
  for (const item of itemsAt(root, "input")) {
    const type = stringAt(item, "type")
    if (type === "item_reference") found.push({ what: "stored_item", id: stringAt(item, "id") })
    if (type === "compaction") found.push({ what: "compaction", id: stringAt(item, "id") })
    else if (stringAt(item, "encrypted_content") !== null) {
      found.push({ what: "encrypted_reasoning", id: stringAt(item, "id") })
    }
    for (const part of itemsAt(item, "content")) {
      const file = stringAt(part, "file_id")
      if (file !== null) found.push({ what: "file", id: file })
    }
  }
  return found
}
