export { type Crash, crashWords, endWords } from "./crash.js"
export { fillDerived } from "./fill-derived.js"
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
export { type FoldedKind, type FoldedStep, isFailure, isOpen, type StepStatus } from "./folded-step.js"
export { type Gap, UNEXPLAINED } from "./lost-events.js"
export { durationOfRun, hasEnded, type RunFacts, type RunStatus } from "./run-facts.js"
export { RunFold } from "./run-fold.js"
export { isSequence } from "./sound-envelope.js"
export { hasUsage, noTokens, type TokenCounts } from "./token-counts.js"
export { isWorkspaceLook } from "./workspace-look.js"
