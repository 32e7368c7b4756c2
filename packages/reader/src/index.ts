// Where: a data folder, a store caught up with its journals, an exported file

export { dataPath, locateData, type ReaderOptions } from "./open/data-folder.js"
export { holderWords } from "./open/holder-words.js"
export { type MaskKey, maskKeyIn } from "./open/mask-key.js"
export { catchUpStore, type Reading, readStore, recentRunIds, type StoreReading } from "./open/open-reading.js"
export { writeStore } from "./open/open-writing.js"
export { type RunReading, readRunsAt } from "./open/run-at.js"
export { damaged, fileInAddress, RUN_FILE_ENDING } from "./open/run-file.js"
export type { RunReader } from "./open/run-reader.js"
export { StandingReading } from "./open/standing-reading.js"
export { type StandingRetention, standingRetention } from "./open/standing-retention.js"
export { pricesFor } from "./run/prices.js"

// What: a run, a step, a conversation, a body, by address

export { findRun, findTarget, runOf } from "./address/find-target.js"
export { type LeftOut, leftOutWords } from "./run/bodies.js"
export { briefParts } from "./run/brief-parts.js"
export { type FoundBody, findBody, readBodyWhole } from "./run/find-body.js"
export { type LoadedRun, loadRun } from "./run/load-run.js"
export { type NumberedHit, searchRuns } from "./run/search-runs.js"

// Answers

export { loadCacheAudit } from "./cache/load-cache-audit.js"
export { loadStrata } from "./cache/load-strata.js"
export { contextSources } from "./context/context-sources.js"
export { loadContext } from "./context/find-context.js"
export { loadConversation } from "./context/load-conversation.js"
export { checkJudge, type DiagnosisAsked, diagnoseRun } from "./diagnosis/diagnose-run.js"
export { diffRunsAt } from "./diff/diff-runs.js"
export { type GatheredRun, gatherRun, type MissingBody } from "./export/gather-run.js"
export { type KeptRun, keepRun } from "./export/keep-run.js"
export { importRunFile } from "./import/import-run.js"
export { dropKeptImports } from "./import/kept-imports.js"
export type { ImportReport } from "./import/take-run-file.js"
export { type Asking, type Court, type JudgedRun, judgeRun, openCourt } from "./judging/judged-run.js"
export type { RuleOptions } from "./judging/rules-given.js"
export { outcomeOf } from "./replay/fork-outcome.js"
export { effectsHere, loadSource, type ReplaySource, refuseForeignSecrets } from "./replay/replay-source.js"
export { askForSnapshot, type SnapshotAnswer } from "./snapshots/ask-for-snapshot.js"
export { listSnapshots, type Snapshot } from "./snapshots/list-snapshots.js"
export { materialise, type Written } from "./snapshots/materialise.js"
export { runSql, type SqlTable } from "./sql/run-sql.js"
export { loadObjectives } from "./stats/load-objectives.js"
export { loadCostBenefit, loadOverview, loadStats, type StatsQuestion } from "./stats/load-stats.js"
export { recheckAt } from "./verify/verify-certificate.js"
export { type RunVerdict, type Trail, verifyAt } from "./verify/verify-run.js"
export { type StoreVerdict, verifyStore } from "./verify/verify-store.js"

// Answers as every door gives them: text, a document, what is said beside

export type { Answer, Shown } from "./answers/answer.js"
export { answerBody, type BodyAsked, bytesOf } from "./answers/body.js"
export { answerCache } from "./answers/cache.js"
export { answerContext, answerWhy, type ContextsAsked, contextsAsked } from "./answers/context.js"
export { answerDecisions, openWords, VERDICT_MARK } from "./answers/decisions.js"
export { answerDiagnosis } from "./answers/diagnosis.js"
export { answerDiff, type DiffAsked } from "./answers/diff.js"
export { answerFind } from "./answers/find.js"
export { answerHandoff, type HandoffAsked } from "./answers/handoff.js"
export { inFolder, type PlacedReading, placedInStore, readPlaced } from "./answers/placed.js"
export { answerReport, trailJson } from "./answers/report.js"
export { answerRuns, RUN_STATUSES, type RunsAsked } from "./answers/runs.js"
export { answerSearch, type SearchAsked } from "./answers/search.js"
export { answerShow, type ShowAsked } from "./answers/show.js"
export { answerSql, checkSql, DEFAULT_SQL_ROWS } from "./answers/sql.js"
export { answerStats, STATS_BY, type StatsAsked } from "./answers/stats.js"
export { answerBeforeAfter, answerBrief, answerStep, type StepAsked, stepAsked } from "./answers/step.js"

// What went wrong, in words

export { type Failure, failureOf, isBadInput, withoutSecrets } from "./failure/failure.js"
export { inWords } from "./failure/system-trouble.js"

// Words said about a run, beside it

export { addFindings, saidFindings } from "./annotations/findings.js"
export { type KeptEvaluation, keepEvaluations } from "./annotations/keep-evaluations.js"
export type { AnnotationDoor } from "./annotations/write-annotations.js"
export { type HumanWord, lastWordAbout, overrideAt } from "./annotations/write-override.js"

// Copies of everything

export { type Backup, backUp } from "./backup/back-up.js"
export { type Restored, restore } from "./backup/restore.js"

// Signatures, which what is changed later does not survive

export { signEveryRun, signRun } from "./signing/sign-runs.js"
export { signatureText } from "./signing/signature-chain.js"
export { newSigningKey, readPublicKey, readSigningKey } from "./signing/signing-key.js"
export { readTimeStamp } from "./signing/time-stamp.js"
export {
  type CheckedSignature,
  gapWords,
  type SignedVerdict,
  verifySignedRun,
  verifySignedStore,
} from "./signing/verify-signed.js"

// Masking what is stored

export { type NotReached, type RedactStoreReport, redactStore } from "./redact-stored/redact-store.js"
export { type Search, searchForValue, searchWithRules } from "./redact-stored/search.js"

// What the configuration found from here says

export { checkPlace } from "./judging/check-place.js"
export { CLASSIFIER, classifyIn } from "./judging/classify-calls.js"
export { type RulesHere, rulesHere } from "./judging/rules-here.js"

// A cluster as the store
export { copyToCluster, migrateCluster } from "./store/cluster.js"
