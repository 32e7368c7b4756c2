// A recorded run as a tape, and what cannot be replayed from it

export { type CoverageCode, type CoverageProblem, coverage } from "./tape/coverage.js"
export type { Sign, Signature } from "./tape/sign.js"
export type { Bodies, HeaderPairs, Recording, StoredBody, Tape, TapeCall } from "./tape/tape.js"
export { HEADERS_AHEAD, tapeOf } from "./tape/tape-of.js"

// Asking a tape

export type { Ask, AskedRequest, Outcome } from "./match/ask.js"
export type { AcceptedMask } from "./match/comparable.js"
export type { MovedTree } from "./match/moved-tree.js"
export type { ReplayPolicy, ReplayReason } from "./match/policy.js"
export { openReplay, type ReplayOptions, ReplaySession } from "./match/session.js"

// What a replay found, and what it proves

export type { Blocking, Certification } from "./certificate/certify.js"
export { type Recheck, recheckCertificate } from "./certificate/recheck.js"
export type { JudgedRecording } from "./certificate/wholeness.js"
export {
  Certificate,
  type DeclaredOutputs,
  type Divergence,
  type DivergenceCode,
  type DivergenceReport,
  type LeafDiff,
  type NearestCall,
} from "./generated.js"
export { reasonText, reportText } from "./report/report-text.js"

// Drivers: the engine alone, and the SDK's handles

export { asRecorded, replayByEngine } from "./engine/replay-by-engine.js"
export type { TapeSettings } from "./sdk/open-tape.js"
export { ReplayDivergence } from "./sdk/replay-divergence.js"
export { ReplayRecorder, replayRecorder } from "./sdk/replay-recorder.js"
export { bodyFileName, readCutOffReplay, readSavedReplay, type SavedReplay } from "./sdk/saved-replay.js"
export { selfRecordedRuns } from "./tape/self-recorded.js"

// Forks and what they change

export { compareOutcomes, type ForkOutcome, type OutcomeVerdict } from "./fork/compare-arms.js"
export { type CoverageGap, coverageGaps, type EffectMap } from "./fork/effects.js"
export { Fork, type ForkRequest, type ForkWorkspace, type PostMode, type PostPolicy, planFork } from "./fork/fork.js"
export {
  FILE_ARTIFACT,
  firstTree,
  lastTree,
  type NotRestored,
  type RecordedTree,
  type TreeFile,
  workspaceAt,
} from "./fork/recorded-workspace.js"
export { type OverrideOp, OverrideProfile, type OverrideRule, WorkspaceSnapshot } from "./generated.js"
export { editRequest } from "./override/edit-request.js"
export type { RuleProblem } from "./override/override-rules.js"
export { EMPTY_PROFILE, parseProfile } from "./override/profile.js"

// Masks two runs propose and a person accepts

export { acceptMasks, EMPTY_MASKS, parseMasksFile } from "./calibrate/masks-file.js"
export { type Calibration, proposeMasks } from "./calibrate/propose-masks.js"
export { MasksFile } from "./generated.js"

// Streams

export { type Chunking, type EmissionPlan, parseChunking, parseTiming, type Timing } from "./stream/emission-plan.js"
export type { WireAnswer } from "./stream/wire-answer.js"

// One run in one file

export type { PortableHeader, PortableNotes } from "./generated.js"
export type { PortableBodies } from "./portable/portable-bodies.js"
export type { PortableFile } from "./portable/portable-file.js"
export { PORTABLE_VERSION } from "./portable/portable-format.js"
export { type PortableReading, readPortable } from "./portable/read-portable.js"
export { writePortable } from "./portable/write-portable.js"

// Comparing two runs

export { type BehaviourChange, behaviourChange } from "./diff/behaviour.js"
export { diffRuns, exitCodeOf } from "./diff/diff-runs.js"
export { diffStoredRuns, type StoredRun } from "./diff/diff-stored-runs.js"
export type { BodyReading, DiffOptions, Lineage, RunToDiff } from "./diff/run-to-diff.js"
export {
  type DiffItem,
  type PayloadDiff,
  type PayloadOp,
  RunDiff,
  type StepOfDiff,
  Tier,
} from "./generated.js"

// Comparing two steps or two bodies, to the byte

export { type BodyComparison, compareBodies, compareHashes } from "./exact/compare-bodies.js"
export {
  type BodySide,
  type ComparedBody,
  type ExactDiff,
  type ExactFact,
  type ExactSide,
  exactExitCode,
  exactVerdict,
} from "./exact/exact-diff.js"
export { exactText } from "./exact/exact-text.js"

// Telling it: for a reader by the token, side by side, as a page

export { diffColumns } from "./diff/diff-columns.js"
export { diffHtml } from "./diff/diff-html.js"
export { DEFAULT_DIFF_BUDGET, diffText, MIN_DIFF_BUDGET } from "./diff/diff-text.js"
