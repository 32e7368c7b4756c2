import { type EventType, OrangeboxError, type PayloadOf } from "@orangebox/contract"
import type {
  AssembledPrompt,
  Capture,
  DecisionMade,
  EventExtras,
  Fetch,
  FinalOutputGiven,
  Handoff,
  LinkTarget,
  LogAttributes,
  Logger,
  MadeArtifact,
  ModelCall,
  ModelSend,
  ModelStep,
  QueueHandle,
  ReceivedInput,
  RenderedPrompt,
  RepairMade,
  RetrievalCall,
  RetrievedChunk,
  Run,
  SafetyDecisionMade,
  SourceScope,
  StartRun,
  Step,
  StepOptions,
  StepOutcome,
  ToolCall,
  ToolContext,
  ToolStep,
  ValidatorDecisionMade,
} from "@orangebox/recorder"
import type { AnswerDesk } from "./answer-desk.js"

/** The same handles over a tape: whatever asks the world is answered by the desk, everything else is recorded as ever. */
export class ReplayStep implements Step {
  /** Adapters that run work by themselves look for this and hand it over instead. */
  readonly isReplaying = true
  protected readonly inner: Step
  protected readonly desk: AnswerDesk
  #fetch: Fetch | undefined

  constructor(inner: Step, desk: AnswerDesk) {
    this.inner = inner
    this.desk = desk
  }

  get id(): string {
    return this.inner.id
  }
  get runId(): string {
    return this.inner.runId
  }
  get traceId(): string {
    return this.inner.traceId
  }
  get log(): Logger {
    return replayLogger(this.inner.log, this.desk)
  }
  /** For adapters: what two calls are compared by. */
  get capture(): Capture | undefined {
    return (this.inner as { readonly capture?: Capture }).capture
  }
  get signal(): AbortSignal {
    return this.inner.signal
  }
  get queue(): QueueHandle {
    return this.inner.queue
  }
  get fetch(): Fetch {
    this.#fetch ??= this.desk.fetchFor(() => this.inner)
    return this.#fetch
  }

  model<T>(call: ModelCall<T>, send: (send: ModelSend, step: ModelStep) => T | PromiseLike<T>): Promise<T> {
    return this.inner.model(call, (options, step) => this.desk.answerModel(call, options, step, send))
  }
  tool<T>(call: ToolCall<T>, run: (context: ToolContext) => T | PromiseLike<T>): Promise<T> {
    return this.inner.tool(call, (context) => this.desk.answerTool(call, context, run))
  }
  retrieval<T extends readonly RetrievedChunk[]>(
    call: RetrievalCall,
    retrieve: (context: ToolContext) => T | PromiseLike<T>,
  ): Promise<T> {
    this.desk.expectRetrieval(call, this.capture)
    return this.inner.retrieval(call, (context) => this.desk.answerRetrieval(call, context, retrieve))
  }

  startModel(call: ModelCall): ModelStep {
    throw byHand("startModel", "step.model", call.model)
  }
  startTool(call: ToolCall): ToolStep {
    throw byHand("startTool", "step.tool", call.name)
  }

  child(name: string, attributes?: LogAttributes, options?: StepOptions): Step {
    return new ReplayStep(this.inner.child(name, attributes, options), this.desk)
  }
  as(scope: SourceScope): Step {
    return new ReplayStep(this.inner.as(scope), this.desk)
  }
  startRun(options: StartRun): Run {
    return new ReplayRun(this.inner.startRun(options), this.desk)
  }

  setAttributes(attributes: LogAttributes): void {
    this.inner.setAttributes(attributes)
  }
  addLink(target: LinkTarget, reason?: string): void {
    this.inner.addLink(target, reason)
  }
  end(outcome?: StepOutcome): void {
    this.inner.end(outcome)
  }
  inputReceived(input: ReceivedInput): void {
    this.inner.inputReceived(input)
  }
  promptRendered(prompt: RenderedPrompt): void {
    this.inner.promptRendered(prompt)
  }
  promptAssembled(prompt: AssembledPrompt): void {
    this.inner.promptAssembled(prompt)
  }
  validatorDecision(made: ValidatorDecisionMade): void {
    this.inner.validatorDecision(made)
  }
  safetyDecision(made: SafetyDecisionMade): void {
    this.inner.safetyDecision(made)
  }
  finalOutput(output: FinalOutputGiven): void {
    this.inner.finalOutput(output)
  }
  repair(repair: RepairMade): void {
    this.inner.repair(repair)
  }
  decide(made: DecisionMade): void {
    this.inner.decide(made)
  }
  artifact(artifact: MadeArtifact): void {
    this.inner.artifact(artifact)
  }
  context(...args: Parameters<Step["context"]>): ReturnType<Step["context"]> {
    return this.inner.context(...args)
  }
  fault(...args: Parameters<Step["fault"]>): ReturnType<Step["fault"]> {
    return this.inner.fault(...args)
  }
  snapshot(...args: Parameters<Step["snapshot"]>): ReturnType<Step["snapshot"]> {
    return this.inner.snapshot(...args)
  }
  handoff(): Handoff {
    return this.inner.handoff()
  }
  emit<T extends EventType>(type: T, payload: PayloadOf<T>, extras?: EventExtras): void {
    this.inner.emit(type, payload, extras)
  }
  commit<T extends EventType>(type: T, payload: PayloadOf<T>, extras?: EventExtras): void {
    this.inner.commit(type, payload, extras)
  }
}

export class ReplayRun extends ReplayStep implements Run {
  readonly #run: Run

  constructor(run: Run, desk: AnswerDesk) {
    super(run, desk)
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

  constructor(model: ModelStep, desk: AnswerDesk) {
    super(model, desk)
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
export function replayLogger(inner: Logger, desk: AnswerDesk): Logger {
  return {
    debug: (message, attributes) => inner.debug(message, attributes),
    info: (message, attributes) => inner.info(message, attributes),
    warn: (message, attributes) => inner.warn(message, attributes),
    error: (message, attributes) => inner.error(message, attributes),
    child: (context) => replayLogger(inner.child(context), desk),
    span: (name, attributes, options) => new ReplayStep(inner.span(name, attributes, options), desk),
  }
}

/** The caller would do the work itself, where no tape can answer; so it is stopped before it does. */
function byHand(method: string, instead: string, name: string): OrangeboxError {
  return new OrangeboxError("COVERAGE_GAP", {
    what: `${method} of ${name}: a call that is made by hand cannot be answered from a recording`,
    next: `Use ${instead}, or replay the run with the engine`,
  })
}
