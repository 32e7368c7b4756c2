import type { ActionType, EventType, LinkKind, PayloadOf, Segment, Status, TokenUsage } from "@orangebox/contract"
import type { EventExtras } from "./event-builder.js"
import type { CompiledPrompt } from "./faults/given-context.js"
import type { RaisedFault, SnapshotArtifact } from "./faults/raise-fault.js"
import type { ToldContext } from "./faults/told-context.js"
import type { LogAttributes, Logger } from "./logger.js"
import type { QueueHandle } from "./queue.js"
import type { Run, StartRun } from "./run.js"

/**
 * The shapes of the handles an application holds. Handles are values: they are passed down to whatever works below them, and nothing in
 * this package finds a "current" step by itself.
 */
export interface Step {
  readonly id: string
  readonly runId: string
  readonly traceId: string
  readonly log: Logger
  /** Aborts when the run may not go on (a failed commit under `audit: "required"`). */
  readonly signal: AbortSignal
  /** Set on handles that are served from a tape: an adapter that opens calls by hand asks them as a whole instead. */
  readonly isReplaying?: true
  /** Enqueue, dequeue and deliver, as steps below this one. */
  readonly queue: QueueHandle

  setAttributes(attributes: LogAttributes): void
  addLink(target: LinkTarget, reason?: string): void
  /**
   * A step below this one.
   *
   * ```ts
   * const search = step.child("search", { query: "parser" })
   * search.end({ status: "success", attributes: { hits: 3 } })
   * ```
   */
  child(name: string, attributes?: LogAttributes, options?: StepOptions): Step
  /** The first end counts, so `finally { step.end() }` is harmless. */
  end(outcome?: StepOutcome): void
  /** The same step, speaking as another source. */
  as(scope: SourceScope): Step

  /**
   * A `fetch` that records every request and answer as a step below this one, to the byte, as it goes over the wire. Hand it to any client
   * that takes one.
   *
   * ```ts
   * const page = await step.fetch("http://localhost:4000/health")
   * ```
   */
  readonly fetch: typeof globalThis.fetch
  /**
   * Calls a model: the call is recorded before `send` runs, the answer or the error after. `send` is made to be passed on as a client's
   * request options; with a client that uses `recorder.fetch` or `step.fetch`, each try on the wire becomes an attempt of this call.
   *
   * ```ts
   * const reply = await step.model({ provider: "anthropic", model: "claude-sonnet-4-5", request }, (send) => client.create(request, send))
   * ```
   */
  model<T>(call: ModelCall<T>, send: (send: ModelSend, step: ModelStep) => T | PromiseLike<T>): Promise<T>
  /** The same for a call that is not one function: end it with `endModel`. */
  startModel(call: ModelCall): ModelStep
  /**
   * Runs a tool: the call is recorded before it runs, its result or error after. `timeoutMs` holds with recording off as well. What it
   * returns names the call, so that a prompt which holds the result can cite it.
   *
   * ```ts
   * const text = await step.tool({ name: "read_file", args: { path: "a.txt" }, timeoutMs: 5_000 }, () => readFile("a.txt", "utf8"))
   * ```
   */
  tool<T>(call: ToolCall<T>, run: (context: ToolContext) => T | PromiseLike<T>): ToolPromise<T>
  /** The same for a call that is not one function: end it with `endTool`. */
  startTool(call: ToolCall): ToolStep
  /**
   * Runs a retriever and records its query, filters and ranked candidates.
   *
   * ```ts
   * const chunks = await step.retrieval({ retriever: "docs", query: "how to parse", topK: 3 }, () => [{ chunkId: "intro", score: 0.9 }])
   * ```
   */
  retrieval<T extends readonly RetrievedChunk[]>(
    call: RetrievalCall,
    retrieve: (context: ToolContext) => T | PromiseLike<T>,
  ): Promise<T>

  inputReceived(input: ReceivedInput): void
  promptRendered(prompt: RenderedPrompt): void
  promptAssembled(prompt: AssembledPrompt): void
  validatorDecision(made: ValidatorDecisionMade): void
  safetyDecision(made: SafetyDecisionMade): void
  finalOutput(output: FinalOutputGiven): void
  repair(repair: RepairMade): void
  /**
   * What the agent does now, in the application's own words; inside a tool or model step it says what that call is. Also `no_op`.
   *
   * ```ts
   * step.decide({ action: "no_op", summary: "the tests pass already", detail: { passed: 41 } })
   * ```
   */
  decide(made: DecisionMade): void
  /**
   * A work product: a diff, a command's output, a test run.
   *
   * ```ts
   * step.artifact({ id: "fix", type: "diff", summary: "one line", content: "- a\n+ b\n", path: "a.txt", linesAdded: 1, linesRemoved: 1 })
   * ```
   */
  artifact(artifact: MadeArtifact): void

  /**
   * A sub-agent: a run of its own in the same trace, linked with this step in both directions.
   *
   * ```ts
   * const helper = step.startRun({ entrypoint: "review", input: "the diff" })
   * helper.complete({ output: "fine" })
   * ```
   */
  startRun(options: StartRun): Run
  /** What another process needs to open a run below this step. Plain JSON. */
  handoff(): Handoff

  /**
   * Says what the model will see in the next call of this step, why, and what was left out, before it is asked. Takes what `compile` of
   * `@orangebox/context` gives, or what an application tells of a prompt that it put together by itself. Durable when it returns; under
   * `audit: "required"` a call whose context cannot be said stops the run.
   *
   * ```ts
   * const text = "Is 2100 a leap year?"
   * step.context({ items: [{ id: "question", type: "user_input", text }], excluded: [], request: { messages: [{ role: "user", content: text }] } })
   * ```
   */
  context(context: CompiledPrompt | ToldContext): void
  /**
   * Something went wrong: the prompts this step sent and the outputs of its tools are stored as artifacts, which are returned.
   *
   * ```ts
   * const [snapshot] = step.fault({ trigger: "loop_guard_override", detail: "the same edit three times" })
   * ```
   */
  fault(fault: RaisedFault): readonly SnapshotArtifact[]
  /** The same because a user of the agent, or its builder, wants to see: `step.snapshot("builder_user")`. */
  snapshot(requestedBy?: "runtime_user" | "builder_user"): readonly SnapshotArtifact[]

  /** Any event of the contract, fail-open. */
  emit<T extends EventType>(type: T, payload: PayloadOf<T>, extras?: EventExtras): void
  /** Any event of the contract, durable before it returns; throws `SystemError` and stops the run when it cannot be. */
  commit<T extends EventType>(type: T, payload: PayloadOf<T>, extras?: EventExtras): void
}

export interface StepOptions {
  /** What sort of work, where the name alone does not say it: retrieval, queue.deliver, … */
  readonly kind?: string
  readonly body?: unknown
  /** The steps that caused this one. Left out, it follows the sibling that ended last. */
  readonly follows?: readonly { readonly id: string }[]
}

export interface StepOutcome {
  readonly err?: unknown
  readonly status?: Status
  readonly attributes?: LogAttributes
  readonly body?: unknown
}

export interface LinkTarget {
  readonly stepId?: string
  readonly runId?: string
  readonly traceId?: string
  readonly kind?: LinkKind
}

/** Names a source. Only the recorder hands these out. */
export interface SourceScope {
  readonly source: string
}

export interface Handoff {
  readonly traceId: string
  readonly runId: string
  readonly stepId: string
  readonly conversationId?: string
}

export interface ModelCall<T = unknown> {
  readonly provider: string
  readonly model: string
  readonly request: unknown
  readonly apiVersion?: string
  /** Whether an answer is wanted, or only the prompt in the provider's cache. Left out, only a request that cannot mean anything else is `warm`. */
  readonly cacheUse?: "warm" | "real"
  readonly attributes?: LogAttributes
  /** Reads usage and finish reason out of a reply that is in no known provider's protocol. What it leaves out is unknown. */
  readonly describe?: (reply: T) => ModelDescription
}

export interface ModelDescription {
  readonly model?: string
  readonly finishReason?: string
  readonly usage?: Partial<TokenUsage>
  readonly status?: Status
  readonly httpStatus?: number
  readonly requestId?: string
  readonly firstByteMs?: number
  readonly thinkingMs?: number
  readonly requestedTools?: readonly string[]
  /** The ids of these calls, in the same order. */
  readonly requestedToolIds?: readonly (string | null)[]
  /** The provider's own usage object. */
  readonly rawUsage?: unknown
  readonly outputText?: string
}

/** Request options for the client that makes the call. */
export interface ModelSend {
  readonly signal: AbortSignal
  /** Tells `recorder.fetch`, or the proxy of `orangebox run`, which call a request belongs to; taken off before it leaves the machine. */
  readonly headers: { readonly [name: string]: string }
}

export interface ModelStep extends Step {
  /** Request options that tell the requests of this call from others. */
  readonly send: ModelSend
  /** The next piece of the answer, durable when this returns. Then `end` needs no response. */
  chunk(bytes: Uint8Array): void
  /** One try of this logical call, as a child step with its number. */
  attempt(call: ModelCall): ModelStep
  endModel(result: { response?: unknown; responseMimeType?: string; err?: unknown } & ModelDescription): void
}

export interface ToolCall<T = unknown> {
  readonly name: string
  readonly args: unknown
  readonly version?: string
  readonly callId?: string
  readonly timeoutMs?: number
  readonly effect?: "pure" | "read" | "write_idempotent" | "write" | "unknown"
  /** What tells equal calls from others, where a protocol knows better than name and arguments do. */
  readonly signature?: string
  readonly attributes?: LogAttributes
  readonly describe?: (result: T) => { exitCode?: number; status?: Status; toldModel?: ToldModel }
}

/** What the model is told of a tool's result, where that is not the result itself. */
export interface ToldModel {
  readonly isError?: boolean
  /** Left out, it is told the result as it is. */
  readonly content?: unknown
}

/** The result of a tool, and how a context cites the call that it comes from. */
export interface ToolPromise<T> extends Promise<T> {
  readonly sourceRef: string
}

export interface ToolContext {
  readonly log: Logger
  readonly step: Step
  readonly signal: AbortSignal
}

export interface ToolEnd {
  readonly result?: unknown
  readonly err?: unknown
  readonly status?: Status
  readonly exitCode?: number
  readonly toldModel?: ToldModel
}

export interface ToolStep extends Step {
  endTool(result: ToolEnd): void
}

export interface RetrievalCall {
  readonly retriever: string
  readonly version?: string
  readonly query: string
  readonly topK?: number
  readonly filters?: { readonly [name: string]: string | number | boolean | null }
}

export interface RetrievedChunk {
  readonly chunkId: string
  readonly documentId?: string
  readonly score?: number
  readonly sourceUri?: string
  readonly content?: unknown
}

export interface ReceivedInput {
  readonly channels: readonly string[]
  readonly value: unknown
  readonly policyLabels?: readonly string[]
}

export interface RenderedPrompt {
  readonly prompt: unknown
  readonly templateId?: string
  readonly templateVersion?: string
  readonly variables?: unknown
  readonly system?: unknown
}

export interface AssembledPrompt {
  readonly segments: readonly {
    readonly contributor: string
    readonly kind: Segment["kind"]
    readonly role?: string
    readonly content: string
    readonly tokens?: number
  }[]
  readonly tokenBudget?: number
  readonly excludedCount?: number
}

export interface ValidatorDecisionMade {
  readonly name: string
  readonly version?: string
  readonly decision: "pass" | "fail" | "warn"
  readonly reason?: unknown
}

export interface SafetyDecisionMade {
  readonly policy: string
  readonly version?: string
  readonly decision: "allow" | "block" | "redact" | "escalate"
  readonly reason?: unknown
}

export interface FinalOutputGiven {
  readonly value: unknown
  readonly citations?: unknown
  readonly channel?: string
}

export interface RepairMade {
  readonly kind: "history" | "schema"
  readonly before: unknown
  /** Left out when the repair failed. */
  readonly after?: unknown
  readonly attempt?: number
  readonly maxAttempts?: number
  readonly reason?: string
}

export interface DecisionMade {
  readonly action: ActionType
  readonly summary: string
  /** Whatever explains it: alternatives, a score, the rule that fired. */
  readonly detail?: unknown
}

export interface MadeArtifact {
  readonly id: string
  readonly type: PayloadOf<"artifact_recorded">["artifact_type"]
  readonly summary: string
  readonly content: unknown
  /** Relative to the workspace. */
  readonly path?: string
  readonly linesAdded?: number
  readonly linesRemoved?: number
  /** Of a change to a file that changed before: all of it, against the file as the run found it. */
  readonly netLinesAdded?: number
  readonly netLinesRemoved?: number
  readonly exitCode?: number
}
