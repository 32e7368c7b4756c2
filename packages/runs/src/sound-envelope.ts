import { type ArtifactRef, type Event, isRecord, type Link } from "@orangebox/contract"

/**
 * An event whose envelope can be relied on. Events are kept even when they break the contract, so a reader may meet any shape; here, at the
 * door, what is unusable becomes unknown, and nothing behind it has to ask again. A sound event, which is nearly every one, is passed as it is.
 * A payload is an object; what it holds is not touched, and is read loosely wherever it is read.
 */
export function soundEnvelope(event: Event): Event {
  return isSound(event) ? event : repaired(event)
}

function isSound(event: Event): boolean {
  return (
    isText(event.event_id) &&
    isText(event.event_type) &&
    isText(event.timestamp_utc) &&
    isText(event.source) &&
    isText(event.determinism_mode) &&
    isText(event.redaction_status) &&
    isTextOrNull(event.run_id) &&
    isTextOrNull(event.trace_id) &&
    isTextOrNull(event.step_id) &&
    isTextOrNull(event.parent_step_id) &&
    (event.sequence_no === null || isSequence(event.sequence_no)) &&
    Number.isFinite(event.mono_us) &&
    isArrayOf(event.artifact_refs, isRef) &&
    isRecord(event.payload) &&
    (event.conversation_id === undefined || isText(event.conversation_id)) &&
    (event.inferred_by === undefined || isText(event.inferred_by)) &&
    (event.lane_id === undefined || isText(event.lane_id)) &&
    (event.attempt_no === undefined || Number.isSafeInteger(event.attempt_no)) &&
    (event.links === undefined || isArrayOf(event.links, isLink)) &&
    (event.attributes === undefined || isFlat(event.attributes)) &&
    (event.attributes_dropped === undefined || Number.isFinite(event.attributes_dropped)) &&
    (event.problems === undefined || isArrayOf(event.problems, isProblem)) &&
    (event.replay === undefined || isReplay(event.replay))
  )
}

function repaired(event: Event): Event {
  const text = (value: unknown, otherwise: string): string => (isText(value) ? value : otherwise)
  const textOrNull = (value: unknown): string | null => (isText(value) ? value : null)
  const {
    conversation_id,
    inferred_by,
    lane_id,
    attempt_no,
    links,
    attributes,
    attributes_dropped,
    problems,
    replay,
    ...rest
  } = event
  const sound = {
    ...rest,
    event_id: text(event.event_id, "?"),
    event_type: text(event.event_type, "?"),
    timestamp_utc: text(event.timestamp_utc, "?"),
    source: text(event.source, "?"),
    determinism_mode: text(event.determinism_mode, "live"),
    redaction_status: text(event.redaction_status, "?"),
    run_id: textOrNull(event.run_id),
    trace_id: textOrNull(event.trace_id),
    step_id: textOrNull(event.step_id),
    parent_step_id: textOrNull(event.parent_step_id),
    sequence_no: isSequence(event.sequence_no) ? event.sequence_no : null,
    // No reading of a clock is negative.
    mono_us: Number.isFinite(event.mono_us) ? event.mono_us : -1,
    payload: isRecord(event.payload) ? event.payload : {},
    artifact_refs: Array.isArray(event.artifact_refs) ? event.artifact_refs.filter(isRef) : [],
    ...(isText(conversation_id) ? { conversation_id } : {}),
    ...(isText(inferred_by) ? { inferred_by } : {}),
    ...(isText(lane_id) ? { lane_id } : {}),
    ...(Number.isSafeInteger(attempt_no) ? { attempt_no } : {}),
    ...(Array.isArray(links) ? { links: links.filter(isLink) } : {}),
    ...(attributes !== undefined && isFlat(attributes) ? { attributes } : {}),
    ...(Number.isFinite(attributes_dropped) ? { attributes_dropped } : {}),
    ...(Array.isArray(problems) ? { problems: problems.filter(isProblem) } : {}),
    ...(replay !== undefined && isReplay(replay) ? { replay } : {}),
  }
  return sound as Event
}

/** A place in the run's own sequence. Anything else stands outside it, as an annotation does. */
export const isSequence = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0

const isText = (value: unknown): value is string => typeof value === "string"
const isTextOrNull = (value: unknown): value is string | null => value === null || typeof value === "string"
const isOptionalText = (value: unknown): boolean => value === undefined || typeof value === "string"

function isArrayOf<T>(value: unknown, is: (entry: unknown) => entry is T): value is T[] {
  return Array.isArray(value) && value.every(is)
}

function isRef(value: unknown): value is ArtifactRef {
  if (typeof value !== "object" || value === null) return false
  const ref = value as Partial<ArtifactRef>
  return (
    isText(ref.artifact_hash) &&
    isText(ref.artifact_type) &&
    isText(ref.mime_type) &&
    isText(ref.redaction_profile) &&
    isOptionalText(ref.absent) &&
    Number.isFinite(ref.byte_size) &&
    (ref.full_byte_size === undefined || Number.isFinite(ref.full_byte_size))
  )
}

export function isLink(value: unknown): value is Link {
  if (typeof value !== "object" || value === null) return false
  const { kind, run_id, step_id, trace_id, reason } = value as Partial<Link>
  return isText(kind) && [run_id, step_id, trace_id, reason].every(isOptionalText)
}

function isFlat(value: unknown): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false
  return Object.values(value).every((entry) => entry === null || ["string", "number", "boolean"].includes(typeof entry))
}

function isProblem(value: unknown): value is NonNullable<Event["problems"]>[number] {
  if (typeof value !== "object" || value === null) return false
  const { field, reason } = value as { field?: unknown; reason?: unknown }
  return isText(field) && isText(reason)
}

function isReplay(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false
  const { source_run_id, replay_reason_code, fork_step_id, source_step_id } = value as Partial<Event["replay"] & object>
  return (
    isText(source_run_id) &&
    isText(replay_reason_code) &&
    (fork_step_id === null || isText(fork_step_id)) &&
    isOptionalText(source_step_id)
  )
}
