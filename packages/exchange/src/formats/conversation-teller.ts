import { canonicalJson, type Link, TOLD_MESSAGES, type TokenUsage } from "@orangebox/contract"
import { createRequestMemory } from "@orangebox/dialects"
import type { ForeignBody, ForeignEvent } from "@orangebox/recorder"
import { RunTeller, type ToldRun, type ToldStep } from "./run-teller.js"
import { readSerialised, type SerialisedRequest } from "./serialised-request.js"

/** A model call that some record tells of. */
export interface ToldCall {
  readonly key: string
  /** When it was asked, as far as that can be told. */
  readonly calledAtMs: number
  readonly endedAtMs: number
  readonly provider: string
  readonly model: string | null
  /** What the model was given that it had not been given before. Null where the record does not say. */
  readonly messages: readonly unknown[] | null
  /** The whole request, where the record has it. */
  readonly request?: unknown
  /** In the provider's own form where the record has it. */
  readonly response: unknown
  readonly usage: TokenUsage
  readonly usageAsTold?: unknown
  readonly finishReason: string | null
  readonly text: string
  readonly tools: readonly { readonly id: string | null; readonly name: string }[]
  readonly error?: { readonly errorClass: string; readonly message: string } | undefined
  readonly requestId?: string | undefined
  readonly serviceTier?: string | undefined
  readonly cacheWrite1h?: number | undefined
  readonly attributes?: Readonly<Record<string, unknown>>
  readonly inferredBy?: string | undefined
}

export interface ToldTool {
  readonly key: string
  readonly atMs: number
  readonly callId: string | null
  readonly name: string
  readonly argumentText: string
  readonly inferredBy?: string | undefined
}

export interface ToldResult {
  readonly key: string
  readonly atMs: number
  readonly callId: string
  /** Null where the tool gave nothing back. */
  readonly text: string | null
  readonly isError: boolean | null
  readonly exitCode?: number | undefined
  readonly attributes?: Readonly<Record<string, unknown>>
}

export interface ToldStart {
  readonly app: string
  readonly entrypoint: string
  readonly input?: string | undefined
  readonly agentVersion?: string | undefined
  readonly branch?: string | undefined
  readonly commit?: string | undefined
  readonly attributes?: Readonly<Record<string, unknown>>
  readonly links?: readonly Link[]
}

/** Said once per run: what transcripts do not hold, and so no reader may take for empty. */
export const NOT_IN_TRANSCRIPTS =
  "wire bytes; of calls told by their new messages only also system prompt, tool definitions, settings"

/**
 * Tells a run that is a conversation with tools: turns that begin with what the user said, model calls and tool calls side by side in them.
 * Every importer of transcripts speaks through it, so that all of them read alike.
 */
export class ConversationTeller {
  readonly teller: RunTeller
  #turn: ToldStep | undefined
  #turns = 0
  #lastModel: ToldStep | undefined
  #lastAtMs: number
  readonly #memory = createRequestMemory()
  /** Turns that another one has followed while a tool of theirs was still at work. */
  readonly #unfinished = new Map<string, ToldStep>()
  readonly #open = new Map<string, { readonly step: ToldStep; readonly inferredBy: string | undefined }>()

  constructor(run: ToldRun, emit: (event: ForeignEvent) => void) {
    this.teller = new RunTeller(run, emit)
    this.#lastAtMs = run.startedAtMs
  }

  get hasOpenTools(): boolean {
    return this.#open.size > 0
  }

  get hasTurn(): boolean {
    return this.#turn !== undefined
  }

  toolStep(callId: string): ToldStep | undefined {
    return this.#open.get(callId)?.step
  }

  start(key: string, atMs: number, start: ToldStart): void {
    const { app, entrypoint, input, agentVersion, branch, commit, attributes, links } = start
    this.teller.start({
      key,
      atMs,
      payload: {
        app_id: nameOf(app, "unknown"),
        environment: "unknown",
        entrypoint_name: nameOf(entrypoint, "session"),
        user_session_ref: null,
        input_summary: null,
        ...(agentVersion === undefined || agentVersion === "" ? {} : { agent_version: agentVersion.slice(0, 256) }),
        ...(branch === undefined || branch === "" ? {} : { branch: branch.slice(0, 512) }),
        ...(commit !== undefined && /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(commit) ? { commit } : {}),
      },
      ...(input === undefined ? {} : { summaries: { input_summary: input } }),
      bodies: [
        input === undefined
          ? undefined
          : { field: "input_summary", content: input, mimeType: "text/plain; charset=utf-8" },
      ],
      ...(attributes === undefined ? {} : { attributes }),
      ...(links === undefined || links.length === 0 ? {} : { links }),
    })
  }

  /** The user, or whoever stands in for one, said something: a turn ends and another begins. */
  prompt(key: string, atMs: number, text: string, attributes?: Readonly<Record<string, unknown>>): void {
    this.endTurn(`${key}\0before`, this.#lastAtMs)
    this.#see(atMs)
    this.#turns++
    this.#turn = this.teller.open("step", "turn", this.teller.root, {
      key,
      atMs,
      payload: { name: `turn ${this.#turns}`, kind: "turn" },
      summaries: text.trim() === "" ? {} : { name: text.slice(0, LONGEST_NAME) },
      ...(attributes === undefined ? {} : { attributes }),
    })
    this.teller.within("input_received", this.#turn, {
      key,
      atMs,
      payload: { input_channels: ["user"], input_policy_labels: [] },
      bodies: [{ field: "input", content: text, mimeType: "text/plain; charset=utf-8" }],
      summaries: { input_summary: text },
    })
  }

  endTurn(key: string, atMs: number): void {
    if (this.#turn === undefined) return
    const step = this.#turn
    this.#turn = undefined
    // What a tool is still doing goes on in its turn, and its end has to find it open.
    if (this.#isWaitedFor(step.id)) this.#unfinished.set(step.id, step)
    else this.#closeTurn(step, key, atMs)
  }

  #isWaitedFor(turnId: string): boolean {
    return [...this.#open.values()].some(({ step: { parentId } }) => parentId === turnId)
  }

  #closeTurn(step: ToldStep, key: string, atMs: number): void {
    this.teller.close(step, {
      key,
      atMs,
      payload: { status: "success", latency_ms: Math.max(0, atMs - step.openedAtMs) },
      inferredBy: this.teller.run.source,
    })
  }

  call(call: ToldCall): void {
    this.#see(call.calledAtMs)
    const provider = nameOf(call.provider, "unknown")
    const model_id = call.model === null || call.model === "" ? null : call.model.slice(0, 512)
    const read = call.request === undefined ? undefined : this.#readRequest(call.request)
    const inferredBy = call.inferredBy === undefined ? {} : { inferredBy: call.inferredBy }
    const step = this.teller.open("model", model_id ?? provider, this.#place, {
      key: call.key,
      atMs: call.calledAtMs,
      payload: {
        ...{ provider, model_id, model_api_version: null },
        ...(read?.payload ?? { temperature: null, top_p: null, max_tokens: null }),
      },
      bodies: [read?.body ?? toldRequest(call.messages)],
      attributes: { ...(read === undefined ? { told: "new messages only" } : {}), ...call.attributes },
      ...inferredBy,
    })
    if (read !== undefined)
      this.teller.within("prompt_assembled", step, {
        ...{ key: call.key, atMs: call.calledAtMs },
        payload: read.assembled,
        inferredBy: "dialects",
      })
    this.#see(call.endedAtMs)
    this.#lastModel = step
    this.teller.close(step, {
      key: call.key,
      atMs: call.endedAtMs,
      payload: {
        provider,
        model_id,
        finish_reason: call.finishReason,
        token_usage: call.usage,
        response_ref: null,
        latency_ms: Math.max(0, call.endedAtMs - call.calledAtMs),
        status: call.error === undefined ? "success" : "error",
        ...(call.error === undefined ? {} : { error_class: nameOf(call.error.errorClass, "Error") }),
        ...(call.requestId === undefined ? {} : { provider_request_id: nameOf(call.requestId, "?") }),
        ...(call.serviceTier === undefined ? {} : { service_tier: nameOf(call.serviceTier, "?") }),
        ...(call.cacheWrite1h === undefined ? {} : { cache_write_1h_tokens: call.cacheWrite1h }),
        ...(call.tools.length === 0
          ? {}
          : {
              requested_tools: call.tools.map(({ name }) => nameOf(name, "?")),
              requested_tool_ids: call.tools.map(({ id }) => (id === null || id === "" ? null : id.slice(0, 512))),
            }),
      },
      bodies: [
        call.response === undefined || call.response === null
          ? undefined
          : { field: "response", content: canonicalJson(call.response), mimeType: TOLD_MESSAGES },
        call.usageAsTold === undefined
          ? undefined
          : { field: "usage", content: canonicalJson(call.usageAsTold), mimeType: "application/json" },
        call.error === undefined
          ? undefined
          : { field: "error", content: call.error.message, mimeType: "text/plain; charset=utf-8" },
      ],
      summaries: {
        ...(call.text === "" ? {} : { output_summary: call.text }),
        ...(call.error === undefined ? {} : { error_summary: call.error.message }),
      },
      ...inferredBy,
    })
  }

  #readRequest(request: unknown): SerialisedRequest | undefined {
    return readSerialised(Buffer.from(JSON.stringify(request)), this.#memory)
  }

  tool(tool: ToldTool): void {
    this.#see(tool.atMs)
    const name = nameOf(tool.name, "?")
    const callId = tool.callId ?? tool.key
    // A call that was told of before is the same call.
    if (this.#open.has(callId)) return
    const step = this.teller.open("tool", name, this.#place, {
      key: tool.key,
      atMs: tool.atMs,
      payload: {
        tool_name: name,
        tool_version: null,
        timeout_ms: null,
        ...(tool.callId === null || tool.callId === "" ? {} : { tool_call_id: tool.callId.slice(0, 512) }),
      },
      bodies: [{ field: "args", content: tool.argumentText, mimeType: "application/json" }],
      ...(this.#lastModel === undefined ? {} : { links: [{ kind: "follows", step_id: this.#lastModel.id }] }),
      ...(tool.inferredBy === undefined ? {} : { inferredBy: tool.inferredBy }),
    })
    this.#open.set(callId, { step, inferredBy: tool.inferredBy })
  }

  /** False where no call of this run asked for it. */
  result(result: ToldResult): boolean {
    const open = this.#open.get(result.callId)
    if (open === undefined) return false
    this.#see(result.atMs)
    this.#open.delete(result.callId)
    const { step, inferredBy } = open
    const { text, isError } = result
    const failed = isError === true
    this.teller.close(step, {
      key: result.key,
      atMs: result.atMs,
      payload: {
        tool_name: step.name,
        status: failed ? "error" : "success",
        result_ref: null,
        error_class: failed ? "ToolError" : null,
        error_message_ref: null,
        latency_ms: Math.max(0, result.atMs - step.openedAtMs),
        tool_call_id: result.callId.slice(0, 512),
        ...(result.exitCode === undefined ? {} : { exit_code: result.exitCode }),
      },
      bodies:
        text === null
          ? []
          : [
              { field: "result", content: text, mimeType: "text/plain; charset=utf-8" },
              failed ? { field: "error_message", content: text, mimeType: "text/plain; charset=utf-8" } : undefined,
            ],
      summaries: text === null ? {} : { result_summary: text, ...(failed ? { error_summary: text } : {}) },
      ...(result.attributes === undefined ? {} : { attributes: result.attributes }),
      ...(inferredBy === undefined ? {} : { inferredBy }),
    })
    const turn = this.#unfinished.get(step.parentId ?? "")
    if (turn !== undefined && !this.#isWaitedFor(turn.id)) {
      this.#unfinished.delete(turn.id)
      this.#closeTurn(turn, `${result.key}\0turn`, result.atMs)
    }
    return true
  }

  log(
    key: string,
    atMs: number,
    level: "debug" | "info" | "warn" | "error",
    message: string,
    attributes?: Readonly<Record<string, unknown>>,
  ): void {
    this.#see(atMs)
    const text = message.trim() === "" ? "(nothing)" : message
    this.teller.within("log", this.#place, {
      key,
      atMs,
      payload: { level, message: "" },
      summaries: { message: text },
      bodies: text.length > 200 ? [{ field: "body", content: text, mimeType: "text/plain; charset=utf-8" }] : [],
      ...(attributes === undefined ? {} : { attributes }),
    })
  }

  /** Whether an end was deduced right here, when the record went no further. */
  isEndedHere(endedAfter: number | undefined): boolean {
    return endedAfter !== undefined && this.teller.told >= endedAfter - (this.#turn === undefined ? 1 : 2)
  }

  /** Nothing more came: the record does not say that the run ended, so its end is deduced. */
  complete(key: string, reason: string): void {
    if (this.teller.isEnded) return
    this.endTurn(`${key}\0turn`, this.#lastAtMs)
    this.teller.complete({
      key,
      atMs: this.#lastAtMs,
      inferredBy: this.teller.run.source,
      attributes: { end_deduced_from: reason },
    })
  }

  get lastAtMs(): number {
    return this.#lastAtMs
  }

  get #place(): ToldStep {
    return this.#turn ?? this.teller.root
  }

  #see(atMs: number): void {
    if (atMs > this.#lastAtMs) this.#lastAtMs = atMs
  }
}

function toldRequest(messages: readonly unknown[] | null): ForeignBody {
  const told = messages === null ? { request: "not in the record" } : { new_messages: messages }
  return { field: "request", content: canonicalJson(told), mimeType: TOLD_MESSAGES }
}

const LONGEST_NAME = 480

const nameOf = (text: string, instead: string): string => text.trim().slice(0, 512) || instead
