// Adapters for what agents are made of

export {
  type AiSdkCallOptions,
  type AiSdkMiddleware,
  type AiSdkModel,
  type AiSdkPart,
  type AiSdkResult,
  recordAiSdk,
} from "./adapters/ai-sdk.js"
export {
  type ClaudeAgentRecording,
  type ClaudeHook,
  type ClaudeHookEvent,
  type ClaudeHookMatcher,
  type ClaudeHooks,
  type ClaudePermission,
  recordClaudeAgent,
} from "./adapters/claude-agent-sdk.js"
export { type McpClientLike, type McpRecording, recordMcpClient } from "./adapters/mcp.js"
export { type OpenAiAgentsRecording, type OpenAiRunner, recordOpenAiAgents } from "./adapters/openai-agents.js"
export { wrapTools } from "./adapters/wrap-tools.js"

// The way in

export type { BodyMarks } from "./bodies-of-event.js"
// Capture modes
export { Capture, type CaptureOptions } from "./capture/capture.js"
// Contexts, faults, guards
export type { CallToClassify, ClassifiedCall, Classify, EvaluationMade } from "./classify.js"
export type { Moment, Now } from "./clock.js"
export { type ConfigPlaces, configPlaces } from "./config/places.js"
export { isTrusted, readTrust, revokeTrust, type TrustEntry, trustFile } from "./config/trusted-files.js"
// Configuration, and whose word counts
export { type IgnoredSetting, ignoredSettingsWarning, withoutUnsafeSettings } from "./config/untrusted-settings.js"
export {
  CONFIG_FILE,
  type ConfigSource,
  type FoundConfig,
  findConfig,
  readRepositoryConfig,
  readUserConfig,
} from "./config-file.js"
export type { EventExtras } from "./event-builder.js"
export { type EventContext, EventRecord, type RecordBody } from "./event-record.js"
export {
  isSnapshotRequested,
  requestSnapshot,
  type SnapshotRequest,
  withdrawSnapshotRequest,
} from "./faults/control-file.js"
export type { CompiledPrompt, ManifestOfContext } from "./faults/given-context.js"
export type { RaisedFault, SnapshotArtifact } from "./faults/raise-fault.js"
export type { ToldContext, ToldExclusion, ToldItem } from "./faults/told-context.js"
// What other programs recorded
export {
  type ForeignBody,
  type ForeignEvent,
  type ForeignNote,
  type ForeignRun,
  ForeignWriter,
} from "./foreign/foreign-writer.js"
export { BlockedCallError, type Guard, type GuardedCall, type GuardVerdict } from "./guard.js"
// Handles
export type { LogAttributes, Logger } from "./logger.js"
// The wire: what a proxy or another client edge records with
export { callOfRequest } from "./model-step.js"
export type { RecorderOptions } from "./options.js"
export type { Delivery, QueuedMessage, QueueHandle } from "./queue.js"
export { Recorder, type Scope } from "./recorder.js"
export type { Run, StartRun, WrittenOutput } from "./run.js"
// Where records go, and what they are made of
export { type BodyStream, MemorySink, type Sink, type SinkCounts, type SinkExit } from "./sink.js"
export type {
  AssembledPrompt,
  DecisionMade,
  FinalOutputGiven,
  Handoff,
  LinkTarget,
  MadeArtifact,
  ModelCall,
  ModelDescription,
  ModelSend,
  ModelStep,
  ReceivedInput,
  RenderedPrompt,
  RepairMade,
  RetrievalCall,
  RetrievedChunk,
  SafetyDecisionMade,
  SourceScope,
  Step,
  StepOptions,
  StepOutcome,
  ToldModel,
  ToolCall,
  ToolContext,
  ToolPromise,
  ToolStep,
  ValidatorDecisionMade,
} from "./step.js"
// Processes that are started by a recording, or answered from one
export { TAPE_VARIABLE, variablesForParent } from "./taped.js"
export { ToolTimeoutError } from "./time-limit.js"
export { deriveWire } from "./wire/derive-wire.js"
export {
  CACHE_USE_HEADER,
  cacheUseSaid,
  type Fetch,
  recordingFetch,
  STEP_HEADER,
  type WireTarget,
} from "./wire/fetch-edge.js"
export {
  completeInferred,
  failInferredStep,
  faultOfCall,
  type InferredStep,
  type InferredTool,
  type InferredToolStep,
  joinConversation,
  openInferredStep,
  openInferredTool,
} from "./wire/inferred-steps.js"
export { type KnownRequest, knowRequest } from "./wire/known-request.js"
export { openWireCall } from "./wire/open-wire-call.js"
export type { RequestHead } from "./wire/outgoing-request.js"
export type { HeaderList } from "./wire/safe-headers.js"
export {
  type RetriedCall,
  WireCall,
  type WireEnd,
  type WireEndNotes,
  type WireNotes,
  type WireRequest,
  type WireResponseHead,
} from "./wire/wire-call.js"
