// Events

export {
  type AttributeMark,
  type Attributes,
  type AttributeValue,
  type FlatAttributes,
  flattenAttributes,
  MAX_ATTRIBUTE_TEXT,
  MAX_ATTRIBUTES,
} from "./attributes.js"
// Bodies
export { type AbsentReason, ArtifactRef, type BodyMask, MASK_MIDDLE, MAX_LISTED_MASKS } from "./body-ref.js"
export {
  definitionOf,
  type Envelope,
  EVENT_TYPES,
  type Event,
  type EventType,
  eventSchema,
  isEventType,
  type PayloadOf,
} from "./catalog.js"
// Configuration and errors
export {
  type AuditMode,
  Config,
  type FsyncPolicy,
  type JudgeCommand,
  type KeptBodies,
  type PriceOverride,
  type Profile,
  type RedactionRules,
  type ToolMeaning,
} from "./config.js"
export type { EventDefinition, StepKind, StepRole } from "./define-event.js"
export type { ActorType, DeterminismMode, RedactionStatus } from "./envelope.js"
export { type ErrorStory, InputError, OrangeboxError, SystemError } from "./error.js"
export { ActionType } from "./events/decision.js"
export { Verdict } from "./events/evaluation.js"
export { FaultTrigger } from "./events/fault.js"
export { type Level, MAX_LOG_MESSAGE } from "./events/log.js"
export type { Segment } from "./events/prompt-assembled.js"
export { type Candidate, CandidateList } from "./events/retrieval-executed.js"
export { EffectClass } from "./events/tool-called.js"
export { CaptureMode, Constraint, Environment, type Status, type TokenUsage } from "./fields.js"
export { type BodyHash, bodyHash, canonicalHash, incrementalBodyHash, textHash } from "./hash.js"
// Pages
// Ids, hashes, JSON
export { BodyId, EventId, type IdSource, RunId, randomIds, StepId, TraceId } from "./ids.js"
export { canonicalJson, canonicalJsonNode, canonicalJsonText } from "./json/canonical.js"
export { canonicalNumber } from "./json/number.js"
export { type JsonMember, type JsonNode, type JsonReading, readJson } from "./json/tree.js"
export type { Link, LinkKind } from "./link.js"
// Payloads of unchecked shape
export {
  amountIn,
  asRecord,
  countIn,
  integerIn,
  isRecord,
  type LoosePayload,
  listIn,
  numberIn,
  payloadOf,
  recordIn,
  recordsIn,
  textIn,
  textsIn,
} from "./loose-payload.js"
export { type PayloadRef, payloadRefs, refFieldsOf } from "./payload-refs.js"
// Rules
export type { Problem, ProblemSeverity } from "./problem.js"
export { runDigest } from "./run-digest.js"
export { MAX_SUMMARY, summarizeArgs, summarizeText } from "./summary.js"
export { type EventReading, type PayloadProblem, readEvent, validate, validatePayload } from "./validate.js"
export { type RunRules, validateRun } from "./validate-run.js"
export { parseSchemaVersion, SCHEMA_VERSION, type SchemaVersion } from "./version.js"
