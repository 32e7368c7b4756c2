// A run as a tree of numbered steps

export { markedMode } from "./marked-mode.js"
export { type Money, moneyWords, type RunMoney } from "./money.js"
export type { NoteKind, NoteView } from "./notes.js"
export {
  type PartialBody,
  type ReplayView,
  type RunInput,
  type RunTotals,
  type RunView,
  type StepView,
  viewRun,
} from "./run-view.js"
export {
  type BodyView,
  bodiesOf,
  type ErrorView,
  type ModelView,
  type PromptSegment,
  type PromptView,
  type ToolView,
} from "./step-facts.js"

// Skeletons: the first thing to read about a run or a conversation

export {
  type ConversationJson,
  type ConversationOptions,
  conversationJson,
  conversationText,
} from "./conversation-skeleton.js"
export { MIN_SKELETON_BUDGET, type SkeletonOptions, skeletonText } from "./skeleton.js"
export {
  type FoldJson,
  type RowJson,
  type RunJson,
  type SkeletonJson,
  type StepJson,
  skeletonJson,
} from "./skeleton-json.js"
export type { Fold } from "./skeleton-plan.js"

// Drilling down: one step, a slice of a body, what a transform changed

export {
  type BeforeAfter,
  type BeforeAfterRefs,
  beforeAfterOf,
  beforeAfterText,
  compareBeforeAfter,
  type PromptChange,
} from "./before-after.js"
export { type BodySlice, DEFAULT_SLICE_BUDGET, type SliceOptions, sliceBody } from "./body-slice.js"
export type { RowValue, StepRow } from "./step-rows.js"
export {
  MIN_STEP_BUDGET,
  type StepContent,
  type StepOptions,
  type StepReportJson,
  stepJson,
  stepText,
} from "./step-view.js"

// What a step saw: contexts by manifest or from the wire

export type { AddedItem, ChangedItem, ContextChanges, RemovedItem } from "./context/context-changes.js"
export { type ContextJson, contextJson } from "./context/context-json.js"
export {
  type ChangeCounts,
  type ContextSummary,
  type OverviewJson,
  type OverviewOptions,
  overviewJson,
  overviewText,
  summarizeContexts,
} from "./context/context-overview.js"
export { type ContextOptions, MIN_CONTEXT_BUDGET } from "./context/context-page.js"
export type {
  Bodies,
  ContextItem,
  ContextReading,
  ExcludedItem,
  PromptPrefix,
  PromptSize,
} from "./context/context-reading.js"
export { contextText } from "./context/context-text.js"
export {
  type ContextView,
  contextOf,
  contextsWithin,
  type ManifestRevision,
  viewContext,
} from "./context/context-view.js"
export { type WhyOptions, whyJson, whyText } from "./context/format-why.js"
export type { HistoryLoss } from "./context/history-loss.js"
export type { ProviderContext } from "./context/provider-context.js"
export { readContext } from "./context/read-context.js"
export { type Delivery, promptBodies, type RebuiltPrompt, rebuildPrompt } from "./context/rebuild-prompt.js"
export {
  contextBodies,
  outlineBodies,
  previousContext,
  type RecordedContext,
  type RequestOnRecord,
  recordedContexts,
} from "./context/recorded-contexts.js"
export {
  hashesHolding,
  type ItemHistory,
  type Sighting,
  textBodies,
  type WhyQuestion,
  type WhyView,
  whyOf,
} from "./context/why-item.js"

// What people and agents type to point at something

export { type Address, type IdKind, parseAddress, type RunAddress } from "./addresses.js"
