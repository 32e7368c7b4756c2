// Where: a data folder, a store caught up with its journals, an exported file

export { dataPath, locateData, type ReaderOptions } from "./open/data-folder.js"
export { type MaskKey, maskKeyIn } from "./open/mask-key.js"
export { catchUpStore, holderWords, type Reading, readStore, recentRunIds } from "./open/open-reading.js"
export { writeStore } from "./open/open-writing.js"
export { type RunReading, readRunsAt } from "./open/run-at.js"
export { damaged, damageWords, fileInAddress, RUN_FILE_ENDING } from "./open/run-file.js"
export type { RunReader } from "./open/run-reader.js"
export { type StandingRetention, standingRetention } from "./open/standing-retention.js"
export { pricesFor } from "./run/prices.js"

// What: a run, a step, a conversation, a body, by address

export { findPlaces, placesOutside } from "./address/find-places.js"
export { findRun, findTarget, runOf } from "./address/find-target.js"
export { type LeftOut, leftOutWords } from "./run/bodies.js"
export { briefParts } from "./run/brief-parts.js"
export { type FoundBody, findBody } from "./run/find-body.js"
export { type LoadedRun, loadRun, loadRuns } from "./run/load-run.js"
export { type NumberedHit, searchRuns } from "./run/search-runs.js"
export { stepContents } from "./run/step-contents.js"

// Answers

export { loadCacheAudit } from "./cache/load-cache-audit.js"
export { contextSources } from "./context/context-sources.js"
export { contextsBefore, findWhy, loadContext, outlineContexts } from "./context/find-context.js"
export { loadCase } from "./diagnosis/load-case.js"
export { diffExactly, type PointedAt, pointedAt } from "./diff/diff-exact.js"
export { diffRunsAt } from "./diff/diff-runs.js"
export { type GatheredRun, gatherRun, type MissingBody } from "./export/gather-run.js"
export { type ImportReport, importRunFile } from "./import/import-run.js"
export { type Asking, type Court, type JudgedRun, judgeRun, openCourt } from "./judging/judged-run.js"
export type { RuleOptions } from "./judging/rules-given.js"
export { outcomeOf } from "./replay/fork-outcome.js"
export { effectsHere, loadSource, type ReplaySource } from "./replay/replay-source.js"
export { type Answer, askForSnapshot } from "./snapshots/ask-for-snapshot.js"
export { listSnapshots, type Snapshot } from "./snapshots/list-snapshots.js"
export { materialise, type Written } from "./snapshots/materialise.js"
export { runSql, type SqlTable } from "./sql/run-sql.js"
export { recheckAt } from "./verify/verify-certificate.js"
export { type RunVerdict, type Trail, verifyAt } from "./verify/verify-run.js"
export { type StoreVerdict, verifyStore } from "./verify/verify-store.js"

// Words said about a run, beside it

export { type KeptEvaluation, keepEvaluations } from "./annotations/keep-evaluations.js"
export type { AnnotationDoor } from "./annotations/write-annotations.js"
export { type HumanWord, lastWordAbout, overrideAt } from "./annotations/write-override.js"

// Masking what is stored

export { type NotReached, type RedactStoreReport, redactStore } from "./redact-stored/redact-store.js"
export { type Search, searchForValue, searchWithRules } from "./redact-stored/search.js"

// What the configuration found from here says

export { checkPlace } from "./judging/check-place.js"
export { CLASSIFIER, classifyIn } from "./judging/classify-calls.js"
export { type RulesHere, rulesHere } from "./judging/rules-here.js"
