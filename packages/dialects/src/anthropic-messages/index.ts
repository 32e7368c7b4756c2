import { decodePath, pathOf } from "../address.js"
import type { Dialect, ProviderAccess } from "../dialect.js"
import { itemsAt, memberOf, stringAt } from "../json/node.js"
import { isRecord } from "../json/value.js"
import type { RequestShape } from "../request/shape.js"
import { anthropicFold, anthropicUsage, readAnthropicAnswer } from "./answer.js"
import { ANTHROPIC_CACHE_RULES } from "./cache-rules.js"
import { canonicalAnthropic } from "./canon.js"
import { outlineAnthropic } from "./outline.js"
import { anthropicEvents } from "./stream.js"

const EVENTS = new Set([
  "message_start",
  "content_block_start",
  "content_block_delta",
  "content_block_stop",
  "message_delta",
  "message_stop",
  "ping",
])

const anthropicAccess: ProviderAccess = {
  name: "anthropic",
  origin: "https://api.anthropic.com",
  baseUrlVariables: { ANTHROPIC_BASE_URL: "", ANTHROPIC_API_BASE: "", ANTHROPIC_HOST: "" },
  version: { path: "/v1", endpoints: /^\/(?:messages|complete|models|files|skills)(?:[/?]|$)/ },
  secretHeaders: ["authorization", "x-api-key"],
  behaviourHeaders: ["anthropic-beta", "anthropic-version"],
  versionHeader: "anthropic-version",
  keyHeaders({ ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN }) {
    if (ANTHROPIC_API_KEY) return [["x-api-key", ANTHROPIC_API_KEY]]
    return ANTHROPIC_AUTH_TOKEN ? [["authorization", `Bearer ${ANTHROPIC_AUTH_TOKEN}`]] : []
  },
}

const anthropicShape: RequestShape = {
  members: { model: "model", tools: "tools", system: "system", messages: "history", container: "server_state" },
  roles: { system: "system", assistant: "assistant" },
  blocks: "content",
  texts: ["content", "text"],
  toolGroups: [],
  toolWrappers: [],
  toolSchemas: ["input_schema"],
  toolTraffic(node) {
    const type = stringAt(node, "type") ?? ""
    if (type.endsWith("tool_use")) return { calls: [{ id: stringAt(node, "id"), name: stringAt(node, "name") }] }
    if (!type.endsWith("tool_result")) return undefined
    const saysFailure = type === "tool_result" || type === "mcp_tool_result"
    const result = { id: stringAt(node, "tool_use_id"), content: memberOf(node, "content") }
    return { result: saysFailure ? { ...result, errorMember: "is_error" } : result }
  },
  isReasoning: (block) => /^(?:redacted_)?thinking$/.test(stringAt(block, "type") ?? ""),
  // Vertex names the model in the address.
  modelInAddress: /(?<=\/models\/)[^/:?]+(?=:(?:stream)?rawPredict)/i,
}

export const anthropicMessages: Dialect = {
  id: "anthropic-messages",
  provider: "anthropic",
  access: anthropicAccess,
  cacheRules: ANTHROPIC_CACHE_RULES,
  finishReasons: {
    end_turn: "stop",
    stop_sequence: "stop",
    max_tokens: "length",
    model_context_window_exceeded: "length",
    tool_use: "tool_call",
    pause_turn: "paused",
    refusal: "content_filter",
    compaction: "paused",
  },
  endpointOf({ method, path, host }) {
    const plain = pathOf(path)
    if (/\/messages\/count_tokens$/.test(plain)) return "count_tokens"
    // OpenAI's assistants have messages too, but always inside a thread.
    if (/\/messages$/.test(plain) && !plain.includes("/threads/")) return method === "POST" ? "generate" : "other"
    if (/\/messages\/batches(\/|$)/.test(plain)) return "other"
    return host?.includes("anthropic.com") && /\/models(\/|$)/.test(plain) ? "models" : undefined
  },
  pathFacts(path) {
    // Bedrock and Vertex carry the same body, and name the model in the path.
    const match = /\/models?\/([^/]+?)(?:\/invoke(-with-response-stream)?|:(stream)?rawPredict)$/i.exec(pathOf(path))
    if (match === null) return { model: null, stream: null }
    return { model: decodePath(match[1]!), stream: match[2] !== undefined || match[3] !== undefined }
  },
  claimsRequest: (root) =>
    stringAt(root, "anthropic_version") !== null ||
    (memberOf(root, "max_tokens") !== undefined &&
      memberOf(root, "messages") !== undefined &&
      (memberOf(root, "system") !== undefined ||
        itemsAt(root, "tools").some((tool) => memberOf(tool, "input_schema") !== undefined))),
  claimsAnswer: (value) =>
    value["type"] === "message" ||
    (value["type"] === "error" && isRecord(value["error"])) ||
    (typeof value["type"] === "string" && EVENTS.has(value["type"])),
  readAnswer: readAnthropicAnswer,
  newFold: anthropicFold,
  streamEvents: anthropicEvents,
  usageOf: anthropicUsage,
  cacheParams: ["tool_choice", "thinking", "speed", "betas", "output_config", "output_format", "context_management"],
  outlineRequest: outlineAnthropic,
  canonicalRequest: canonicalAnthropic,
  shape: anthropicShape,
}
