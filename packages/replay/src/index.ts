// A recorded run as a tape, and what cannot be replayed from it

export { type CoverageCode, type CoverageProblem, coverage } from "./tape/coverage.js"
export { type RequestToSign, type Sign, type Signature, signStored } from "./tape/sign.js"
export type {
  Bodies,
  CallKind,
  HeaderPairs,
  RecordedAnswer,
  RecordedError,
  RecordedRequest,
  Recording,
  RunOutputs,
  StoredBody,
  StreamEnd,
  StreamIndex,
  Tape,
  TapeCall,
  TapeStep,
} from "./tape/tape.js"
export { type TapeOptions, type TapeReading, tapeOf } from "./tape/tape-of.js"

// Asking a tape

export type { Ask, AskedRequest, Denied, Diverged, GoLive, Outcome, Served, Tier as MatchTier } from "./match/ask.js"
export type { AcceptedMask } from "./match/comparable.js"
export type { ReplayPolicy, ReplayReason } from "./match/policy.js"
export { openReplay, type ReplayOptions, ReplaySession } from "./match/session.js"
export type { AnsweredCall, SessionState } from "./match/session-state.js"

// What a replay found, and what it proves

export {
  type Blocking,
  type Certification,
  type Condition,
  certify,
  type ReplayToCertify,
  type SeenOutputs,
} from "./certificate/certify.js"
export { fingerprintOf } from "./certificate/fingerprint.js"
export { type Recheck, recheckCertificate } from "./certificate/recheck.js"
export {
  Certificate,
  DeclaredOutputs,
  type Divergence,
  DivergenceCode,
  DivergenceReport,
  type LeafDiff,
  type NearestCall,
} from "./generated.js"
export { type HaltResponse, haltResponse } from "./report/halt-response.js"
export { type ReportTextOptions, reportText } from "./report/report-text.js"

// Drivers: the engine alone, and the SDK's handles

export { asRecorded, type EngineReplay, type EngineStep, replayByEngine } from "./engine/replay-by-engine.js"
export { ReplayDivergence } from "./sdk/replay-divergence.js"
export { ReplayRecorder, type ReplayRecorderOptions, replayRecorder } from "./sdk/replay-recorder.js"

// Forks and what they change

export { descendantsOf } from "./fork/causal-cut.js"
export {
  type ArmVerdict,
  type AspectVerdict,
  compareArms,
  compareOutcomes,
  type ForkOutcome,
  type OutcomeVerdict,
} from "./fork/compare-arms.js"
export { type CoverageGap, coverageGaps, type EffectMap, effectOf } from "./fork/effects.js"
export {
  Fork,
  type ForkPlan,
  type ForkRequest,
  type ForkWorkspace,
  type PostMode,
  type PostPolicy,
  planFork,
  type Simulator,
} from "./fork/fork.js"
export {
  FILE_ARTIFACT,
  firstTree,
  lastTree,
  type NotRestored,
  type RecordedTree,
  type TreeFile,
  type WorkspaceAt,
  workspaceAt,
} from "./fork/recorded-workspace.js"
export { type OverrideOp, OverrideProfile, type OverrideRule, WorkspaceSnapshot } from "./generated.js"
export { editRequest } from "./override/edit-request.js"
export type { MessageAnchor } from "./override/message-anchor.js"
export type { FromRun } from "./override/override-answer.js"
export type { RuleProblem } from "./override/override-rules.js"
export { EMPTY_PROFILE, parseProfile, profileId } from "./override/profile.js"
export type { RequestEdit } from "./override/request-edit.js"

// Masks two runs propose and a person accepts

export { acceptMasks, EMPTY_MASKS, HARNESS_MASKS, parseMasksFile } from "./calibrate/masks-file.js"
export { type Calibration, type MaskProposal, proposeMasks, type UnmaskedChange } from "./calibrate/propose-masks.js"
export { MasksFile } from "./generated.js"

// Streams

export {
  type Chunking,
  type EmissionPlan,
  emissionPlan,
  parseChunking,
  parseTiming,
  type StreamToEmit,
  type Timing,
} from "./stream/emission-plan.js"
export type { WireAnswer } from "./stream/wire-answer.js"

// One run in one file

export type { PortableHeader, PortableNotes } from "./generated.js"
export { NO_NOTES, PORTABLE_VERSION } from "./portable/portable-format.js"
export { type PortableReading, readPortable } from "./portable/read-portable.js"
export { type PortableOptions, writePortable } from "./portable/write-portable.js"

// Comparing two runs

export {
  type BodyAbsence,
  type BodyReading,
  type Cause,
  type Change,
  type ColumnOptions,
  DEFAULT_DIFF_BUDGET,
  DEFAULT_PAYLOADS,
  type DiffItem,
  type DiffOptions,
  type DiffTextOptions,
  diffColumns,
  diffHtml,
  diffRuns,
  diffStoredRuns,
  diffText,
  exitCodeOf,
  type Lineage,
  MIN_COLUMNS,
  MIN_DIFF_BUDGET,
  type PayloadDiff,
  type PayloadOp,
  RunDiff,
  type RunToDiff,
  type SideOfDiff,
  type StepOfDiff,
  type StoredRun,
  type TextDiff,
  type TextHunk,
  Tier,
} from "./diff/index.js"
