import {
  type ArtifactRef,
  bodyHash,
  type Event,
  type EventType,
  type PayloadOf,
  SCHEMA_VERSION,
} from "@orangebox/contract"
import type { Batch, RecordedBody, RecordedEvent, StoredRedactionReport, TraceStore } from "@orangebox/store"

/** Small recordings with predictable ids, for tests. Every event is valid by the contract unless a test makes it otherwise. */
export interface RunScript {
  readonly no?: number
  readonly writerId?: string
  readonly conversationId?: string
  readonly app?: string
  readonly startedAtMs?: number
}

export const T0 = Date.parse("2026-03-02T10:00:00.000Z")

export class RecordedRun {
  readonly runId: string
  readonly traceId: string
  readonly events: RecordedEvent[] = []
  readonly bodies: RecordedBody[] = []
  readonly #no: number
  readonly #script: RunScript
  #sequenceNo = 0
  #ids = 0
  #steps = 0
  #atMs: number

  constructor(script: RunScript = {}) {
    this.#script = script
    this.#no = script.no ?? 1
    this.runId = `run_${String(this.#no).padStart(26, "0")}`
    this.traceId = hex(0xabc000 + this.#no, 32)
    this.#atMs = script.startedAtMs ?? T0
  }

  get atMs(): number {
    return this.#atMs
  }

  newStepId(): string {
    return hex(this.#no * 0x1_0000_0000 + ++this.#steps, 16)
  }

  readonly rootId = ""

  emit<T extends EventType>(
    type: T,
    payload: PayloadOf<T>,
    place: { stepId: string; parentId: string | null } & Partial<Event>,
    refs: readonly ArtifactRef[] = [],
  ): Event {
    const { stepId, parentId, ...rest } = place
    this.#atMs += 10
    const event = {
      schema_version: SCHEMA_VERSION,
      event_id: `018e0000-${hex(this.#no, 4)}-7000-8000-${hex(++this.#ids, 12)}`,
      trace_id: this.traceId,
      run_id: this.runId,
      step_id: stepId,
      parent_step_id: parentId,
      sequence_no: this.#sequenceNo++,
      event_type: type,
      timestamp_utc: new Date(this.#atMs).toISOString(),
      mono_us: (this.#atMs - (this.#script.startedAtMs ?? T0)) * 1000,
      actor_type: "sdk",
      determinism_mode: "live",
      artifact_refs: refs,
      redaction_status: "not_required",
      source: "app",
      ...(this.#script.conversationId === undefined ? {} : { conversation_id: this.#script.conversationId }),
      payload,
      ...rest,
    } as unknown as Event
    this.events.push({ event, writerId: this.#script.writerId ?? "writer-1" })
    return event
  }

  body(text: string | Uint8Array, type: string, mime = "application/json"): ArtifactRef {
    const bytes = typeof text === "string" ? Buffer.from(text) : text
    const hash = bodyHash(bytes)
    this.bodies.push({ hash, bytes, byteSize: bytes.length, mime })
    return {
      artifact_hash: hash,
      artifact_type: type,
      byte_size: bytes.length,
      content_encoding: "identity",
      mime_type: mime,
      redaction_profile: "none",
    }
  }

  start(): string {
    const root = this.newStepId()
    this.emit(
      "run_started",
      {
        app_id: this.#script.app ?? "fixer",
        environment: "local",
        entrypoint_name: "fix-issue",
        user_session_ref: null,
        input_summary: "Fix the failing date test",
        capture_mode: "full",
      },
      { stepId: root, parentId: null },
    )
    return root
  }

  model(
    parentId: string,
    request: string,
    response: string | null,
    { laneId, ...tokens }: { prompt: number; completion: number; laneId?: string } = { prompt: 100, completion: 20 },
  ): string {
    const stepId = this.newStepId()
    const asked = this.body(request, "request")
    this.emit(
      "model_called",
      {
        provider: "anthropic",
        model_id: "claude-x",
        model_api_version: null,
        temperature: 0,
        top_p: null,
        max_tokens: 1024,
        request_ref: asked.artifact_hash,
      },
      { stepId, parentId, ...(laneId === undefined ? {} : { lane_id: laneId }) },
      [asked],
    )
    if (response === null) return stepId
    const answered = this.body(response, "response")
    this.emit(
      "model_result",
      {
        provider: "anthropic",
        model_id: "claude-x",
        finish_reason: "end_turn",
        token_usage: { ...tokens, total: tokens.prompt + tokens.completion },
        response_ref: answered.artifact_hash,
        latency_ms: 10,
        status: "success",
        provider_request_id: `req_${this.runId}_${stepId}`,
      },
      { stepId, parentId },
      [answered],
    )
    return stepId
  }

  tool(
    parentId: string,
    name: string,
    args: string,
    result: string | null,
    status: "success" | "error" = "success",
  ): string {
    const stepId = this.newStepId()
    const asked = this.body(args, "args")
    this.emit(
      "tool_called",
      {
        tool_name: name,
        tool_version: null,
        call_signature_hash: asked.artifact_hash,
        args_ref: asked.artifact_hash,
        timeout_ms: null,
        tool_call_id: `toolu_${stepId}`,
      },
      { stepId, parentId },
      [asked],
    )
    if (result === null) return stepId
    const answered = this.body(result, "result", "text/plain")
    this.emit(
      "tool_result",
      {
        tool_name: name,
        status,
        result_ref: answered.artifact_hash,
        error_class: status === "error" ? "ToolError" : null,
        error_message_ref: null,
        latency_ms: 10,
        tool_call_id: `toolu_${stepId}`,
      },
      { stepId, parentId },
      [answered],
    )
    return stepId
  }

  log(stepId: string, parentId: string | null, message: string): void {
    this.emit("log", { level: "info", message }, { stepId, parentId })
  }

  complete(root: string): void {
    this.emit(
      "run_completed",
      { status: "success", total_steps: this.#steps, total_latency_ms: 100 },
      { stepId: root, parentId: null },
    )
  }

  fail(root: string, errorClass: string): void {
    this.emit(
      "run_failed",
      {
        status: "failed",
        failed_step_id: null,
        error_class: errorClass,
        error_message_ref: null,
        error_summary: "it broke",
      },
      { stepId: root, parentId: null },
    )
  }

  annotate<T extends EventType>(type: T, payload: PayloadOf<T>): Event {
    const event = this.emit(type, payload, { stepId: this.newStepId(), parentId: null })
    this.#sequenceNo--
    Object.assign(event, { step_id: null, sequence_no: null, actor_type: "backend" })
    return event
  }

  batch(extra: Partial<Batch> = {}): Batch {
    return { events: this.events, bodies: this.bodies, ...extra }
  }
}

/** A whole, ordinary run: a plan, a model call, a tool call, a log line, an end. */
export function ordinaryRun(script: RunScript = {}): RecordedRun {
  const run = new RecordedRun(script)
  const root = run.start()
  const no = script.no ?? 1
  run.model(
    root,
    JSON.stringify({ messages: [{ role: "user", content: `question number ${no} about leap years` }] }),
    "the answer is 29",
  )
  run.tool(root, "read_file", JSON.stringify({ path: `src/date-${no}.ts` }), `export const february = ${no}`)
  run.log(root, null, `file read in run ${no}`)
  run.complete(root)
  return run
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, "0")
}

/** Takes one body out of a store for good, whatever it says. */
export function redactBody(store: TraceStore, hash: string): Promise<StoredRedactionReport> {
  return store.redactStored({
    event: (event) => event,
    body: (bytes) => bodyHash(bytes) === hash,
    text: (text) => text,
  })
}
