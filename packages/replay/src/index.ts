// A recorded run as a tape

export {
  type Certificate,
  Certificate as CertificateSchema,
  DeclaredOutputs,
} from "./certificate/certificate.js"
export {
  type Blocking,
  type Certification,
  type Condition,
  certify,
  type ReplayToCertify,
  type SeenOutputs,
} from "./certificate/certify.js"
export { fingerprintOf, stepHash } from "./certificate/fingerprint.js"
export { type Recheck, recheckCertificate } from "./certificate/recheck.js"
export { asRecorded, type EngineReplay, type EngineStep, replayByEngine } from "./engine/replay-by-engine.js"
export type { Ask, AskedRequest, Denied, Diverged, GoLive, Outcome, Served, Tier } from "./match/ask.js"
export type { AcceptedMask } from "./match/comparable.js"
export { type ReplayPolicy, type ReplayReason, replayPolicy } from "./match/policy.js"
export { openReplay, type ReplayOptions, ReplaySession } from "./match/session.js"
export type { AnsweredCall, SessionState } from "./match/session-state.js"
export type { PortableHeader } from "./portable/portable-format.js"
export { type PortableReading, readPortable } from "./portable/read-portable.js"
export { writePortable } from "./portable/write-portable.js"
export {
  type Divergence,
  type DivergenceCode,
  DivergenceReport as DivergenceReportSchema,
  type DivergenceReport,
  type LeafDiff,
  type NearestCall,
} from "./report/divergence.js"
export { type HaltResponse, haltResponse } from "./report/halt-response.js"
export { type ReportTextOptions, reportText } from "./report/report-text.js"

// Forks and what they change

export { descendantsOf } from "./fork/causal-cut.js"
export { type CoverageGap, coverageGaps, type EffectMap, effectOf, isWrite } from "./fork/effects.js"
export { Fork, type ForkPlan, type ForkRequest, type PostMode, type PostPolicy, planFork } from "./fork/fork.js"
export { editRequest, type MessageAnchor, type RequestEdit } from "./override/edit-request.js"
export type { FromRun } from "./override/override-answer.js"
export {
  EMPTY_PROFILE,
  type OverrideOp,
  OverrideProfile as OverrideProfileSchema,
  type OverrideProfile,
  type OverrideRule,
  parseProfile,
  profileId,
} from "./override/profile.js"
export { messageHash } from "./override/request-parts.js"
export type { RuleProblem } from "./override/rule-book.js"

// The SDK's handles over a tape

export { ReplayDivergence } from "./sdk/replay-divergence.js"
export { ReplayRecorder, type ReplayRecorderOptions, replayRecorder } from "./sdk/replay-recorder.js"

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
export { servedHeaders } from "./stream/served-headers.js"
export { type CoverageCode, type CoverageProblem, coverage } from "./tape/coverage.js"
export { type RequestToSign, type Sign, type Signature, signStored } from "./tape/sign.js"
export type {
  Bodies,
  CallKind,
  HeaderPairs,
  RecordedAnswer,
  RecordedRequest,
  Recording,
  RunOutputs,
  StoredBody,
  StreamIndex,
  Tape,
  TapeCall,
  TapeStep,
} from "./tape/tape.js"
export { type TapeOptions, type TapeReading, tapeOf } from "./tape/tape-of.js"
