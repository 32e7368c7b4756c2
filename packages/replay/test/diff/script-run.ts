import {
  type ArtifactRef,
  type EffectClass,
  type Event,
  type EventType,
  type PayloadOf,
  textHash,
} from "@orangebox/contract"
import { CANON_VERSION, toolSignature } from "@orangebox/dialects"
import type { BodyReading, RunToDiff } from "@orangebox/replay"
import { plainEvent } from "./plain-event.js"

/** What an agent does, told in one line per step. */
export type Act =
  | {
      readonly does: "model"
      readonly says: string
      readonly calls?: readonly Call[]
      readonly retries?: number
      /** A question of its own, without the history. */
      readonly asks?: string
    }
  | ({ readonly does: "tool"; readonly result: string } & Call & ToolMore)
  | { readonly does: "step"; readonly name: string; readonly acts: readonly Act[] }
  | { readonly does: "parallel"; readonly acts: readonly Act[] }

export interface Call {
  readonly name: string
  readonly args: Record<string, unknown>
}

interface ToolMore {
  readonly effect?: EffectClass
  readonly fails?: boolean
  readonly retries?: number
}

export const model = (says: string, ...calls: Call[]): Act => ({ does: "model", says, calls })
export const tool = (name: string, args: Record<string, unknown>, result: string, more: ToolMore = {}): Act => ({
  does: "tool",
  name,
  args,
  result,
  ...more,
})

export interface ScriptOptions {
  /** One letter or digit: makes the run's ids differ from those of other runs. */
  readonly id?: string
  readonly input?: string
  readonly output?: string
  readonly system?: string
  readonly capture?: "full" | "hashed"
  /** Ids that the provider makes: equal in equal runs, or new every time. */
  readonly answerIds?: "equal" | "own"
  /** How many of the last messages a request carries. Default: all. */
  readonly window?: number
  readonly status?: "completed" | "failed"
  /** Set on every call's events, by the place of the call. */
  readonly replay?: (place: number) => Partial<Event>
}

export interface ScriptedRun extends RunToDiff {
  /** Step ids of acts in order of opening, containers included. */
  readonly steps: readonly string[]
  /** How often bytes were asked for. */
  readonly reads: () => number
}

/** A run as the recorder would have written it: real request and answer bodies, signatures over the whole history. */
export function scriptRun(acts: readonly Act[], options: ScriptOptions = {}): ScriptedRun {
  return new Script(options).run(acts)
}

class Script {
  readonly #options: ScriptOptions
  readonly #letter: string
  readonly #events: Event[] = []
  readonly #bodies = new Map<string, () => string>()
  readonly #steps: string[] = []
  #history: unknown[]
  #historyHash: string
  #clock = 1_000
  #reads = 0
  #place = 0

  constructor(options: ScriptOptions) {
    this.#options = options
    this.#letter = options.id ?? "A"
    this.#history = [{ role: "user", content: options.input ?? "Fix the test" }]
    this.#historyHash = textHash(JSON.stringify([options.system ?? "You fix things.", this.#history]))
  }

  run(acts: readonly Act[]): ScriptedRun {
    const { input = "Fix the test", output, status = "completed" } = this.#options
    const root = this.#newStep(false)
    this.#emit("run_started", root, null, {
      app_id: "fixer",
      environment: "local",
      entrypoint_name: "fix",
      user_session_ref: null,
      input_summary: input,
    })
    for (const act of acts) this.#play(act, root)
    if (output !== undefined) {
      const ref = this.#body("output", () => output, output)
      this.#emit(
        "final_output",
        root,
        null,
        { output_ref: ref.artifact_hash, response_channel: null },
        { artifact_refs: [ref] },
      )
    }
    if (status === "completed") {
      this.#emit("run_completed", root, null, {
        status: "success",
        total_steps: this.#steps.length,
        total_latency_ms: 1,
      })
    } else {
      this.#emit("run_failed", root, null, {
        status: "failed",
        failed_step_id: null,
        error_class: "Failure",
        error_message_ref: null,
      })
    }
    return {
      events: this.#events,
      steps: this.#steps,
      body: (hash) => this.#read(hash),
      reads: () => this.#reads,
    }
  }

  #read(hash: string): BodyReading {
    this.#reads += 1
    const made = this.#bodies.get(hash)
    if (!made) return { absent: "unknown" }
    return this.#options.capture === "hashed" ? { absent: "hashed" } : new TextEncoder().encode(made())
  }

  #play(act: Act, parent: string): void {
    switch (act.does) {
      case "model":
        this.#model(act, parent)
        return
      case "tool":
        this.#openTool(act, parent)()
        return
      case "step": {
        const step = this.#newStep()
        this.#emit("step_started", step, parent, { name: act.name })
        for (const inner of act.acts) this.#play(inner, step)
        this.#emit("step_ended", step, parent, { status: "success", latency_ms: 1 })
        return
      }
      case "parallel": {
        const closers = act.acts.map((inner) => {
          if (inner.does !== "tool") throw new Error("only tools run side by side here")
          return this.#openTool(inner, parent)
        })
        for (const close of closers) close()
      }
    }
  }

  #model(act: Extract<Act, { does: "model" }>, parent: string): void {
    const step = this.#newStep()
    const history =
      act.asks === undefined
        ? this.#history.slice(-(this.#options.window ?? this.#history.length))
        : [{ role: "user", content: act.asks }]
    const asked = act.asks ?? this.#historyHash
    const system = this.#options.system ?? "You fix things."
    const request = this.#body(
      "request",
      () => JSON.stringify({ model: "claude-x", max_tokens: 1024, system, messages: history }),
      `request ${asked}`,
    )
    const envelope = this.#replayed()
    const called: PayloadOf<"model_called"> = {
      provider: "anthropic",
      model_id: "claude-x",
      model_api_version: null,
      temperature: null,
      top_p: null,
      max_tokens: 1024,
      request_ref: request.artifact_hash,
      call_signature_hash: textHash(`sig ${asked}`),
      canon_version: CANON_VERSION,
      http_method: "POST",
      url: "https://api.anthropic.com/v1/messages",
    }
    this.#emit("model_called", step, parent, called, { artifact_refs: [request], ...envelope })
    const content = [
      { type: "text", text: act.says },
      ...(act.calls ?? []).map((call, index) => ({
        type: "tool_use",
        id: this.#providerId(`toolu_${this.#place}_${index}`),
        name: call.name,
        input: call.args,
      })),
    ]
    const stop = act.calls?.length ? "tool_use" : "end_turn"
    const answer = JSON.stringify({
      id: this.#providerId(`msg_${this.#place}`),
      type: "message",
      role: "assistant",
      model: "claude-x",
      content,
      stop_reason: stop,
      usage: { input_tokens: 10 + history.length, output_tokens: act.says.length },
    })
    const response = this.#body("response", () => answer, answer)
    const result: PayloadOf<"model_result"> = {
      provider: "anthropic",
      model_id: "claude-x",
      finish_reason: stop,
      token_usage: { prompt: 10 + history.length, completion: act.says.length, total: null },
      response_ref: response.artifact_hash,
      latency_ms: 5,
      status: "success",
      ...(act.calls?.length ? { requested_tools: act.calls.map((call) => call.name) } : {}),
    }
    for (let attempt = 1; attempt <= (act.retries ?? 0) + 1 && act.retries; attempt++) {
      const child = this.#newStep(false)
      const failed = attempt <= act.retries
      this.#emit("model_called", child, step, called, { artifact_refs: [request], attempt_no: attempt })
      const { response_ref: _, ...rest } = result
      this.#emit(
        "model_result",
        child,
        step,
        failed ? { ...rest, response_ref: null, status: "error", http_status: 429, error_class: "rate_limit" } : result,
        { artifact_refs: failed ? [] : [response], attempt_no: attempt },
      )
    }
    this.#emit("model_result", step, parent, result, { artifact_refs: [response], ...envelope })
    this.#remember({ role: "assistant", content: content.map(({ ...part }) => ({ ...part, id: undefined })) })
  }

  #openTool(act: Extract<Act, { does: "tool" }>, parent: string): () => void {
    for (let i = 0; i < (act.retries ?? 0); i++)
      this.#openOne({ ...act, fails: true, result: "try again" }, parent, false)()
    return this.#openOne(act, parent, true)
  }

  #openOne(act: Extract<Act, { does: "tool" }>, parent: string, isLast: boolean): () => void {
    const step = this.#newStep(isLast)
    const args = JSON.stringify(act.args)
    const argsRef = this.#body("args", () => args, args)
    const envelope = isLast ? this.#replayed() : {}
    this.#emit(
      "tool_called",
      step,
      parent,
      {
        tool_name: act.name,
        tool_version: null,
        call_signature_hash: toolSignature(act.name, act.args),
        args_ref: argsRef.artifact_hash,
        timeout_ms: null,
        canon_version: CANON_VERSION,
        ...(act.effect === undefined ? {} : { effect_class: act.effect }),
      },
      { artifact_refs: [argsRef], ...envelope },
    )
    return () => {
      const result = this.#body("result", () => act.result, act.result)
      this.#emit(
        "tool_result",
        step,
        parent,
        {
          tool_name: act.name,
          status: act.fails ? "error" : "success",
          result_ref: result.artifact_hash,
          error_class: act.fails ? "ToolError" : null,
          error_message_ref: null,
          latency_ms: 1,
        },
        { artifact_refs: [result], ...envelope },
      )
      if (isLast) this.#remember({ role: "user", content: [{ type: "tool_result", content: act.result }] })
    }
  }

  #remember(message: unknown): void {
    this.#history = [...this.#history, message]
    this.#historyHash = textHash(this.#historyHash + JSON.stringify(message))
  }

  #replayed(): Partial<Event> {
    const place = this.#place++
    return this.#options.replay?.(place) ?? {}
  }

  #providerId(name: string): string {
    return this.#options.answerIds === "own" ? `${name}_${this.#letter}` : name
  }

  #newStep(isListed = true): string {
    const id = `${this.#letter.charCodeAt(0).toString(16)}${(this.#clock++).toString(16).padStart(14, "0")}`
    if (isListed) this.#steps.push(id)
    return id
  }

  #body(type: string, make: () => string, name: string): ArtifactRef {
    const hash = textHash(name)
    this.#bodies.set(hash, make)
    return {
      artifact_hash: hash,
      artifact_type: type,
      byte_size: 1,
      content_encoding: "identity",
      mime_type: "application/json",
      redaction_profile: "none",
      ...(this.#options.capture === "hashed" ? { absent: "hashed" as const } : {}),
    }
  }

  #emit<T extends EventType>(
    type: T,
    step: string,
    parent: string | null,
    payload: PayloadOf<T>,
    envelope: Partial<Event> = {},
  ): void {
    this.#events.push(plainEvent(this.#letter, this.#events.length, type, step, parent, payload, envelope))
  }
}
