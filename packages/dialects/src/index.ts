// Dialects

export { type DetectedDialect, detectDialect, dialectByShape, dialectOfAnswer } from "./detect-dialect.js"
export type {
  Answer,
  AnswerFold,
  AnswerPart,
  CallAddress,
  CanonicalRequest,
  Dialect,
  Endpoint,
  FinishKind,
  ProviderAccess,
  ProviderError,
  ToolCall,
  Usage,
} from "./dialect.js"
export { DIALECTS, dialectOf, finishKindOf, isProviderSecret, providerAccesses } from "./dialects.js"
// Answers
export {
  type FoldedResponse,
  foldResponse,
  type ResponseFolder,
  responseFolder,
  type UnknownEvent,
} from "./fold-response.js"
// Bodies read once
export { type JsonBody, readBody } from "./json/body.js"
export { type JsonRecord, type JsonValue, parseJson } from "./json/value.js"
export { createRequestMemory, type RequestMemory } from "./memory/request-memory.js"
// Money
export { BUILT_IN_PRICES } from "./prices/built-in.js"
export { type Price, priceOf } from "./prices/price-of.js"
export { type PriceEntry, type PriceTable, type Rates, withOverrides } from "./prices/price-table.js"
export { answerText, looksBinary, readableText } from "./readable-text.js"
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
export {
  blocksOf,
  continuationOf,
  type HistoryPart,
  historyOf,
  historyParts,
  messageHash,
  modelMemberOf,
  requestMember,
  speakerOf,
  systemTexts,
  textsIn,
  toolDefinitionOf,
  toolListsOf,
  toolSchemaOf,
  toolTrafficOf,
  withModelInAddress,
} from "./request/request-places.js"
export type { Continuation, RequestMember, RequestShape, ToolTraffic } from "./request/shape.js"
export {
  type CallSignature,
  type CallToSign,
  callSignature,
  canonicalRequestText,
  requestIdentity,
  requestSignature,
} from "./signature/call-signature.js"
// Signatures
export { NONSEMANTIC } from "./signature/canon.js"
export { CANON_VERSION } from "./signature/digest.js"
export { MASK_TYPES, type MaskType, maskText } from "./signature/masks.js"
export { mcpSignature } from "./signature/mcp-signature.js"
export { type RetrievalToSign, retrieverSignature } from "./signature/retriever-signature.js"
export { toolSignature, toolSignatureOfText } from "./signature/tool-signature.js"
export { type SseFrame, type SseParser, sseParser } from "./sse.js"
export { type FrameText, type TextDelta, textDeltas } from "./text-deltas.js"
// Lanes
export type {
  CallPlaced,
  Certainty,
  ConversationNamed,
  HistoryChanged,
  LaneStarted,
  PromptChanged,
  SideCall,
  ToolAnswered,
  ToolCalled,
  WireFact,
} from "./wire/facts.js"
export { WIRE_REDUCER } from "./wire/facts.js"
export type { RequestObserved, ResponseObserved, WireObservation } from "./wire/observation.js"
export { finishWire, reduceWire } from "./wire/reduce-wire.js"
export { EMPTY_WIRE_STATE, type WireState } from "./wire/state.js"
