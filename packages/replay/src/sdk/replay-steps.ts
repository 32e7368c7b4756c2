import { OrangeboxError } from "@orangebox/contract"
import type {
  Capture,
  Fetch,
  LogAttributes,
  Logger,
  ModelCall,
  ModelSend,
  ModelStep,
  RetrievalCall,
  RetrievedChunk,
  Run,
  SourceScope,
  StartRun,
  Step,
  StepOptions,
  ToolCall,
  ToolContext,
  ToolPromise,
  ToolStep,
} from "@orangebox/recorder"
import type { ReplayAnswers } from "./replay-answers.js"

/** What asks nothing of the world. A member of `Step` that stands neither here nor in `ReplayStep` is refused by the type checker. */
const RECORDED_AS_EVER = [
  "id",
  "runId",
  "traceId",
  "signal",
  "queue",
  "setAttributes",
  "addLink",
  "end",
  "inputReceived",
  "promptRendered",
  "promptAssembled",
  "validatorDecision",
  "safetyDecision",
  "finalOutput",
  "repair",
  "decide",
  "artifact",
  "context",
  "fault",
  "snapshot",
  "handoff",
  "emit",
  "commit",
] as const

/** A class whose members of these names are those of the step inside. */
function handingOn<K extends keyof Step>(names: readonly K[]): new (inner: Step) => HandingOn<K> {
  class Outer {
    readonly inner: Step
    constructor(inner: Step) {
      this.inner = inner
    }
  }
  for (const name of names) {
    Object.defineProperty(Outer.prototype, name, {
      get(this: Outer) {
        const member: unknown = this.inner[name]
        return typeof member === "function" ? member.bind(this.inner) : member
      },
    })
  }
  return Outer as new (
    inner: Step,
  ) => HandingOn<K>
}

type HandingOn<K extends keyof Step> = Pick<Step, K> & { readonly inner: Step }

/** The same handles over a tape: whatever asks the world is answered from it, everything else is recorded as ever. */
export class ReplayStep extends handingOn(RECORDED_AS_EVER) implements Step {
  /** Adapters that run work by themselves look for this and hand it over instead. */
  readonly isReplaying = true
  protected readonly answers: ReplayAnswers
  #fetch: Fetch | undefined

  constructor(inner: Step, answers: ReplayAnswers) {
    super(inner)
    this.answers = answers
  }

  get log(): Logger {
    return replayLogger(this.inner.log, this.answers)
  }
  /** For adapters: what two calls are compared by. */
  get capture(): Capture | undefined {
    return (this.inner as { readonly capture?: Capture }).capture
  }
  get fetch(): Fetch {
    this.#fetch ??= this.answers.fetchFor(() => this.inner)
    return this.#fetch
  }

  model<T>(call: ModelCall<T>, send: (send: ModelSend, step: ModelStep) => T | PromiseLike<T>): Promise<T> {
    return this.inner.model(call, (options, step) => this.answers.answerModel(call, options, step, send))
  }
  tool<T>(call: ToolCall<T>, run: (context: ToolContext) => T | PromiseLike<T>): ToolPromise<T> {
    return this.inner.tool(call, (context) => this.answers.answerTool(call, context, run))
  }
  retrieval<T extends readonly RetrievedChunk[]>(
    call: RetrievalCall,
    retrieve: (context: ToolContext) => T | PromiseLike<T>,
  ): Promise<T> {
    this.answers.expectRetrieval(call, this.capture)
    return this.inner.retrieval(call, (context) => this.answers.answerRetrieval(call, context, retrieve))
  }

  startModel(call: ModelCall): ModelStep {
    throw byHand("startModel", "step.model", call.model)
  }
  startTool(call: ToolCall): ToolStep {
    throw byHand("startTool", "step.tool", call.name)
  }

  child(name: string, attributes?: LogAttributes, options?: StepOptions): Step {
    return new ReplayStep(this.inner.child(name, attributes, options), this.answers)
  }
  as(scope: SourceScope): Step {
    return new ReplayStep(this.inner.as(scope), this.answers)
  }
  startRun(options: StartRun): Run {
    return new ReplayRun(this.inner.startRun(options), this.answers)
  }
}

export class ReplayRun extends ReplayStep implements Run {
  readonly #run: Run

  constructor(run: Run, answers: ReplayAnswers) {
    super(run, answers)
    this.#run = run
  }

  step(name: string, attributes?: LogAttributes, options?: StepOptions): Step {
    return this.child(name, attributes, options)
  }
  complete(end?: Parameters<Run["complete"]>[0]): void {
    this.#run.complete(end)
  }
  fail(err: unknown, end?: Parameters<Run["fail"]>[1]): void {
    this.#run.fail(err, end)
  }
}

/** A model call that goes to its client: what the client sends below it is answered from the tape, too. */
export class ReplayModelStep extends ReplayStep implements ModelStep {
  readonly #model: ModelStep

  constructor(model: ModelStep, answers: ReplayAnswers) {
    super(model, answers)
    this.#model = model
  }

  get send(): ModelSend {
    return this.#model.send
  }
  chunk(bytes: Uint8Array): void {
    this.#model.chunk(bytes)
  }
  /** For adapters: whether the bytes of the answer are recorded where they came over the wire. */
  hasWire(): boolean {
    return (this.#model as { hasWire?: () => boolean }).hasWire?.() ?? false
  }
  attempt(call: ModelCall): ModelStep {
    throw byHand("attempt", "step.fetch", call.model)
  }
  endModel(result: Parameters<ModelStep["endModel"]>[0]): void {
    this.#model.endModel(result)
  }
}

/** Spans of a logger are steps, and must not be a way around the tape. */
export function replayLogger(inner: Logger, answers: ReplayAnswers): Logger {
  return {
    debug: (message, attributes) => inner.debug(message, attributes),
    info: (message, attributes) => inner.info(message, attributes),
    warn: (message, attributes) => inner.warn(message, attributes),
    error: (message, attributes) => inner.error(message, attributes),
    child: (context) => replayLogger(inner.child(context), answers),
    span: (name, attributes, options) => new ReplayStep(inner.span(name, attributes, options), answers),
  }
}

/** The caller would do the work itself, where no tape can answer; so it is stopped before it does. */
function byHand(method: string, instead: string, name: string): OrangeboxError {
  return new OrangeboxError("COVERAGE_GAP", {
    what: `${method} of ${name}: a call that is made by hand cannot be answered from a recording`,
    next: `Use ${instead}, or replay the run with the engine`,
  })
}
