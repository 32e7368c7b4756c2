// A run as a tree of numbered steps

export { incompleteContexts, injectedContexts } from "./injected-contexts.js"
export { markedMode } from "./marked-mode.js"
export { type Money, moneyDetail } from "./money.js"
export { refusedContexts } from "./refused-contexts.js"
export { type RunInput, type RunView, type StepView, viewRun } from "./run-view.js"
export { bodiesOf } from "./step-facts.js"

// Skeletons: the first thing to read about a run or a conversation

export { conversationJson, conversationText } from "./conversation-skeleton.js"
export { eventWords } from "./format-run.js"
export { withheldWords } from "./format-skeleton.js"
export { MIN_SKELETON_BUDGET, skeletonText } from "./skeleton.js"
export { runHeadJson, runJson, skeletonJson } from "./skeleton-json.js"

// Every place of an id

export { type PlacesView, type PlaceView, placesJson, placesText } from "./places-view.js"

// Drilling down: one step, a slice of a body, what a transform changed

export { type BeforeAfter, beforeAfterOf, beforeAfterText, compareBeforeAfter } from "./before-after.js"
export { DEFAULT_SLICE_BUDGET, sliceBody } from "./body-slice.js"
export { BRIEF_BUDGET, type BriefParts, briefJson, briefText } from "./step-brief.js"
export { MIN_STEP_BUDGET, type StepContent, stepJson, stepText, stepTitle } from "./step-view.js"

// What a step saw: contexts by manifest or from the wire

export { contextJson } from "./context/context-json.js"
export { MIN_OVERVIEW_BUDGET, overviewJson, overviewText, summarizeContexts } from "./context/context-overview.js"
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
export { chunkLists, chunksIn, recordedSource } from "./context/recorded-sources.js"
export { hashesHolding, textBodies, type WhyView, whyOf } from "./context/why-item.js"

// What a provider's cache served, and what broke it

export { auditCache, type CacheAudit, cacheSums } from "./cache/audit-cache.js"
export { type CacheCall, cacheCallOf } from "./cache/cache-call.js"
export { cacheJson, cacheText, type DetailedAudit, MIN_CACHE_BUDGET } from "./cache/cache-text.js"
export { bodiesToCompare, differingBytes } from "./cache/differing-bytes.js"

// One call as people read it, and the words of rows

export { callConversation, type TornAnswer } from "./conversation/call-conversation.js"
export { stepWordsJson } from "./step-words.js"

// What the model saw, call by call, as bands

export { type Strata, strataJson } from "./strata/strata.js"

// What is broken, from recorded facts

export {
  type BrokenPrompt,
  type CaseFile,
  type GoodSibling,
  type InvestigatedSource,
  isBadOutcome,
  type LeftOutOfContext,
  type MessageSighting,
  type StepWords,
  type ToldOutcome,
  type Usual,
} from "./diagnosis/case-file.js"
export { brokenPairs, toolMentions, toolPlaces } from "./diagnosis/detectors/corrupted-history.js"
export { usualKey } from "./diagnosis/detectors/latency-outlier.js"
export { DETECTORS, type Diagnosis, diagnose } from "./diagnosis/diagnose.js"
export {
  type DiagnosedRun,
  type DiagnosedThread,
  diagnosisJson,
  diagnosisText,
  MIN_DIAGNOSIS_BUDGET,
  threadDiagnosisJson,
  threadDiagnosisText,
  topFindingLine,
} from "./diagnosis/diagnosis-text.js"
export type { JudgeWord } from "./diagnosis/judged-findings.js"
export { ruleProblem } from "./diagnosis/step-rules.js"
export { suspectsOf } from "./diagnosis/suspects.js"

// What runs add up to, and what stands in prompts against its use

export { type ObjectiveReading, readObjectives } from "./objectives/objectives.js"
export { objectivesText } from "./objectives/objectives-text.js"
export { type ContributorFigures, type ContributorSum, type CostBenefit, costBenefit } from "./stats/cost-benefit.js"
export { costBenefitText } from "./stats/cost-benefit-text.js"
export type { Figures } from "./stats/figures.js"
export { GROUPINGS, type Grouping, type Stats, type StatsGroup, type StatsOverview, statsOf } from "./stats/stats.js"
export { costBenefitCsv, costBenefitJson, statsCsv, statsJson, statsOverviewJson } from "./stats/stats-data.js"
export { statsOverviewText, statsText } from "./stats/stats-text.js"
export { type StatsFilter, type StepDuration, type StepSum, unknownWord } from "./stats/step-sums.js"

// What others found out about a run, and the packet for an agent that is to find out more

export { type SaidFindings, saidFindingsJson, saidFindingsText } from "./findings/said-findings.js"
export { HANDOFF_BUDGET, handoffJson, handoffText, MIN_HANDOFF_BUDGET } from "./handoff/handoff-text.js"

// What people and agents type to point at something

export { type Address, parseAddress } from "./addresses.js"
