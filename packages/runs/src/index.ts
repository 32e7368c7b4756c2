export { type Crash, crashWords, endWords } from "./crash.js"
export {
  type FoldRunOptions,
  foldRun,
  linksOf,
  type Run,
  type RunTotals,
  type Step,
  type TokenTotals,
  usageRecordOf,
} from "./fold-run.js"
export { dialectOfBytes, foldedAnswer } from "./folded-answer.js"
export { type Gap, UNEXPLAINED } from "./lost-events.js"
export {
  durationOfRun,
  type FoldedKind,
  type FoldedStep,
  hasEnded,
  hasUsage,
  isFailure,
  isOpen,
  noTokens,
  type RunFacts,
  RunFold,
  type RunStatus,
  type StepStatus,
  type TokenCounts,
} from "./run-fold.js"
export { isSequence } from "./sound-envelope.js"
export { isWorkspaceLook } from "./workspace-look.js"
