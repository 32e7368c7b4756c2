import type { JsonNode } from "@orangebox/contract"
import { booleanAt, isPresent, itemsAt, itemsOf, memberOf, numberAt, stringAt } from "../json/node.js"
import {
  type CacheMarkMade,
  type PartKind,
  type PromptPart,
  promptPart,
  type RequestOutline,
  type ServerContext,
} from "../request/outline.js"
import { paramsOf } from "../request/params.js"
import { withoutBillingLine } from "./billing-line.js"

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
  return itemsAt(root, "tools").map((node) =>
    promptPart(
      "tool-def",
      { role: null, message: null, node, cacheMark: markOf(node) },
      stringAt(node, "description"),
      {
        name: stringAt(node, "name") ?? stringAt(node, "type") ?? "?",
      },
    ),
  )
}

function systemParts(root: JsonNode): PromptPart[] {
  const system = memberOf(root, "system")
  if (!isPresent(system)) return []
  const blocks = system.kind === "array" ? system.items : [system]
  return blocks.map((node) => {
    const text = node.kind === "string" ? node.value : stringAt(node, "text")
    const place = { role: "system", message: null, node, cacheMark: markOf(node) }
    return promptPart("system", place, text === null ? null : withoutBillingLine(text))
  })
}

function messageParts(root: JsonNode, text: string): PromptPart[] {
  const parts: PromptPart[] = []
  itemsAt(root, "messages").forEach((message, index) => {
    const role = stringAt(message, "role")
    const content = memberOf(message, "content")
    if (content?.kind === "array") {
      for (const block of content.items) parts.push(blockPart(block, role, index, text))
      return
    }
    const node = content ?? message
    const place = { role, message: index, node, cacheMark: markOf(node) }
    parts.push(node.kind === "string" ? promptPart("text", place, node.value) : promptPart("other", place, null))
  })
  return parts
}

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

function blockPart(node: JsonNode, role: string | null, message: number, text: string): PromptPart {
  const place = { role, message, node, cacheMark: markOf(node) }
  const type = stringAt(node, "type") ?? ""
  const kind = Object.hasOwn(KINDS, type) ? KINDS[type]! : "other"
  if (kind === "text" || kind === "thinking") return promptPart(kind, place, stringAt(node, kind))
  if (kind === "tool-call") {
    const input = memberOf(node, "input")
    return promptPart(kind, place, null, {
      name: stringAt(node, "name") ?? "",
      callId: stringAt(node, "id"),
      arguments: input === undefined ? "" : text.slice(input.start, input.end),
    })
  }
  if (kind === "other" && type.endsWith("_result") && type !== "search_result") {
    return promptPart("tool-result", place, resultText(memberOf(node, "content")), {
      callId: stringAt(node, "tool_use_id"),
      isError: booleanAt(node, "is_error"),
    })
  }
  return promptPart(kind, place, null)
}

function resultText(content: JsonNode | undefined): string | null {
  if (content?.kind === "string") return content.value
  const texts = itemsOf(content).flatMap((block) => stringAt(block, "text") ?? [])
  return texts.length > 0 ? texts.join("\n") : null
}

function markOf(node: JsonNode): CacheMarkMade | null {
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
      if (!leansOnServer(block)) continue
      const file = stringAt(block, "source", "file_id") ?? stringAt(block, "file_id")
      if (file !== null) found.push({ what: "file", id: file })
      if (stringAt(block, "type") === "redacted_thinking") found.push({ what: "encrypted_reasoning", id: null })
    }
  }
  return found
}

// Nearly every block can be passed over at one look at its keys, and there are hundreds.
function leansOnServer(block: JsonNode): boolean {
  return (
    block.kind === "object" &&
    block.members.some(
      ({ key, value }) =>
        key === "source" || key === "file_id" || (value.kind === "string" && value.value === "redacted_thinking"),
    )
  )
}

// Claude Code writes its session into the user id: `user_…_account_…_session_<uuid>`, later a JSON text with a `session_id`.
function conversationHintOf(root: JsonNode): string | null {
  const user = stringAt(root, "metadata", "user_id")
  return user === null ? null : (/session(?:_id"\s*:\s*"|_)([0-9a-f-]{36})/.exec(user)?.[1] ?? null)
}
