// Dialects

export { type DetectedDialect, detectDialect, dialectOfAnswer } from "./detect-dialect.js"
export type {
  Answer,
  AnswerFold,
  AnswerPart,
  CallAddress,
  CanonicalRequest,
  Dialect,
  Endpoint,
  ProviderError,
  ToolCall,
  Usage,
} from "./dialect.js"
export { DIALECTS, dialectOf } from "./dialects.js"
// Answers
export { type FinishKind, finishKindOf } from "./finish-reason.js"
export {
  type FoldedResponse,
  foldResponse,
  type ResponseFolder,
  responseFolder,
  type UnknownEvent,
} from "./fold-response.js"
// Bodies read once
export { type JsonBody, readBody } from "./json/body.js"
export type { JsonRecord, JsonValue } from "./json/value.js"
export { readableText } from "./readable-text.js"
// Requests
export type { PartKind, PromptPart, Sampling, ServerContext } from "./request/outline.js"
export {
  type CacheMark,
  type MessageOutline,
  type PrefixFingerprint,
  type PromptSegment,
  type RequestAnatomy,
  readRequest,
} from "./request/read-request.js"
export { type SseFrame, type SseParser, sseParser } from "./sse.js"
export { UNKNOWN_USAGE } from "./usage.js"
