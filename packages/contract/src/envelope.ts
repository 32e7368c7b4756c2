import { z } from "zod"
import { AttributeMarks, AttributesSchema } from "./attributes.js"
import { ArtifactRef } from "./body-ref.js"
import { BodyId, EventId, RunId, StepId, TraceId } from "./ids.js"
import { Link } from "./link.js"

export const ActorType = z.enum(["sdk", "backend", "replay_engine"])
export type ActorType = z.infer<typeof ActorType>
export const DeterminismMode = z.enum(["live", "exact", "cached", "simulated"])
export type DeterminismMode = z.infer<typeof DeterminismMode>
export const RedactionStatus = z.enum(["not_required", "redacted", "blocked", "failed"])
export type RedactionStatus = z.infer<typeof RedactionStatus>
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

/** An additive field: legal from that minor version on. */
const since11 = { since: "1.1" } as const

/**
 * Every event's envelope.
 *
 * `run_id`, `trace_id` and `step_id` are null for what a process says outside any run (its start, its end, a log line before the first
 * run). `sequence_no` is null for those and for annotations: what is said *about* a run by anyone but its one writer stands outside the
 * run's sequence, digest and terminal rule.
 */
export const envelopeShape = {
  schema_version: z.string(),
  event_id: EventId.meta(since11),
  trace_id: TraceId.nullable(),
  run_id: RunId.nullable(),
  step_id: StepId.nullable(),
  parent_step_id: StepId.nullable(),
  sequence_no: z.number().int().nonnegative().nullable(),
  event_type: z.string(),
  /** Wall clock, for people. Order is `sequence_no`; durations come from `mono_us`. */
  timestamp_utc: z
    .string()
    .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/, "is not a UTC time (2026-01-31T12:00:00.000Z)"),
  /** Microseconds on the writing process's monotonic clock; comparable only within one run. */
  mono_us: z.number().int().nonnegative().meta(since11),
  actor_type: ActorType,
  determinism_mode: DeterminismMode,
  artifact_refs: z.array(ArtifactRef),
  redaction_status: RedactionStatus,
  /** Who emitted it, stamped by the handle. */
  source: z.string().min(1).max(256).meta(since11),
  conversation_id: z.string().min(1).max(512).optional().meta(since11),
  attributes: AttributesSchema.optional().meta(since11),
  attribute_marks: AttributeMarks.optional().meta(since11),
  attributes_dropped: z.number().int().positive().optional().meta(since11),
  links: z.array(Link).optional().meta(since11),
  /** Who deduced it. Absent means it was observed. */
  inferred_by: z.string().min(1).max(256).optional().meta(since11),
  lane_id: z.string().min(1).max(256).optional().meta(since11),
  attempt_no: z.number().int().positive().optional().meta(since11),
  replay: Replay.optional().meta(since11),
  /** What the contract had against this event when it was written; it was kept all the same. */
  problems: z
    .array(z.strictObject({ code: z.string(), field: z.string(), reason: z.string() }))
    .optional()
    .meta(since11),
} as const
