import { z } from "zod"
import { SEMVER } from "../src/version.js"
import { AttributeMarks, AttributesSchema } from "./attributes.js"
import { ArtifactRef } from "./body-ref.js"
import { added } from "./define-event.js"
import { BodyId, EventId, RunId, StepId, TraceId } from "./ids.js"
import { Link } from "./link.js"

export const ActorType = z.enum(["sdk", "backend", "replay_engine"])
export const DeterminismMode = z.enum(["live", "exact", "cached", "simulated"])
export const RedactionStatus = z.enum(["not_required", "redacted", "blocked", "failed"])
export const ReplayReason = z.enum(["reproduce", "what_if", "regression", "calibrate", "control"])

export const Replay = z.strictObject({
  source_run_id: RunId,
  fork_step_id: StepId.nullable(),
  override_profile_id: BodyId.nullable(),
  replay_reason_code: ReplayReason,
  source_step_id: StepId.optional(),
  match: z
    .strictObject({ tier: z.string(), occurrence: z.number().int().nonnegative(), canon_version: z.number().int() })
    .optional(),
  effect_class: z.enum(["pure", "read", "write_idempotent", "write", "unknown"]).optional(),
  taint: z.array(z.enum(["cached", "simulated", "live"])).optional(),
})

const UTC_TIME =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d{1,9})?Z$/

/**
 * Every event's envelope.
 *
 * `run_id`, `trace_id` and `step_id` are null for what a process says outside any run (its start, its end, a log line before the first
 * run). `sequence_no` is null for those and for annotations: what is said *about* a run by anyone but its one writer stands outside the
 * run's sequence, digest and terminal rule.
 */
export const envelopeShape = {
  schema_version: z.string().regex(SEMVER, "is not a version such as 1.1.0"),
  event_id: added(EventId),
  trace_id: TraceId.nullable(),
  run_id: RunId.nullable(),
  step_id: StepId.nullable(),
  parent_step_id: StepId.nullable(),
  sequence_no: z.number().int().nonnegative().nullable(),
  event_type: z.string(),
  /** Wall clock, for people. Order is `sequence_no`; durations come from `mono_us`. */
  timestamp_utc: z.string().regex(UTC_TIME, "is not a UTC time (2026-01-31T12:00:00.000Z)"),
  /** Microseconds on the writing process's monotonic clock; comparable only within one run. */
  mono_us: added(z.number().int().nonnegative()),
  actor_type: ActorType,
  determinism_mode: DeterminismMode,
  artifact_refs: z.array(ArtifactRef),
  redaction_status: RedactionStatus,
  /** Who emitted it, stamped by the handle. */
  source: added(z.string().min(1).max(256)),
  conversation_id: added(z.string().min(1).max(512).optional()),
  attributes: added(AttributesSchema.optional()),
  attribute_marks: added(AttributeMarks.optional()),
  attributes_dropped: added(z.number().int().positive().optional()),
  links: added(z.array(Link).optional()),
  /** Who deduced it. Absent means it was observed. */
  inferred_by: added(z.string().min(1).max(256).optional()),
  lane_id: added(z.string().min(1).max(256).optional()),
  attempt_no: added(z.number().int().positive().optional()),
  replay: added(Replay.optional()),
  /** What the contract had against this event when it was written; it was kept all the same. */
  problems: added(z.array(z.strictObject({ code: z.string(), field: z.string(), reason: z.string() })).optional()),
} as const
