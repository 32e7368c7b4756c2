// The three doors of step awareness, and the general one

export { type CompiledContext, type CompileInputs, compile, type InputItem } from "./compile.js"
export {
  buildLlmContext,
  buildStepAwarenessBundle,
  type ContextSetup,
  type StepAwarenessOptions,
} from "./preset/step-awareness.js"
export { renderPromptFromBundle } from "./sections.js"

// The bundle

export type { OutcomeRecord, StageId, StepAwarenessBundle, TrendSummary } from "./bundle.js"
export type { Json } from "./plain-json.js"
export {
  FILE_NOT_FOUND,
  type FileReader,
  type ProvenanceRecord,
  type SourcePath,
  type WorkspaceFiles,
} from "./workspace-files.js"

// Budget and tokens

export { type TokenBudget, type TokenBudgetOptions, tokenBudget } from "./token-budget.js"
export { estimateCounter, loadTokenizer, type TokenCounter, type TokenizerEncoding } from "./token-counter.js"

// Stages

export { STEP_AWARENESS_PRESET, stepAwarenessCatalog } from "./preset/catalog.js"
export {
  type CatalogDefinition,
  type ContextSource,
  defineStages,
  type Evaluate,
  type Evaluation,
  type RefusedSource,
  type SourceExclusion,
  type SourceItem,
  type SourceReading,
  type Stage,
  type StageCatalog,
  type StageDefinition,
} from "./stage.js"

// Retrieval

export type { PolicyFilter, PolicySubject } from "./apply-policies.js"
export { metricTrends } from "./preset/metric-trends.js"
export { openIncidents } from "./preset/open-incidents.js"
export { outcomeSummaries } from "./preset/outcome-summaries.js"
export { bm25Retriever } from "./retrieval/bm25.js"
export { chunksOfFolder } from "./retrieval/folder-chunks.js"
export { type FoundChunk, type Reranker, scoreShareReranker } from "./retrieval/reranker.js"
export type { Chunk, Retriever, ScoredChunk } from "./retrieval/retriever.js"

// The manifest

export {
  ContextManifest,
  DerivedManifest,
  type ExcludedReason,
  type ExclusionEntry,
  type FaultArtifact,
  type IncludedReason,
  type InclusionEntry,
  type ItemType,
  ToldManifest,
} from "./generated.js"
export { type BodyLookup, itemsAgain, type LostItem, type RebuiltContext, rebuildContext } from "./rebuild-context.js"
export type { ContextSources } from "./render-again.js"

// Faults

export type { ContextFault } from "./faults/fault.js"
export {
  type GuardableCall,
  type LoopGuard,
  type LoopGuardPolicy,
  type LoopGuardVerdict,
  loopGuardFor,
  observeCall,
  startLoopGuard,
} from "./faults/loop-guard.js"
export {
  type RepairingStep,
  recordSchemaRepair,
  type SchemaRepairOptions,
  type SchemaRepairResult,
  type Validation,
  withSchemaRepair,
} from "./faults/schema-repair.js"
