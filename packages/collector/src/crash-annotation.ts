import { hash } from "node:crypto"
import { type Event, FaultTrigger, type ProcessEnd, SCHEMA_VERSION, summarizeText, textIn } from "@orangebox/contract"
import type { OpenRun } from "@orangebox/store"

/** The `source` of everything the collector says. */
export const COLLECTOR = "collector"

export interface Ended {
  readonly writerId: string
  readonly pid: number
  /** What shows that the process will not go on with its runs. */
  readonly evidence: string
  readonly endedBy: ProcessEnd
  readonly exitCode: number | null
  /** What the process said about itself on its way out. */
  readonly goodbye: Event<"process_exited"> | undefined
}

/**
 * What is said about a run whose process is gone: an annotation, outside the run's own sequence. Its id and its content follow from the
 * writer, the run and what was recorded, so saying it again says the same. Its time is the run's last sign of life.
 */
export function crashAnnotation(run: OpenRun, ended: Ended): Event<"process_crashed"> {
  const { error_class, error_summary, error_ref } = ended.goodbye?.payload ?? {}
  return {
    ...annotationEnvelope(run.lastAtMs, `process_crashed ${ended.writerId} ${run.runId}`),
    ...placeIn(run),
    // The error is content of this run too, so that it is kept as long as the run is.
    artifact_refs: ended.goodbye?.artifact_refs.filter(({ artifact_hash }) => artifact_hash === error_ref) ?? [],
    event_type: "process_crashed",
    payload: {
      writer_id: ended.writerId,
      pid: ended.pid,
      last_open_step_id: run.lastOpenStepId,
      evidence: summarizeText(ended.evidence),
      ended_by: ended.endedBy,
      ...(ended.exitCode === null ? {} : { exit_code: ended.exitCode }),
      ...(error_class === undefined ? {} : { error_class }),
      ...(error_summary === undefined ? {} : { error_summary }),
      ...(error_ref === undefined ? {} : { error_ref }),
    },
  }
}

/** Last words from the reserve file: said about a run the process left open, or about the process where it left none. */
export function lastWordsAnnotation(
  words: { readonly text: string; readonly atMs: number },
  writerId: string,
  run: OpenRun | undefined,
): Event<"log"> {
  return {
    ...annotationEnvelope(words.atMs, `last_words ${writerId} ${run?.runId ?? ""}`),
    ...(run === undefined ? OUTSIDE_RUNS : { ...placeIn(run), mono_us: 0 }),
    event_type: "log",
    payload: { level: "error", message: words.text },
  }
}

/** Why a recorder stopped a run under `audit: "required"`, as it put it into its last words. */
export interface Stop {
  readonly runId: string
  readonly stepId: string
  /** What could not be written: the type of the event, and of what it would have named the kind and the id. */
  readonly eventType: string
  readonly what: string
  readonly error: string
  /** The fault whose evidence it was. */
  readonly trigger: FaultTrigger
  readonly detail: string
}

/** Undefined for last words of any other form. They come out of a file, so nothing is taken for granted. */
export function stopIn(words: string): Stop | undefined {
  let said: Readonly<Record<string, unknown>> | null
  try {
    said = JSON.parse(words) as Readonly<Record<string, unknown>> | null
  } catch {
    return undefined
  }
  if (typeof said !== "object" || said === null) return undefined
  const { run_id: runId, step_id: stepId, event_type: eventType } = said
  if (typeof runId !== "string" || typeof stepId !== "string" || typeof eventType !== "string") return undefined
  const text = (name: string): string => textIn(said, name) ?? ""
  // Words of before schema 1.2 know only the place in the run's sequence.
  const named = [text("artifact_type"), text("artifact_id") || text("snapshot_id")].filter((word) => word !== "")
  return {
    runId,
    stepId,
    eventType,
    what: named.length > 0 ? `${eventType} ${named.join(" ")}` : `${eventType} ${said["sequence_no"] ?? ""}`.trimEnd(),
    error: text("error"),
    trigger: FaultTrigger.safeParse(said["trigger"]).data ?? "system_error",
    detail: text("detail"),
  }
}

/** The stop as the fault it is: the disk that refused the record could not take a word about it either. */
export function stopAnnotation(
  stop: Stop,
  said: { readonly atMs: number; readonly writerId: string },
  run: { readonly traceId: string | null; readonly conversationId: string | null },
): Event<"fault"> {
  const { what, trigger, detail } = stop
  // The line it makes has to have room for why; a long id stands whole in `missing`.
  const named = what.length > LONGEST_NAMED ? stop.eventType : what
  const stopped = `the run was stopped at ${named}: ${stop.error || "it could not be written"}`
  return {
    ...annotationEnvelope(said.atMs, `last_words ${said.writerId} ${stop.runId}`),
    trace_id: run.traceId,
    run_id: stop.runId,
    step_id: stop.stepId,
    mono_us: 0,
    ...(run.conversationId === null ? {} : { conversation_id: run.conversationId }),
    event_type: "fault",
    payload: {
      trigger,
      detail: summarizeText(detail === "" ? stopped : `${detail}; ${stopped}`),
      artifact_ids: [],
      no_evidence: "not_stored",
      missing: [summarizeText(what)],
      stops_run: true,
    },
  }
}

const LONGEST_NAMED = 56

export function annotationEnvelope(atMs: number, name: string) {
  return {
    schema_version: SCHEMA_VERSION,
    event_id: derivedEventId(whole(atMs), name),
    sequence_no: null,
    parent_step_id: null,
    timestamp_utc: new Date(whole(atMs)).toISOString(),
    actor_type: "backend",
    determinism_mode: "live",
    artifact_refs: [],
    redaction_status: "not_required",
    source: COLLECTOR,
  } satisfies Partial<Event>
}

export function placeIn(run: OpenRun) {
  return {
    trace_id: run.traceId,
    run_id: run.runId,
    step_id: run.lastOpenStepId,
    mono_us: run.lastMonoMicros,
    ...(run.conversationId === null ? {} : { conversation_id: run.conversationId }),
  }
}

const OUTSIDE_RUNS = { trace_id: null, run_id: null, step_id: null, mono_us: 0 }

const LAST_MS = Date.UTC(9999, 11, 31)

/** Times come out of files; one that is no date still has to give an annotation. */
const whole = (atMs: number): number => (Number.isFinite(atMs) ? Math.floor(Math.min(Math.max(atMs, 0), LAST_MS)) : 0)

/** A UUIDv7 whose random part is the name's hash. */
function derivedEventId(atMs: number, name: string): string {
  const time = atMs.toString(16).padStart(12, "0")
  const digits = hash("sha256", name, "hex")
  const variant = "89ab"[Number.parseInt(digits[3]!, 16) & 3]
  return `${time.slice(0, 8)}-${time.slice(8)}-7${digits.slice(0, 3)}-${variant}${digits.slice(4, 7)}-${digits.slice(7, 19)}`
}
