import type { JsonNode } from "@orangebox/contract"
import { booleanAt, isPresent, itemsAt, memberOf, numberAt, stringAt } from "../json/node.js"
import type { PromptPart, RequestOutline } from "../request/outline.js"
import { paramsOf } from "../request/params.js"

const PROMPT_MEMBERS = new Set(["model", "systemInstruction", "system_instruction", "tools", "contents"])

/** The model and whether to stream are in the path, not in the body: see `geminiModelOfPath`. */
export function outlineGemini(root: JsonNode, text: string): RequestOutline {
  const request = requestOf(root)
  const config = memberOf(request, "generationConfig")
  const thinking = memberOf(config, "thinkingConfig")
  const cached = stringAt(request, "cachedContent")
  return {
    model: stringAt(root, "model"),
    stream: false,
    sampling: {
      temperature: numberAt(config, "temperature"),
      topP: numberAt(config, "topP"),
      maxTokens: numberAt(config, "maxOutputTokens"),
      seed: numberAt(config, "seed"),
    },
    params: paramsOf(request, PROMPT_MEMBERS),
    thinking: isPresent(thinking) ? thinking : null,
    parts: [...toolParts(request), ...systemParts(request), ...contentParts(request, text)],
    wholeMark: null,
    serverContext: cached === null ? [] : [{ what: "cached_content", id: cached }],
    conversationHint: null,
  }
}

/** The Code Assist endpoint wraps the request in `request`. */
export function requestOf(root: JsonNode): JsonNode {
  const inner = memberOf(root, "request")
  return inner !== undefined && memberOf(inner, "contents") !== undefined ? inner : root
}

function toolParts(root: JsonNode): PromptPart[] {
  return itemsAt(root, "tools").flatMap((tool) => {
    const declarations = itemsAt(tool, "functionDeclarations")
    return (declarations.length > 0 ? declarations : [tool]).map((node): PromptPart => {
      const builtIn = node.kind === "object" ? node.members[0]?.key : undefined
      const name = stringAt(node, "name") ?? builtIn ?? "?"
      return {
        kind: "tool-def",
        role: null,
        message: null,
        node,
        text: stringAt(node, "description"),
        cacheMark: null,
        name,
      }
    })
  })
}

function systemParts(root: JsonNode): PromptPart[] {
  const system = memberOf(root, "systemInstruction") ?? memberOf(root, "system_instruction")
  return itemsAt(system, "parts").map((node) => ({
    kind: "system",
    role: "system",
    message: null,
    node,
    text: stringAt(node, "text"),
    cacheMark: null,
  }))
}

function contentParts(root: JsonNode, text: string): PromptPart[] {
  return itemsAt(root, "contents").flatMap((content, message) => {
    const role = stringAt(content, "role") === "model" ? "assistant" : "user"
    return itemsAt(content, "parts").map((node) => partOf(node, role, message, text))
  })
}

function partOf(node: JsonNode, role: string, message: number, text: string): PromptPart {
  const base = { role, message, node, text: stringAt(node, "text"), cacheMark: null }
  const call = memberOf(node, "functionCall")
  if (call !== undefined) {
    const args = memberOf(call, "args")
    return {
      ...base,
      kind: "tool-call",
      name: stringAt(call, "name") ?? "",
      callId: stringAt(call, "id"),
      arguments: args === undefined ? "{}" : text.slice(args.start, args.end),
    }
  }
  const result = memberOf(node, "functionResponse")
  if (result !== undefined) {
    const response = memberOf(result, "response")
    return {
      ...base,
      kind: "tool-result",
      name: stringAt(result, "name") ?? "",
      callId: stringAt(result, "id"),
      isError: memberOf(response, "error") === undefined ? null : true,
      text: stringAt(response, "output") ?? stringAt(response, "result") ?? stringAt(response, "error"),
    }
  }
  if (base.text !== null) return { ...base, kind: booleanAt(node, "thought") ? "thinking" : "text" }
  const mime = stringAt(node, "inlineData", "mimeType") ?? stringAt(node, "fileData", "mimeType")
  if (mime !== null) return { ...base, kind: mime.startsWith("image/") ? "image" : "document" }
  return { ...base, kind: "other" }
}
