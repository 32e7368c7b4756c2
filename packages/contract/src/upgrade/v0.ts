import { hash } from "node:crypto"
import type { Event } from "../catalog.js"
import { type ArtifactRef, RecordV0 } from "../generated.js"
import { textHash } from "../hash.js"
import { derivedEventId } from "../ids.js"
import type { Problem } from "../problem.js"
import { MAX_LOG_MESSAGE, summarizeText } from "../summary.js"
import { UPGRADED_VERSION } from "../version.js"

/**
 * Major 0 was the flat log record: `log`, `span-open` and `span-close`, correlated by turn and span, the extension's id as its source and
 * bodies inline. A root span is a run, any other span a step. Ids of that time were free text, so they are mapped onto ours by hash:
 * the same old id always gives the same new one.
 *
 * Text that major 1 keeps behind a ref has no address without being stored again, so its ref says `not_kept`; the collector keeps the old
 * line.
 */
export function upgradeFromV0(raw: unknown): { event: Event | undefined; problems: readonly Problem[] } {
  const parsed = RecordV0.safeParse(raw)
  if (!parsed.success) {
    return {
      event: undefined,
      problems: parsed.error.issues.map((issue) => ({
        code: "invalid_v0",
        severity: "error",
        subject: subjectOf(raw),
        field: issue.path.join("."),
        reason: issue.message,
      })),
    }
  }
  const refs: ArtifactRef[] = []
  const content = contentOf(parsed.data, (text, artifactType) => {
    const ref = notKept(text, artifactType)
    refs.push(ref)
    return ref.artifact_hash
  })
  return { event: { ...envelopeOf(parsed.data), artifact_refs: refs, ...content } as Event, problems: [] }
}

function envelopeOf(old: RecordV0): Omit<Event, "event_type" | "payload" | "artifact_refs"> {
  return {
    schema_version: UPGRADED_VERSION,
    event_id: derivedEventId(old.timestamp, `obx-v0\0event\0${old.turnId}\0${old.seq}`),
    trace_id: hex("trace", old.turnId, 32),
    run_id: runIdOf(old),
    step_id: hex("step", old.spanId, 16),
    parent_step_id: old.parentSpanId === undefined ? null : hex("step", old.parentSpanId, 16),
    sequence_no: old.seq,
    timestamp_utc: new Date(old.timestamp).toISOString(),
    mono_us: Math.round(old.timestamp * 1000),
    actor_type: "sdk",
    determinism_mode: "live",
    redaction_status: "not_required",
    source: old.extensionId,
    ...(old.conversationId ? { conversation_id: old.conversationId } : {}),
    ...(old.attributes ? { attributes: old.attributes } : {}),
  }
}

type Keep = (text: string, artifactType: string) => string

function contentOf(old: RecordV0, keep: Keep): Pick<Event, "event_type" | "payload"> {
  const isRoot = old.parentSpanId === undefined
  if (old.kind === "span-open" && isRoot) return runStart(old, keep)
  const body = old.body === undefined ? {} : { body_ref: keep(old.body, "body") }
  switch (old.kind) {
    case "log": {
      const whole = old.msg.length > MAX_LOG_MESSAGE ? { message_ref: keep(old.msg, "message") } : {}
      const message = old.msg.slice(0, MAX_LOG_MESSAGE)
      return { event_type: "log", payload: { level: old.level, message, ...whole, ...body } }
    }
    case "span-open":
      return { event_type: "step_started", payload: { name: old.name, ...body } }
    case "span-close":
      return isRoot ? runEnd(old, keep) : stepEnd(old, body, keep)
  }
}

type OpenV0 = RecordV0 & { kind: "span-open" }
type CloseV0 = RecordV0 & { kind: "span-close" }

function runStart(old: OpenV0, keep: Keep): Pick<Event, "event_type" | "payload"> {
  const input =
    old.body === undefined ? { input_summary: null } : { input_summary_ref: keep(old.body, "input_summary") }
  return {
    event_type: "run_started",
    payload: {
      app_id: old.extensionId,
      environment: "unknown",
      entrypoint_name: old.name,
      user_session_ref: null,
      ...input,
    },
  }
}

function runEnd(old: CloseV0, keep: Keep): Pick<Event, "event_type" | "payload"> {
  if (old.error === undefined) {
    // Major 0 did not count steps, and unknown is not zero.
    const payload = { status: "success", total_steps: null, total_latency_ms: old.durationMs } as const
    return { event_type: "run_completed", payload }
  }
  return {
    event_type: "run_failed",
    payload: {
      status: "failed",
      failed_step_id: null,
      error_class: "Error",
      error_message_ref: keep(old.error, "error_message"),
      error_summary: summarizeText(old.error),
      total_latency_ms: old.durationMs,
    },
  }
}

function stepEnd(old: CloseV0, body: { body_ref?: string }, keep: Keep): Pick<Event, "event_type" | "payload"> {
  const latency_ms = old.durationMs
  if (old.error === undefined) return { event_type: "step_ended", payload: { status: "success", latency_ms, ...body } }
  const error_ref = keep(old.error, "error")
  const error_summary = summarizeText(old.error)
  return {
    event_type: "step_ended",
    payload: { status: "error", latency_ms, error_class: "Error", error_ref, error_summary, ...body },
  }
}

function notKept(text: string, artifactType: string): ArtifactRef {
  return {
    artifact_hash: textHash(text),
    artifact_type: artifactType,
    byte_size: Buffer.byteLength(text),
    content_encoding: "identity",
    mime_type: "text/plain",
    redaction_profile: "none",
    absent: "not_kept",
  }
}

function hex(space: string, id: string, digits: number): string {
  return hash("sha256", `obx-v0\0${space}\0${id}`, "hex").slice(0, digits)
}

const CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// All events of a turn must map to one run id, whatever their own time, so the id has no time part to sort by.
function runIdOf(old: RecordV0): string {
  const bytes = hash("sha256", `obx-v0\0run\0${old.turnId}`, "buffer")
  return `run_${Array.from(bytes.subarray(0, 26), (byte) => CROCKFORD[byte & 31]).join("")}`
}

function subjectOf(raw: unknown): string {
  const { turnId, seq } = raw as { turnId?: unknown; seq?: unknown }
  return typeof turnId === "string" ? `${turnId}@${String(seq)}` : "unknown"
}
