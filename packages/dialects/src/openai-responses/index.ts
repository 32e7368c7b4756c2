import { pathOf } from "../address.js"
import type { Dialect } from "../dialect.js"
import { memberOf, stringAt } from "../json/node.js"
import { listOf } from "../json/value.js"
import { openaiAccess } from "../openai-chat/access.js"
import { OPENAI_CACHE_RULES } from "../openai-chat/cache-rules.js"
import type { RequestShape } from "../request/shape.js"
import { readResponsesAnswer, responsesFold, responsesUsage } from "./answer.js"
import { canonicalResponses } from "./canon.js"
import { outlineResponses } from "./outline.js"
import { responsesEvents } from "./stream.js"

const responsesShape: RequestShape = {
  members: {
    model: "model",
    tools: "tools",
    instructions: "system",
    input: "history",
    previous_response_id: "server_state",
    conversation: "server_state",
    container: "server_state",
  },
  roles: { system: "system", developer: "system", assistant: "assistant" },
  blocks: "content",
  texts: ["content", "text", "output"],
  toolGroups: [],
  toolWrappers: [],
  toolSchemas: ["parameters"],
  toolTraffic(node) {
    const id = stringAt(node, "call_id")
    const type = stringAt(node, "type") ?? ""
    if (type.endsWith("_call_output") || (id !== null && type.endsWith("_output")))
      return { result: { id, content: memberOf(node, "output") } }
    return id === null ? undefined : { calls: [{ id, name: stringAt(node, "name") }] }
  },
  isReasoning: (block) => stringAt(block, "type") === "reasoning",
  continuation: {
    member: "previous_response_id",
    history: "input",
    itemsOf: (answer) => listOf(answer["output"]),
    itemOfText: (text) => ({ role: "user", content: text }),
  },
}

export const openaiResponses: Dialect = {
  id: "openai-responses",
  provider: "openai",
  alsoCalled: ["azure"],
  access: openaiAccess,
  cacheRules: OPENAI_CACHE_RULES,
  finishReasons: {
    // The status, or the reason it is incomplete.
    completed: "stop",
    max_output_tokens: "length",
    content_filter: "content_filter",
    failed: "error",
    cancelled: "other",
    queued: "paused",
    in_progress: "paused",
  },
  endpointOf({ method, path }) {
    const plain = pathOf(path)
    if (/\/responses$/.test(plain)) return method === "POST" ? "generate" : "other"
    if (/\/responses\/compact$/.test(plain)) return "compact"
    if (/\/responses\/input_tokens$/.test(plain)) return "count_tokens"
    return /\/responses\/[^/]+/.test(plain) ? "other" : undefined
  },
  claimsRequest: (root) =>
    memberOf(root, "input") !== undefined &&
    (memberOf(root, "instructions") !== undefined ||
      memberOf(root, "previous_response_id") !== undefined ||
      memberOf(root, "max_output_tokens") !== undefined ||
      memberOf(root, "input")?.kind === "array"),
  claimsAnswer: (value) =>
    value["object"] === "response" || (typeof value["type"] === "string" && value["type"].startsWith("response.")),
  readAnswer: readResponsesAnswer,
  newFold: responsesFold,
  streamEvents: responsesEvents,
  usageOf: responsesUsage,
  cacheParams: [
    "tool_choice",
    "parallel_tool_calls",
    "reasoning",
    "text",
    "truncation",
    "service_tier",
    "prompt_cache_retention",
  ],
  cacheKeyMember: "prompt_cache_key",
  outlineRequest: outlineResponses,
  canonicalRequest: canonicalResponses,
  shape: responsesShape,
}
