import { pathOf } from "../address.js"
import type { Dialect } from "../dialect.js"
import { memberOf } from "../json/node.js"
import { isRecord } from "../json/value.js"
import { geminiAccess } from "./access.js"
import { geminiFold, readGeminiAnswer } from "./answer.js"
import { canonicalGemini } from "./canon.js"
import { outlineGemini, requestOf } from "./outline.js"
import { geminiShape } from "./shape.js"
import { geminiUsage } from "./usage.js"

const METHOD = /(?:\/models\/([^/:]+))?:(generateContent|streamGenerateContent|countTokens)$/

export const gemini: Dialect = {
  id: "gemini",
  provider: "gcp.gemini",
  access: geminiAccess,
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
  usageOf: geminiUsage,
  outlineRequest: outlineGemini,
  canonicalRequest: canonicalGemini,
  shape: geminiShape,
}
