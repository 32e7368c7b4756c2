import { type ArtifactRef, type Event, type EventType, type PayloadOf, textHash } from "@orangebox/contract"

/** Builds the events of one run by hand: ids and clock count up, so every run is the same every time. */
export class RunBuilder {
  readonly events: Event[] = []
  readonly root: string
  private sequence = 0
  private stepCount = 0
  private nowUs = 1_000_000
  private readonly parents = new Map<string, string | null>()

  constructor(
    opening: Partial<PayloadOf<"run_started">> = {},
    private readonly defaults: Partial<Event> = {},
  ) {
    this.root = this.newStep(null)
    this.add(this.root, "run_started", {
      app_id: "fixer",
      environment: "local",
      entrypoint_name: "fix-issue",
      user_session_ref: null,
      input_summary: "Fix the failing date test",
      ...opening,
    })
  }

  /** Lets time pass. */
  wait(ms: number): this {
    this.nowUs += Math.round(ms * 1000)
    return this
  }

  newStep(parent: string | null = this.root): string {
    this.stepCount += 1
    const id = this.stepCount.toString(16).padStart(16, "0")
    this.parents.set(id, parent)
    return id
  }

  add<T extends EventType>(step: string, type: T, payload: PayloadOf<T>, envelope: Partial<Event> = {}): this {
    const event = {
      ...this.envelope(type),
      step_id: step,
      parent_step_id: this.parents.get(step) ?? null,
      sequence_no: this.sequence++,
      payload,
      ...this.defaults,
      ...envelope,
    } as Event
    this.events.push(event)
    return this
  }

  /** Said about the run by somebody else. */
  annotate<T extends EventType>(type: T, payload: PayloadOf<T>): this {
    this.events.push({
      ...this.envelope(type),
      step_id: null,
      parent_step_id: null,
      sequence_no: null,
      payload,
    } as Event)
    return this
  }

  /** Leaves numbers out of the sequence, as a loss would. */
  lose(count: number): this {
    this.sequence += count
    return this
  }

  step(name: string, parent = this.root, kind?: string): string {
    const id = this.newStep(parent)
    this.add(id, "step_started", { name, ...(kind === undefined ? {} : { kind }) })
    return id
  }

  end(step: string, payload: Partial<PayloadOf<"step_ended">> = {}): this {
    return this.add(step, "step_ended", { status: "success", latency_ms: 0, ...payload })
  }

  callTool(name: string, args: string, parent = this.root, envelope: Partial<Event> = {}): string {
    const id = this.newStep(parent)
    const ref = body(`args of ${name}`, 64, "args")
    const payload = { tool_name: name, tool_version: null, call_signature_hash: ref.artifact_hash, timeout_ms: null }
    this.add(
      id,
      "tool_called",
      { ...payload, args_ref: ref.artifact_hash, args_summary: args },
      { artifact_refs: [ref], ...envelope },
    )
    return id
  }

  toolReturns(step: string, name: string, bytes: number, result: Partial<PayloadOf<"tool_result">> = {}): this {
    const ref = body(`result of ${step}`, bytes, "result")
    const payload = { tool_name: name, result_ref: ref.artifact_hash, error_class: null, error_message_ref: null }
    return this.add(
      step,
      "tool_result",
      { ...payload, status: "success", latency_ms: 0, ...result },
      { artifact_refs: [ref] },
    )
  }

  callModel(model: string, parent = this.root, envelope: Partial<Event> = {}): string {
    const id = this.newStep(parent)
    const ref = body(`request of ${id}`, 21_000, "request")
    const sampling = { model_api_version: null, temperature: null, top_p: null, max_tokens: 4096 }
    this.add(
      id,
      "model_called",
      { provider: "anthropic", model_id: model, request_ref: ref.artifact_hash, ...sampling },
      { artifact_refs: [ref], ...envelope },
    )
    return id
  }

  modelAnswers(
    step: string,
    model: string,
    tokens: readonly [input: number, output: number, cached: number],
    result: Partial<PayloadOf<"model_result">> = {},
  ): this {
    const ref = body(`response of ${step}`, tokens[1] * 4, "response")
    return this.add(
      step,
      "model_result",
      {
        provider: "anthropic",
        model_id: model,
        finish_reason: "end_turn",
        token_usage: {
          prompt: tokens[0],
          completion: tokens[1],
          total: tokens[0] + tokens[1],
          cache_read: tokens[2],
        },
        response_ref: ref.artifact_hash,
        latency_ms: 0,
        status: "success",
        ...result,
      },
      { artifact_refs: [ref] },
    )
  }

  complete(): this {
    return this.add(this.root, "run_completed", {
      status: "success",
      total_steps: this.stepCount,
      total_latency_ms: this.nowUs / 1000,
    })
  }

  fail(errorClass: string, summary: string, failedStep: string | null = null): this {
    return this.add(this.root, "run_failed", {
      status: "failed",
      failed_step_id: failedStep,
      error_class: errorClass,
      error_message_ref: null,
      error_summary: summary,
    })
  }

  private envelope(type: string): Record<string, unknown> {
    const tail = this.events.length.toString(16).padStart(12, "0")
    return {
      schema_version: "1.1.0",
      event_id: `0195a000-0000-7000-8000-${tail}`,
      trace_id: "0af7651916cd43dd8448eb211c80319c",
      run_id: "run_01JT9QK2M0A7XK3V5B8D1E6F9G",
      event_type: type,
      timestamp_utc: new Date(1_770_000_000_000 + this.nowUs / 1000).toISOString(),
      mono_us: this.nowUs,
      actor_type: "sdk",
      determinism_mode: "live",
      artifact_refs: [],
      redaction_status: "not_required",
      source: "fixer",
    }
  }
}

export function body(text: string, byteSize: number, type: string): ArtifactRef {
  return {
    artifact_hash: textHash(text),
    artifact_type: type,
    byte_size: byteSize,
    content_encoding: "identity",
    mime_type: "application/json",
    redaction_profile: "none",
  }
}
