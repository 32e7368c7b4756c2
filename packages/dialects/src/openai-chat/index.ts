import { decodePath, pathOf } from "../address.js"
import type { Dialect } from "../dialect.js"
import { itemsAt, memberOf, stringAt } from "../json/node.js"
import type { RequestShape } from "../request/shape.js"
import { openaiAccess } from "./access.js"
import { chatFold, chatUsage, readChatAnswer } from "./answer.js"
import { OPENAI_CACHE_RULES } from "./cache-rules.js"
import { canonicalChat } from "./canon.js"
import { outlineChat } from "./outline.js"
import { chatEvents } from "./stream.js"

const chatShape: RequestShape = {
  members: { model: "model", tools: "tools", functions: "tools", messages: "history" },
  roles: { system: "system", developer: "system", assistant: "assistant", tool: "tool", function: "tool" },
  blocks: "content",
  texts: ["content", "text"],
  toolGroups: [],
  toolWrappers: ["function", "custom"],
  toolSchemas: ["parameters"],
  toolTraffic(node) {
    const content = memberOf(node, "content")
    const id = stringAt(node, "tool_call_id")
    if (id !== null || (content && /^(?:tool|function)$/.test(stringAt(node, "role") ?? "")))
      return { result: { id, content } }
    const calls = itemsAt(node, "tool_calls").map((call) => {
      const made = memberOf(call, "function") ?? memberOf(call, "custom")
      return { id: stringAt(call, "id"), name: stringAt(made, "name") }
    })
    return calls.length > 0 ? { calls } : undefined
  },
  isReasoning: (block) => stringAt(block, "type") === "thinking",
}

/** Those whose documentation offers Chat Completions as their protocol, or as one of theirs. */
const CHAT_SERVERS = (
  "azure cerebras deepseek deepinfra fireworks groq litellm lmstudio mistral moonshot nvidia ollama openrouter perplexity sglang together " +
  "togetherai vllm xai x_ai"
).split(" ")

/** Chat Completions, as spoken by OpenAI and by nearly every other server; the older text completions are the same with one text. */
export const openaiChat: Dialect = {
  id: "openai-chat",
  provider: "openai",
  alsoCalled: CHAT_SERVERS,
  access: openaiAccess,
  cacheRules: OPENAI_CACHE_RULES,
  finishReasons: {
    stop: "stop",
    length: "length",
    tool_calls: "tool_call",
    function_call: "tool_call",
    content_filter: "content_filter",
    error: "error",
  },
  endpointOf({ method, path, host }) {
    const plain = pathOf(path)
    if (/\/completions$/.test(plain)) return method === "POST" ? "generate" : "other"
    if (/\/chat\/completions\//.test(plain)) return "other"
    return /\/models(\/[^/:]+)?$/.test(plain) && method === "GET" && !host?.includes("googleapis")
      ? "models"
      : undefined
  },
  pathFacts(path) {
    // Azure names a deployment in the path, and its clients often leave the model out of the body.
    const deployment = /\/deployments\/([^/]+)\//.exec(pathOf(path))?.[1]
    return { model: deployment === undefined ? null : decodePath(deployment), stream: null }
  },
  // Many protocols have a model and messages; only members that no other protocol spells like this tell.
  claimsRequest: (root) =>
    itemsAt(root, "messages").length > 0 &&
    stringAt(root, "model") !== null &&
    ["stream_options", "max_completion_tokens", "reasoning_effort", "parallel_tool_calls"].some(
      (key) => memberOf(root, key) !== undefined,
    ),
  claimsAnswer: (value) => typeof value["object"] === "string" && /completion/.test(value["object"]),
  readAnswer: readChatAnswer,
  newFold: chatFold,
  streamEvents: chatEvents,
  usageOf: chatUsage,
  cacheParams: [
    "tool_choice",
    "parallel_tool_calls",
    "reasoning_effort",
    "reasoning",
    "response_format",
    "verbosity",
    "service_tier",
    "prompt_cache_retention",
  ],
  cacheKeyMember: "prompt_cache_key",
  outlineRequest: outlineChat,
  canonicalRequest: canonicalChat,
  shape: chatShape,
}
