// A run as a tree of numbered steps

export { injectedContexts } from "./injected-contexts.js"
export { markedMode } from "./marked-mode.js"
export { type Money, moneyDetail } from "./money.js"
export { type RunInput, type RunView, type StepView, viewRun } from "./run-view.js"
export { bodiesOf } from "./step-facts.js"

// Skeletons: the first thing to read about a run or a conversation

export { conversationJson, conversationText } from "./conversation-skeleton.js"
export { MIN_SKELETON_BUDGET, skeletonText } from "./skeleton.js"
export { skeletonJson } from "./skeleton-json.js"

// Every place of an id

export { type PlacesView, type PlaceView, placesJson, placesText } from "./places-view.js"

// Drilling down: one step, a slice of a body, what a transform changed

export { type BeforeAfter, beforeAfterOf, beforeAfterText, compareBeforeAfter } from "./before-after.js"
export { DEFAULT_SLICE_BUDGET, sliceBody } from "./body-slice.js"
export { BRIEF_BUDGET, type BriefParts, briefJson, briefText } from "./step-brief.js"
export { MIN_STEP_BUDGET, type StepContent, stepJson, stepText, stepTitle } from "./step-view.js"

// What a step saw: contexts by manifest or from the wire

export { contextJson } from "./context/context-json.js"
export { overviewJson, overviewText, summarizeContexts } from "./context/context-overview.js"
export type { Bodies, ContextReading } from "./context/context-reading.js"
export { contextText, MIN_CONTEXT_BUDGET } from "./context/context-text.js"
export { type ContextView, contextOf, contextsWithin, viewContext } from "./context/context-view.js"
export { whyJson, whyText } from "./context/format-why.js"
export { manifestIn } from "./context/manifest-items.js"
export { readContext } from "./context/read-context.js"
export { promptBodies, type RebuiltPrompt, rebuildPrompt } from "./context/rebuild-prompt.js"
export {
  contextBodies,
  lastContexts,
  outlineBodies,
  previousContext,
  type RecordedContext,
  recordedContexts,
} from "./context/recorded-contexts.js"
export { recordedSource } from "./context/recorded-sources.js"
export { hashesHolding, textBodies, type WhyView, whyOf } from "./context/why-item.js"

// What a provider's cache served, and what broke it

export { auditCache, type CacheAudit } from "./cache/audit-cache.js"
export { type CacheCall, cacheCallOf } from "./cache/cache-call.js"
export { cacheJson, cacheText, type DetailedAudit, MIN_CACHE_BUDGET } from "./cache/cache-text.js"
export { bodiesToCompare, differingBytes } from "./cache/differing-bytes.js"

// What is broken, from recorded facts

export type { CaseFile, MessageSighting } from "./diagnosis/case-file.js"
export { brokenPairs, toolMentions } from "./diagnosis/detectors/corrupted-history.js"
export { diagnose } from "./diagnosis/diagnose.js"
export { diagnosisJson, diagnosisText, MIN_DIAGNOSIS_BUDGET } from "./diagnosis/diagnosis-text.js"

// What people and agents type to point at something

export { type Address, parseAddress } from "./addresses.js"
