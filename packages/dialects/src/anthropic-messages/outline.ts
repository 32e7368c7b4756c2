import type { JsonNode } from "@orangebox/contract"
import { booleanAt, isPresent, itemsAt, itemsOf, memberOf, numberAt, stringAt } from "../json/node.js"
import type { PartKind, PromptPart, RequestOutline, ServerContext } from "../request/outline.js"
import { paramsOf } from "../request/params.js"

const PROMPT_MEMBERS = new Set(["model", "stream", "system", "tools", "messages"])

export function outlineAnthropic(root: JsonNode, text: string): RequestOutline {
  const wholeMark = memberOf(root, "cache_control")
  return {
    model: stringAt(root, "model"),
    stream: booleanAt(root, "stream") ?? false,
    sampling: {
      temperature: numberAt(root, "temperature"),
      topP: numberAt(root, "top_p"),
      maxTokens: numberAt(root, "max_tokens"),
      seed: null,
    },
    params: paramsOf(root, PROMPT_MEMBERS),
    thinking: presentOrNull(memberOf(root, "thinking")),
    parts: [...toolParts(root), ...systemParts(root), ...messageParts(root, text)],
    wholeMark: isPresent(wholeMark) ? { ttl: stringAt(wholeMark, "ttl") } : null,
    serverContext: serverContextOf(root),
    conversationHint: conversationHintOf(root),
  }
}

const presentOrNull = (node: JsonNode | undefined): JsonNode | null => (isPresent(node) ? node : null)

function toolParts(root: JsonNode): PromptPart[] {
  return itemsAt(root, "tools").map((node) => ({
    kind: "tool-def",
    role: null,
    message: null,
    node,
    text: stringAt(node, "description"),
    cacheMark: markOf(node),
    name: stringAt(node, "name") ?? stringAt(node, "type") ?? "?",
  }))
}

function systemParts(root: JsonNode): PromptPart[] {
  const system = memberOf(root, "system")
  if (!isPresent(system)) return []
  const blocks = system.kind === "array" ? system.items : [system]
  return blocks.map((node) => ({
    kind: "system",
    role: "system",
    message: null,
    node,
    text: node.kind === "string" ? node.value : stringAt(node, "text"),
    cacheMark: markOf(node),
  }))
}

function messageParts(root: JsonNode, text: string): PromptPart[] {
  return itemsAt(root, "messages").flatMap((message, index) => {
    const role = stringAt(message, "role")
    const content = memberOf(message, "content")
    if (content === undefined) return [otherPart(message, role, index)]
    if (content.kind === "string") return [{ ...otherPart(content, role, index), kind: "text", text: content.value }]
    return itemsOf(content).map((block) => blockPart(block, role, index, text))
  })
}

const otherPart = (node: JsonNode, role: string | null, message: number): PromptPart => ({
  kind: "other",
  role,
  message,
  node,
  text: null,
  cacheMark: markOf(node),
})

const KINDS: Readonly<Record<string, PartKind>> = {
  text: "text",
  thinking: "thinking",
  redacted_thinking: "thinking",
  tool_use: "tool-call",
  server_tool_use: "tool-call",
  mcp_tool_use: "tool-call",
  image: "image",
  document: "document",
}

function blockPart(block: JsonNode, role: string | null, message: number, text: string): PromptPart {
  const part = otherPart(block, role, message)
  const type = stringAt(block, "type") ?? ""
  if (type.endsWith("_result") && type !== "search_result") {
    return {
      ...part,
      kind: "tool-result",
      callId: stringAt(block, "tool_use_id"),
      isError: booleanAt(block, "is_error"),
      text: resultText(memberOf(block, "content")),
    }
  }
  const kind = Object.hasOwn(KINDS, type) ? KINDS[type]! : "other"
  if (kind === "text") return { ...part, kind, text: stringAt(block, "text") }
  if (kind === "thinking") return { ...part, kind, text: stringAt(block, "thinking") }
  if (kind !== "tool-call") return { ...part, kind }
  const input = memberOf(block, "input")
  return {
    ...part,
    kind,
    name: stringAt(block, "name") ?? "",
    callId: stringAt(block, "id"),
    arguments: input === undefined ? "" : text.slice(input.start, input.end),
  }
}

function resultText(content: JsonNode | undefined): string | null {
  if (content?.kind === "string") return content.value
  const texts = itemsOf(content).flatMap((block) => stringAt(block, "text") ?? [])
  return texts.length > 0 ? texts.join("\n") : null
}

function markOf(node: JsonNode): { ttl: string | null } | null {
  const mark = memberOf(node, "cache_control")
  return isPresent(mark) ? { ttl: stringAt(mark, "ttl") } : null
}

function serverContextOf(root: JsonNode): ServerContext[] {
  const found: ServerContext[] = []
  const container = memberOf(root, "container")
  if (isPresent(container)) {
    found.push({ what: "container", id: container.kind === "string" ? container.value : stringAt(container, "id") })
  }
  for (const message of itemsAt(root, "messages")) {
    for (const block of itemsAt(message, "content")) {
      const file = stringAt(block, "source", "file_id") ?? stringAt(block, "file_id")
      if (file !== null) found.push({ what: "file", id: file })
      if (stringAt(block, "type") === "redacted_thinking") found.push({ what: "encrypted_reasoning", id: null })
    }
  }
  return found
}

// Claude Code writes its session into the user id: `user_…_account_…_session_<uuid>`, later a JSON text with a `session_id`.
function conversationHintOf(root: JsonNode): string | null {
  const user = stringAt(root, "metadata", "user_id")
  return user === null ? null : (/session(?:_id"\s*:\s*"|_)([0-9a-f-]{36})/.exec(user)?.[1] ?? null)
}
