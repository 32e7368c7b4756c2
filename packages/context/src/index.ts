// The three doors of step awareness, and the general one

export {
  type CompiledContext,
  type CompiledSegment,
  type CompileInputs,
  compile,
  type InputItem,
} from "./compile.js"
export { renderPromptFromBundle } from "./render-prompt.js"
export {
  buildLlmContext,
  buildStepAwarenessBundle,
  type ContextSetup,
  type StepAwarenessOptions,
} from "./step-awareness.js"

// The bundle

export type {
  BundleContext,
  EvidenceText,
  InputText,
  OutcomeRecord,
  StageId,
  StepAwarenessBundle,
  TrendSummary,
} from "./bundle.js"
export type { Json } from "./plain-json.js"
export {
  FILE_NOT_FOUND,
  FILE_UNREADABLE,
  type FileReader,
  type ProvenanceRecord,
  type SourcePath,
  type WorkspaceFiles,
} from "./workspace-files.js"

// Budget and tokens

export { headroomTokens, type TokenBudget, type TokenBudgetOptions, tokenBudget } from "./token-budget.js"
export { estimateCounter, loadTokenizer, type TokenCounter, type TokenizerEncoding } from "./token-counter.js"
export { TRUNCATION_MARKER } from "./truncate.js"

// Stages

export { STEP_AWARENESS_PRESET, stepAwarenessCatalog } from "./preset/catalog.js"
export {
  type CatalogDefinition,
  defineStages,
  type Evaluate,
  type Evaluation,
  type Grammar,
  type RefusedSource,
  type Stage,
  type StageCatalog,
  type StageDefinition,
} from "./stage.js"

// Retrieval

export { bm25Retriever } from "./retrieval/bm25.js"
export type { Chunk, ScoredChunk } from "./retrieval/chunk.js"
export { chunksOfFolder } from "./retrieval/folder-chunks.js"
export type { PolicyFilter, PolicySubject } from "./retrieval/policy-filter.js"
export { type FoundChunk, type Reranker, scoreShareReranker } from "./retrieval/reranker.js"
export type { Retriever } from "./retrieval/retriever.js"
export { metricTrends } from "./sources/metric-trends.js"
export { openIncidents } from "./sources/open-incidents.js"
export { outcomeSummaries } from "./sources/outcome-summaries.js"
export type { ContextSource, SourceExclusion, SourceItem, SourceReading } from "./sources/source.js"

// The manifest

export { findInjectedContext } from "./context-injected.js"
export { itemTypeOf, segmentKindOf } from "./item-kinds.js"
export {
  ContextManifest,
  type ExcludedReason,
  type ExclusionEntry,
  type FaultArtifact,
  type IncludedReason,
  type InclusionEntry,
  type ItemType,
} from "./manifest.js"
export { type BodyLookup, type LostItem, type RebuiltContext, rebuildContext } from "./rebuild-context.js"
export { reviseManifest } from "./revise-manifest.js"
export { COMPILER_VERSION } from "./version.js"

// Faults

export type { ContextFault } from "./faults/fault.js"
export { type LoopGuard, type LoopVerdict, observeCall, startLoopGuard } from "./faults/loop-guard.js"
export {
  type GuardableCall,
  type LoopGuardPolicy,
  type LoopGuardVerdict,
  loopGuardFor,
} from "./faults/loop-guard-for.js"
export { type RepairingStep, recordSchemaRepair } from "./faults/record-schema-repair.js"
export {
  type RepairRecord,
  type SchemaRepairOptions,
  type SchemaRepairResult,
  type Validation,
  withSchemaRepair,
} from "./faults/schema-repair.js"
