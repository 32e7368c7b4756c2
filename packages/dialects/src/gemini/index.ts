import { pathOf } from "../address.js"
import type { Dialect, ProviderAccess } from "../dialect.js"
import { booleanAt, memberOf, stringAt } from "../json/node.js"
import { isRecord } from "../json/value.js"
import type { RequestShape } from "../request/shape.js"
import { geminiFold, geminiUsage, readGeminiAnswer } from "./answer.js"
import { GEMINI_CACHE_RULES } from "./cache-rules.js"
import { canonicalGemini } from "./canon.js"
import { outlineGemini, requestOf } from "./outline.js"

const METHOD = /(?:\/models\/([^/:]+))?:(generateContent|streamGenerateContent|countTokens)$/

const geminiAccess: Omit<ProviderAccess, "besides"> = {
  name: "gemini",
  origin: "https://generativelanguage.googleapis.com",
  baseUrlVariables: { GOOGLE_GEMINI_BASE_URL: "", GEMINI_API_BASE: "/v1beta" },
  version: { path: "/v1beta", endpoints: /^\/(?:models|cachedContents|files|tunedModels)(?:[/:?]|$)/ },
  secretHeaders: ["authorization", "x-goog-api-key"],
  behaviourHeaders: [],
  versionHeader: null,
  keyHeaders: ({ GEMINI_API_KEY }) => (GEMINI_API_KEY ? [["x-goog-api-key", GEMINI_API_KEY]] : []),
}

/** Who logs in with a Google account instead of a key is served by other servers. */
const codeAssistAccess: ProviderAccess = {
  ...geminiAccess,
  name: "gemini-code-assist",
  origin: "https://cloudcode-pa.googleapis.com",
  baseUrlVariables: { CODE_ASSIST_ENDPOINT: "" },
  keyHeaders: () => [],
}

const geminiShape: RequestShape = {
  members: {
    model: "model",
    tools: "tools",
    systemInstruction: "system",
    system_instruction: "system",
    contents: "history",
    cachedContent: "server_state",
  },
  roles: { model: "assistant", function: "tool" },
  blocks: "parts",
  texts: ["parts", "text"],
  toolGroups: ["functionDeclarations", "function_declarations"],
  toolWrappers: [],
  toolSchemas: ["parameters", "parametersJsonSchema"],
  // Calls and results are paired by name and order; not every client sends ids.
  toolTraffic(node) {
    const called = stringAt(node, "functionCall", "name")
    if (called !== null) return { calls: [{ id: null, name: called }] }
    const result = memberOf(node, "functionResponse")
    if (result === undefined) return undefined
    const name = stringAt(result, "name")
    return { result: { id: null, content: memberOf(result, "response"), ...(name === null ? {} : { name }) } }
  },
  isReasoning: (block) => booleanAt(block, "thought") === true,
  modelInAddress: /(?<=\/models\/)[^/:?]+(?=:)/,
}

export const gemini: Dialect = {
  id: "gemini",
  provider: "gcp.gemini",
  alsoCalled: ["google", "gcp", "vertex", "vertexai"],
  access: { ...geminiAccess, besides: [codeAssistAccess] },
  cacheRules: GEMINI_CACHE_RULES,
  finishReasons: {
    STOP: "stop",
    MAX_TOKENS: "length",
    SAFETY: "content_filter",
    RECITATION: "content_filter",
    BLOCKLIST: "content_filter",
    PROHIBITED_CONTENT: "content_filter",
    SPII: "content_filter",
    IMAGE_SAFETY: "content_filter",
    MALFORMED_FUNCTION_CALL: "error",
    UNEXPECTED_TOOL_CALL: "error",
  },
  endpointOf({ method, path, host }) {
    const plain = pathOf(path)
    const call = METHOD.exec(plain)?.[2]
    if (call !== undefined) return call === "countTokens" ? "count_tokens" : "generate"
    return host?.includes("googleapis.com") && method === "GET" && /\/models(\/[^/:]+)?$/.test(plain)
      ? "models"
      : undefined
  },
  pathFacts(path) {
    const match = METHOD.exec(pathOf(path))
    return { model: match?.[1] ?? null, stream: match === null ? null : match[2] === "streamGenerateContent" }
  },
  claimsRequest: (root) => memberOf(requestOf(root), "contents")?.kind === "array",
  claimsAnswer: (value) =>
    Array.isArray(value["candidates"]) ||
    isRecord(value["usageMetadata"]) ||
    (isRecord(value["response"]) && Array.isArray(value["response"]["candidates"])),
  readAnswer: readGeminiAnswer,
  newFold: geminiFold,
  // A chunk is a whole answer of which there may be more; one is a stream.
  streamEvents: ({ text }) => [{ event: null, data: JSON.stringify(JSON.parse(text)) }],
  usageOf: geminiUsage,
  cacheParams: [
    "toolConfig",
    "generationConfig/thinkingConfig",
    "generationConfig/responseSchema",
    "generationConfig/responseMimeType",
  ],
  cacheKeyMember: "cachedContent",
  outlineRequest: outlineGemini,
  canonicalRequest: canonicalGemini,
  shape: geminiShape,
}
