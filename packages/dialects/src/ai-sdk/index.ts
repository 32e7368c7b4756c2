import type { JsonNode } from "@orangebox/contract"
import type { RequestDialect } from "../dialect.js"
import { itemsAt, itemsOf, memberOf, numberAt, stringAt } from "../json/node.js"
import {
  type CacheMarkMade,
  type PartKind,
  type PartPlace,
  type PromptPart,
  promptPart,
  type RequestOutline,
} from "../request/outline.js"
import { paramsOf } from "../request/params.js"
import { newCanon, sortedByName } from "../signature/canon.js"

/**
 * The call options of the AI SDK: how an application asks before a provider package turns it into that provider's protocol. No server
 * speaks it, so there are only requests in it.
 */
export const aiSdkOptions: RequestDialect = {
  id: "ai-sdk-options",
  endpointOf: () => undefined,
  claimsRequest: (root) =>
    itemsAt(root, "prompt").some((message) => stringAt(message, "role") !== null && memberOf(message, "content")),
  cacheParams: ["toolChoice", "responseFormat", "providerOptions"],
  outlineRequest: outlineOptions,
  canonicalRequest(root, ids, notes) {
    const canon = newCanon(ids, notes)
    const part = canon.object({ providerOptions: canon.drop, toolCallId: canon.callId, data: canon.media })
    const message = canon.object({ providerOptions: canon.drop, content: canon.items(part) })
    const tools = canon.piece((value, pointer) => {
      const plain = canon.items(canon.object({ providerOptions: canon.drop }))(value, pointer)
      return plain && sortedByName(plain, (tool) => stringAt(tool, "name"))
    })
    const table = { headers: canon.drop, prompt: canon.items(canon.piece(message)), tools }
    return canon.request(canon.object(table)(root, ""), root)
  },
}

/** What a tool's schema is called in these options. */
export const AI_SDK_TOOL_SCHEMA = "inputSchema"

const PROMPT_MEMBERS = new Set(["prompt", "tools", "headers"])

function outlineOptions(root: JsonNode, text: string): RequestOutline {
  return {
    model: null,
    stream: false,
    sampling: {
      temperature: numberAt(root, "temperature"),
      topP: numberAt(root, "topP"),
      maxTokens: numberAt(root, "maxOutputTokens"),
      seed: numberAt(root, "seed"),
    },
    params: paramsOf(root, PROMPT_MEMBERS),
    thinking: null,
    parts: [
      ...itemsAt(root, "tools").map(toolPart),
      ...itemsAt(root, "prompt").flatMap((message, index) => messageParts(message, index, text)),
    ],
    wholeMark: null,
    serverContext: [],
    conversationHint: null,
  }
}

function toolPart(node: JsonNode): PromptPart {
  const place = { role: null, message: null, node, cacheMark: markOf(node) }
  return promptPart("tool-def", place, stringAt(node, "description"), { name: stringAt(node, "name") ?? "?" })
}

function messageParts(message: JsonNode, index: number, text: string): PromptPart[] {
  const role = stringAt(message, "role")
  const content = memberOf(message, "content")
  const ofMessage = markOf(message)
  if (content?.kind === "string") {
    const place = { role, message: index, node: content, cacheMark: ofMessage }
    return [promptPart(role === "system" ? "system" : "text", place, content.value)]
  }
  const nodes = itemsOf(content)
  return nodes.map((node, at) => {
    // A mark on a message stands on its last part.
    const cacheMark = markOf(node) ?? (at === nodes.length - 1 ? ofMessage : null)
    return contentPart({ role, message: index, node, cacheMark }, text)
  })
}

const KINDS: Readonly<Record<string, PartKind>> = { text: "text", reasoning: "thinking", file: "document" }

function contentPart(place: PartPlace, text: string): PromptPart {
  const { node } = place
  const type = stringAt(node, "type") ?? ""
  const tool = { name: stringAt(node, "toolName"), callId: stringAt(node, "toolCallId") }
  if (type === "tool-call") {
    const input = memberOf(node, "input")
    const written = input?.kind === "string" ? input.value : input && text.slice(input.start, input.end)
    return promptPart("tool-call", place, null, { ...tool, arguments: written ?? "" })
  }
  if (type === "tool-result") {
    const output = memberOf(node, "output")
    const isError = /^error|denied/.test(stringAt(output, "type") ?? "") ? true : null
    const value = memberOf(output, "value")
    const said = value?.kind === "string" ? value.value : value && text.slice(value.start, value.end)
    return promptPart("tool-result", place, said ?? null, { ...tool, isError })
  }
  const kind = Object.hasOwn(KINDS, type) ? KINDS[type]! : "other"
  const isImage = kind === "document" && (stringAt(node, "mediaType") ?? "").startsWith("image/")
  return promptPart(isImage ? "image" : kind, place, stringAt(node, "text"))
}

/** Every provider package has options of its own under its own name, and those that mark what to cache all call it so. */
function markOf(node: JsonNode): CacheMarkMade | null {
  const options = memberOf(node, "providerOptions")
  for (const { value } of options?.kind === "object" ? options.members : []) {
    const mark = memberOf(value, "cacheControl") ?? memberOf(value, "cache_control") ?? memberOf(value, "cachePoint")
    if (mark?.kind === "object") return { ttl: stringAt(mark, "ttl") }
  }
  return null
}
