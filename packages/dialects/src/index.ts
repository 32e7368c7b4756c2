// Clients
export { skillLoadedBy } from "./clients/skill-load.js"
export {
  clientMasksBetween,
  resultWithoutClientNoise,
  type WithoutClientNoise,
  withoutClientNoise,
} from "./clients/without-client-noise.js"
// Dialects

// Caches
export { BUILT_IN_CACHE_RULES } from "./cache/built-in.js"
export {
  type Bounds,
  type CacheRule,
  type CacheRules,
  cacheRuleOf,
  MARKED_UNNAMED,
  withCacheRules,
} from "./cache/cache-rule.js"
export { detectDialect, dialectByShape, dialectOfAnswer, dialectTold, isSpoken, NO_PATH } from "./detect-dialect.js"
export type { Answer, Dialect, FinishKind, ProviderAccess, RequestDialect, ToolCall, Usage } from "./dialect.js"
export {
  behaviourHeadersOf,
  DIALECTS,
  dialectOf,
  finishKindOf,
  isBehaviourHeader,
  isProviderSecret,
  providerAccesses,
  versionedPath,
} from "./dialects.js"
// Answers
export { type FoldedResponse, foldResponse, type ResponseFolder, responseFolder } from "./fold-response.js"
// Bodies read once
export { type JsonBody, readBody } from "./json/body.js"
export { type Splice, spliced } from "./json/splice.js"
export { type JsonRecord, type JsonValue, parseJson } from "./json/value.js"
export { createRequestMemory, type RequestMemory } from "./memory/request-memory.js"
// Money
export { BUILT_IN_PRICES } from "./prices/built-in.js"
export { priceOf, ratesFor } from "./prices/price-of.js"
export { type PriceEntry, type PriceTable, withOverrides } from "./prices/price-table.js"
export { answerText, dialectOfBytes, looksBinary, readableText } from "./readable-text.js"
export { cacheKeyOf, cacheParamsDigest, credentialsOf } from "./request/cache-identity.js"
export type { PromptPart, Sampling } from "./request/outline.js"
// Requests
export { CACHE_MARKS } from "./request/part-hash.js"
export {
  accountForRequest,
  type BesidePrompt,
  besideWords,
  type ExpectedPrompt,
  injectionWords,
  missingWords,
  type PromptAccount,
  partsExpected,
  promptAccountIn,
} from "./request/prompt-account.js"
export { type PromptSegment, type RequestAnatomy, readRequest } from "./request/read-request.js"
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
export type { Continuation } from "./request/shape.js"
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
export { CANON_VERSION, GENERIC_CANON_VERSION } from "./signature/digest.js"
export { MASK_TYPES, type MaskType, maskText } from "./signature/masks.js"
export {
  genericSignature,
  mcpSignature,
  retrieverSignature,
  toolSignature,
  toolSignatureOfText,
} from "./signature/tool-signature.js"
export { type SseFrame, sseParser } from "./sse.js"
export { streamAnswer } from "./stream-answer.js"
export { type FrameText, textDeltas } from "./text-deltas.js"
// Lanes
export type {
  CallPlaced,
  ConversationNamed,
  LaneStarted,
  SideCall,
  ToolAnswered,
  ToolCalled,
  WireFact,
} from "./wire/facts.js"
export { isLaneLabel, laneLabel, WIRE_REDUCER } from "./wire/facts.js"
export type { ResponseObserved, WireObservation } from "./wire/observation.js"
export { finishWire, reduceWire } from "./wire/reduce-wire.js"
export { EMPTY_WIRE_STATE, type WireState } from "./wire/state.js"
export { mayBeRepeated } from "./wire/take-response.js"
