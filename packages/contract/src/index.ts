// Events

export { type Advice, advice, adviceText, type SuggestedCommand, suggested } from "./advice.js"
export {
  type Attributes,
  type AttributeValue,
  type FlatAttributes,
  flattenAttributes,
  MAX_ATTRIBUTE_NAME,
  MAX_ATTRIBUTE_TEXT,
} from "./attributes.js"
export { MASK_MIDDLE, MAX_LISTED_MASKS } from "./body-ref.js"
export { definitionOf, EVENT_TYPES, type Event, type EventType, isEventType, type PayloadOf } from "./catalog.js"
export {
  asPointer,
  EXCLUDED_REASONS,
  type ExcludedReason,
  INCLUDED_REASONS,
  type IncludedReason,
  ITEM_TYPES,
  type ItemType,
  itemTypeOf,
  segmentKindOf,
  toolSource,
} from "./context-items.js"
export { type ErrorStory, InputError, OrangeboxError, SystemError } from "./error.js"
export type { EventDefinition, StepKind, StepRole } from "./event-definition.js"
export { type FaultEvidence, faultEvidence } from "./evidenced-fault.js"
// Schemas and their types
export {
  type AbsentReason,
  ActionType,
  type ActorType,
  ArtifactRef,
  type AttributeMark,
  type AuditMode,
  BackupManifest,
  type BodyMask,
  type Candidate,
  CandidateList,
  CaptureMode,
  Config,
  Constraint,
  type DeterminismMode,
  EffectClass,
  type Envelope,
  Environment,
  FaultTrigger,
  FindingsReport,
  type FsyncPolicy,
  type JudgeCommand,
  type KeptBodies,
  type Level,
  type Link,
  type LinkKind,
  type NoEvidence,
  type Objective,
  type PriceOverride,
  type ProcessEnd,
  type Profile,
  type RedactionRules,
  type RedactionStatus,
  type ReportedFinding,
  RunId,
  RunSignature,
  type Segment,
  type SignedStatement,
  type SourceDetector,
  SourceDiagnostics,
  type Status,
  type StepSelector,
  type TokenUsage,
  type ToolMeaning,
  Verdict,
} from "./generated.js"
export { given } from "./given.js"
export { type BodyHash, bodyHash, canonicalHash, incrementalBodyHash, textHash } from "./hash.js"
// Ids, hashes, JSON
export { CANARY_APP, derivedIds, type IdSource, randomIds } from "./ids.js"
export { canonicalJson, canonicalJsonNode, canonicalJsonText } from "./json/canonical.js"
export { isNestedDeeper } from "./json/depth.js"
export { type JsonMember, type JsonNode, type JsonReading, readJson, whyNotJson } from "./json/tree.js"
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
export { maskProxyTokens, newProxyToken } from "./proxy-token.js"
export { runDigest } from "./run-digest.js"
export { type JsonValue, ObjectSchema, Schema, type SchemaIssue, WordSchema } from "./schema/schema.js"
export type { SchemaNode } from "./schema/schema-node.js"
export {
  PARTIAL_ANSWER,
  SNAPSHOT_FOLDER,
  SNAPSHOT_SUMMARIES,
  type SnapshotKind,
  snapshotKindOf,
} from "./snapshot-kind.js"
export { MAX_LOG_MESSAGE, MAX_SUMMARY, summarizeArgs, summarizeText } from "./summary.js"
export { SERIALISED_BODY, TOLD_MESSAGES, whyNotWire } from "./told-body.js"
export { repeatsCall } from "./upgrade/v1-1.js"
export { type EventReading, type PayloadProblem, readEvent, validate, validatePayload } from "./validate.js"
export { type RunRules, validateRun } from "./validate-run.js"
export { parseSchemaVersion, SCHEMA_VERSION, type SchemaVersion } from "./version.js"
