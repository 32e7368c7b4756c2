import * as attributes from "./attributes.js"
import { BackupManifest } from "./backup-manifest.js"
import * as bodyRef from "./body-ref.js"
import { CATALOG, Envelope } from "./catalog.js"
import * as config from "./config.js"
import * as envelope from "./envelope.js"
import { ArtifactType } from "./events/artifact-recorded.js"
import { ActionType } from "./events/decision.js"
import { Verdict } from "./events/evaluation.js"
import { FaultTrigger, NoEvidence } from "./events/fault.js"
import { Level } from "./events/log.js"
import { ProcessEnd } from "./events/process-crashed.js"
import { Segment, SegmentKind } from "./events/prompt-assembled.js"
import { Candidate, CandidateList } from "./events/retrieval-executed.js"
import { EffectClass } from "./events/tool-called.js"
import * as fields from "./fields.js"
import * as findings from "./findings-report.js"
import * as ids from "./ids.js"
import * as link from "./link.js"
import { RecordV0 } from "./record-v0.js"
import * as signature from "./run-signature.js"
import * as sources from "./source-diagnostics.js"

export { jsonSchemas } from "./json-schemas.js"

/** What others are made of. */
export const shared = {
  ...fields,
  ...ids,
  ...bodyRef,
  ...attributes,
  ...envelope,
  ...link,
  ...config,
  ...findings,
  ...signature,
  ...sources,
  ArtifactType,
  NoEvidence,
  ProcessEnd,
  SegmentKind,
}

/** What ships as a type. */
export const types = {
  AbsentReason: bodyRef.AbsentReason,
  ActorType: envelope.ActorType,
  AttributeMark: attributes.AttributeMark,
  AuditMode: config.AuditMode,
  BodyMask: bodyRef.BodyMask,
  Candidate,
  DeterminismMode: envelope.DeterminismMode,
  FsyncPolicy: config.FsyncPolicy,
  JudgeCommand: config.JudgeCommand,
  KeptBodies: config.KeptBodies,
  Level,
  Link: link.Link,
  LinkKind: link.LinkKind,
  NoEvidence,
  Objective: config.Objective,
  PriceOverride: config.PriceOverride,
  ProcessEnd,
  Profile: config.Profile,
  RedactionRules: config.RedactionRules,
  RedactionStatus: envelope.RedactionStatus,
  ReportedFinding: findings.ReportedFinding,
  Segment,
  SignedStatement: signature.SignedStatement,
  SourceDetector: sources.SourceDetector,
  Status: fields.Status,
  StepSelector: sources.StepSelector,
  TokenUsage: fields.TokenUsage,
  ToolMeaning: config.ToolMeaning,
}

/** What ships as a schema with its type. */
export const schemas = {
  ActionType,
  ArtifactRef: bodyRef.ArtifactRef,
  BackupManifest,
  BodyId: ids.BodyId,
  CandidateList,
  CaptureMode: fields.CaptureMode,
  Config: config.Config,
  Constraint: fields.Constraint,
  EffectClass,
  Envelope,
  Environment: fields.Environment,
  EventId: ids.EventId,
  FaultTrigger,
  FindingsReport: findings.FindingsReport,
  RecordV0,
  RunId: ids.RunId,
  RunSignature: signature.RunSignature,
  SourceDiagnostics: sources.SourceDiagnostics,
  StepId: ids.StepId,
  TraceId: ids.TraceId,
  Verdict,
}

export const events = CATALOG
