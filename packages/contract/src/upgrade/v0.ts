import { createHash } from "node:crypto"
import { z } from "zod"
import type { Event } from "../catalog.js"
import { MAX_LOG_MESSAGE } from "../events/log.js"
import type { Problem } from "../problem.js"
import { SCHEMA_VERSION } from "../version.js"

/**
 * Major 0 was the flat log record: `log`, `span-open` and `span-close`, correlated by turn and span, the extension's id as its source and
 * bodies inline. A root span is a run, any other span a step. Ids of that time were free text, so they are mapped onto ours by hash:
 * the same old id always gives the same new one.
 *
 * Inline bodies have no address in major 1 without being stored again, so their refs say `not_kept`; the collector keeps the old line.
 */
const RecordV0 = z.object({
  schema_version: z.string(),
  kind: z.enum(["log", "span-open", "span-close"]),
  seq: z.number().int().nonnegative(),
  extensionId: z.string().min(1),
  conversationId: z.string().optional(),
  turnId: z.string().min(1),
  spanId: z.string().min(1),
  parentSpanId: z.string().optional(),
  timestamp: z.number(),
  name: z.string().optional(),
  level: z.enum(["debug", "info", "warn", "error"]).optional(),
  msg: z.string().optional(),
  durationMs: z.number().nonnegative().optional(),
  error: z.string().optional(),
  attributes: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])).optional(),
  body: z.string().optional(),
})
type RecordV0 = z.infer<typeof RecordV0>

export function upgradeFromV0(raw: unknown): { event: Event | undefined; problems: readonly Problem[] } {
  const parsed = RecordV0.safeParse(raw)
  if (!parsed.success) {
    return {
      event: undefined,
      problems: parsed.error.issues.map((issue) => ({
        code: "invalid_v0",
        severity: "error",
        subject: "unknown",
        field: issue.path.join("."),
        reason: issue.message,
      })),
    }
  }
  return { event: { ...envelopeOf(parsed.data), ...contentOf(parsed.data) } as Event, problems: [] }
}

function envelopeOf(old: RecordV0): Omit<Event, "event_type" | "payload"> {
  return {
    schema_version: SCHEMA_VERSION,
    event_id: eventIdOf(old),
    trace_id: hex("trace", old.turnId, 32),
    run_id: runIdOf(old),
    step_id: hex("step", old.spanId, 16),
    parent_step_id: old.parentSpanId === undefined ? null : hex("step", old.parentSpanId, 16),
    sequence_no: old.seq,
    timestamp_utc: new Date(old.timestamp).toISOString(),
    mono_us: Math.max(0, Math.round(old.timestamp * 1000)),
    actor_type: "sdk",
    determinism_mode: "live",
    artifact_refs: [],
    redaction_status: "not_required",
    source: old.extensionId,
    ...(old.conversationId ? { conversation_id: old.conversationId } : {}),
    ...(old.attributes ? { attributes: old.attributes } : {}),
  }
}

function contentOf(old: RecordV0): Pick<Event, "event_type" | "payload"> {
  const isRoot = old.parentSpanId === undefined
  const latency_ms = old.durationMs ?? 0
  switch (old.kind) {
    case "log":
      return {
        event_type: "log",
        payload: { level: old.level ?? "info", message: (old.msg ?? "").slice(0, MAX_LOG_MESSAGE) },
      }
    case "span-open":
      if (!isRoot) return { event_type: "step_started", payload: { name: old.name ?? "span" } }
      return {
        event_type: "run_started",
        payload: {
          app_id: old.extensionId,
          environment: "unknown",
          entrypoint_name: old.name ?? "turn",
          user_session_ref: null,
          input_summary: null,
        },
      }
    case "span-close":
      if (!isRoot) {
        return {
          event_type: "step_ended",
          payload:
            old.error === undefined
              ? { status: "success", latency_ms }
              : { status: "error", latency_ms, error_class: "Error", error_summary: old.error.slice(0, 240) },
        }
      }
      if (old.error === undefined) {
        return {
          event_type: "run_completed",
          payload: { status: "success", total_steps: 0, total_latency_ms: latency_ms },
        }
      }
      return {
        event_type: "run_failed",
        payload: {
          status: "failed",
          failed_step_id: null,
          error_class: "Error",
          error_message_ref: null,
          error_summary: old.error.slice(0, 240),
        },
      }
  }
}

function hex(space: string, id: string, digits: number): string {
  return createHash("sha256").update(`obx-v0\0${space}\0${id}`).digest("hex").slice(0, digits)
}

function eventIdOf(old: RecordV0): string {
  const time = Math.max(0, Math.floor(old.timestamp)).toString(16).padStart(12, "0").slice(-12)
  const h = hex("event", `${old.turnId}\0${old.seq}`, 32)
  const variant = ((Number.parseInt(h[3]!, 16) & 3) | 8).toString(16)
  return `${time.slice(0, 8)}-${time.slice(8)}-7${h.slice(0, 3)}-${variant}${h.slice(4, 7)}-${h.slice(7, 19)}`
}

const CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// All events of a turn must map to one run id, whatever their own time, so the id has no time part to sort by.
function runIdOf(old: RecordV0): string {
  const bytes = createHash("sha256").update(`obx-v0\0run\0${old.turnId}`).digest()
  return `run_${Array.from(bytes.subarray(0, 26), (byte) => CROCKFORD[byte & 31]).join("")}`
}
