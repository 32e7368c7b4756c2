import { pathOf } from "../address.js"
import type { Dialect } from "../dialect.js"
import { memberOf } from "../json/node.js"
import { openaiAccess } from "../openai-chat/access.js"
import { readResponsesAnswer, responsesFold } from "./answer.js"
import { canonicalResponses } from "./canon.js"
import { outlineResponses } from "./outline.js"
import { responsesShape } from "./shape.js"
import { responsesUsage } from "./usage.js"

export const openaiResponses: Dialect = {
  id: "openai-responses",
  provider: "openai",
  access: openaiAccess,
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
  usageOf: responsesUsage,
  outlineRequest: outlineResponses,
  canonicalRequest: canonicalResponses,
  shape: responsesShape,
}
