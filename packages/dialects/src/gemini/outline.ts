import type { JsonNode } from "@orangebox/contract"
import { booleanAt, isPresent, itemsAt, memberOf, numberAt, stringAt } from "../json/node.js"
import { type PartPlace, type PromptPart, promptPart, type RequestOutline } from "../request/outline.js"
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
    conversationHint: stringAt(request, "session_id") ?? stringAt(request, "sessionId") ?? stringAt(root, "session_id"),
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
    return (declarations.length > 0 ? declarations : [tool]).map((node) => {
      const builtIn = node.kind === "object" ? node.members[0]?.key : undefined
      const place = { role: null, message: null, node, cacheMark: null }
      return promptPart("tool-def", place, stringAt(node, "description"), {
        name: stringAt(node, "name") ?? builtIn ?? "?",
      })
    })
  })
}

function systemParts(root: JsonNode): PromptPart[] {
  const system = memberOf(root, "systemInstruction") ?? memberOf(root, "system_instruction")
  return itemsAt(system, "parts").map((node) =>
    promptPart("system", { role: "system", message: null, node, cacheMark: null }, stringAt(node, "text")),
  )
}

function contentParts(root: JsonNode, text: string): PromptPart[] {
  return itemsAt(root, "contents").flatMap((content, message) => {
    const role = stringAt(content, "role") === "model" ? "assistant" : "user"
    return itemsAt(content, "parts").map((node) => partOf({ role, message, node, cacheMark: null }, text))
  })
}

function partOf(place: PartPlace, text: string): PromptPart {
  const { node } = place
  const call = memberOf(node, "functionCall")
  if (call !== undefined) {
    const args = memberOf(call, "args")
    return promptPart("tool-call", place, null, {
      name: stringAt(call, "name") ?? "",
      callId: stringAt(call, "id"),
      arguments: args === undefined ? "{}" : text.slice(args.start, args.end),
    })
  }
  const result = memberOf(node, "functionResponse")
  if (result !== undefined) {
    const response = memberOf(result, "response")
    const said = stringAt(response, "output") ?? stringAt(response, "result") ?? stringAt(response, "error")
    return promptPart("tool-result", place, said, {
      name: stringAt(result, "name") ?? "",
      callId: stringAt(result, "id"),
      isError: memberOf(response, "error") === undefined ? null : true,
    })
  }
  const said = stringAt(node, "text")
  if (said !== null) return promptPart(booleanAt(node, "thought") ? "thinking" : "text", place, said)
  const mime = stringAt(node, "inlineData", "mimeType") ?? stringAt(node, "fileData", "mimeType")
  if (mime === null) return promptPart("other", place, null)
  return promptPart(mime.startsWith("image/") ? "image" : "document", place, null)
}
