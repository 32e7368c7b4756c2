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
// Signatures
export {
  type CallSignature,
  type CallToSign,
  callSignature,
  canonicalRequestText,
} from "./signature/call-signature.js"
export { CANON_VERSION, type CallKind } from "./signature/digest.js"
export { MASK_TYPES, type MaskType, maskText } from "./signature/masks.js"
export { mcpSignature, mcpSignatureOfMessage } from "./signature/mcp-signature.js"
export { embeddingSignature, type RetrievalToSign, retrieverSignature } from "./signature/retriever-signature.js"
export { toolSignature, toolSignatureOfText } from "./signature/tool-signature.js"
export { type SseFrame, type SseParser, sseParser } from "./sse.js"
export { UNKNOWN_USAGE } from "./usage.js"
