import {
  amountIn,
  countIn,
  definitionOf,
  type Event,
  isEventType,
  type LoosePayload,
  payloadOf,
  recordIn,
  type StepKind,
  type StepRole,
  textIn,
} from "@orangebox/contract"
import { processErrorIn } from "./crash.js"
import { soundEnvelope } from "./sound-envelope.js"

/**
 * The one derivation of a run from its events: which steps there are, what number, parent, kind and status each has, and what the run
 * adds up to. It takes the run's own events one by one in the order of `sequence_no` (of two events with one number the one that arrived
 * first stands first), keeps no event, and can go on from rows of a store. `foldRun` is the same over a whole run.
 *
 * A step's number is its address for good, so it depends only on what came before: #1 is the run itself, and any other step gets the next
 * number when it is first heard of, by an event in it or by being named as the parent of a new step. The step of a lost opening therefore
 * has the number it would have had.
 *
 * `Mark` is how the caller finds an event again: the event itself, or the key of its row.
 */
export class RunFold<Mark> {
  readonly facts: RunFacts
  readonly root: FoldedStep<Mark>
  readonly #byId: Map<string, FoldedStep<Mark>>
  readonly #options: FoldOptions<Mark>
  /** Usage of the calls that ended. */
  readonly #settled: TokenCounts
  /** Calls without an end that have the usage of an attempt so far. */
  readonly #borrowing = new Set<FoldedStep<Mark>>()
  /** Whether the root's id was said by an event that opens or closes the run. Until then it is a guess that later events may correct. */
  #isRootSure: boolean
  /** When the event that is being taken in was recorded. */
  #atMs = 0

  constructor(options: FoldOptions<Mark> = {}, from?: FoldedSoFar<Mark>) {
    this.#options = options
    this.facts = from?.facts ?? noFacts()
    this.#settled = { ...this.facts.tokens }
    this.#byId = new Map()
    this.root = from?.root ?? { ...newStep<Mark>(1, "", null), kind: "run" }
    this.#isRootSure = from !== undefined
    if (from === undefined) this.facts.steps = 1
    else {
      if (from.root.id !== "") this.#byId.set(from.root.id, from.root)
      for (const step of from.unfinished) this.#byId.set(step.id, step)
    }
  }

  /** The step with this id, as far as it has been heard of. */
  find(stepId: string): FoldedStep<Mark> | undefined {
    const known = this.#byId.get(stepId)
    if (known !== undefined || this.#options.lookUp === undefined) return known
    const found = this.#options.lookUp(stepId)
    if (found !== undefined) this.#byId.set(stepId, found)
    return found
  }

  /** Whether the step is in memory, so that asking for it costs nothing. */
  isAtHand(stepId: string): boolean {
    return this.#byId.has(stepId)
  }

  /** Forgets steps that are complete, when there are more than so many, and says whether it did: from then on `lookUp` has to know them. */
  forgetComplete(above: number): boolean {
    if (this.#byId.size <= above) return false
    for (const [id, step] of this.#byId) if (isComplete(step) && step !== this.root) this.#byId.delete(id)
    return true
  }

  /** Takes in one event; the step it is in, or undefined for an annotation. `atMs` is its wall time. */
  take(given: Event, mark: Mark, atMs: number): FoldedStep<Mark> | undefined {
    const event = soundEnvelope(given)
    const { facts } = this
    facts.traceId ??= event.trace_id
    if (event.conversation_id !== undefined) facts.conversationId ??= event.conversation_id
    if (event.replay !== undefined) facts.sourceRunId ??= event.replay.source_run_id
    if (event.sequence_no === null) {
      facts.annotations++
      if (event.event_type === "process_crashed") this.#takeCrash(payloadOf(event), monoOf(given))
      return undefined
    }
    if (facts.events++ === 0) facts.startedAtMs = atMs
    if (event.sequence_no > facts.lastSequence) facts.lastSequence = event.sequence_no
    if (atMs > facts.lastAtMs) facts.lastAtMs = atMs
    const mono = monoOf(given)
    if (mono !== null) {
      if (mono > facts.lastMono) facts.lastMono = mono
      if (mono < facts.firstMono) facts.firstMono = mono
    }
    if (event.event_type === "input_received") facts.input ??= textIn(payloadOf(event), "input_summary") ?? null

    const role = roleOf(event.event_type)
    this.#atMs = atMs
    const step = this.#stepOf(event, role)
    if (event.attempt_no !== undefined) step.saidAttempt ??= event.attempt_no
    if (step.opened === null) this.#place(step, event)
    if (role?.does === "opens") this.#open(step, event, role.step, mark, mono, atMs)
    else if (role?.does === "closes") this.#close(step, event, role.step, mark, mono, atMs)
    return step
  }

  // ── Which step an event is in ─────────────────────────────────────────────────────────────────────────────────────────────

  #stepOf(event: Event, role: StepRole | undefined): FoldedStep<Mark> {
    const id = event.step_id
    if (role !== undefined && "step" in role && role.step === "run") return this.#rootIs(id, true)
    if (id === null) return this.root
    const known = this.find(id)
    if (known !== undefined) {
      // What was taken for the root has a parent, so that is the root, and both are #1.
      if (known === this.root && !this.#isRootSure && event.parent_step_id !== null)
        this.#rootIs(event.parent_step_id, false)
      return known
    }
    if (event.parent_step_id === null && !this.#isRootSure) return this.#rootIs(id, false)
    return this.#add(id, this.#parentOf(event))
  }

  /** The parent of a step that is new. */
  #parentOf(event: Event): FoldedStep<Mark> {
    const id = event.parent_step_id
    // Nothing is inside itself: a step that names itself says nothing about where it is.
    if (id === null || id === event.step_id) return this.root
    const known = this.find(id)
    if (known !== undefined) return known
    // Where only the opening of the run is lost, what comes next stands directly in the run.
    if (this.root.id === "" && event.sequence_no! <= 1) return this.#rootIs(id, false)
    return this.#add(id, this.root)
  }

  /** A step that was only named stands in the run until something in it says where. Only an older step can be a parent: the tree stays one. */
  #place(step: FoldedStep<Mark>, { parent_step_id: id }: Event): void {
    const parent = id === null || step.parent === null || step.parent.id === id ? undefined : this.find(id)
    if (parent === undefined || parent.no >= step.no) return
    step.parent = parent
    this.#changed(step)
  }

  #rootIs(id: string | null, isSure: boolean): FoldedStep<Mark> {
    if (id !== null && id !== this.root.id && this.find(id) === undefined) {
      this.#byId.set(id, this.root)
      if (!this.#isRootSure) {
        this.root.id = id
        this.#changed(this.root)
      }
    }
    if (isSure) this.#isRootSure = true
    return this.root
  }

  #add(id: string, parent: FoldedStep<Mark>): FoldedStep<Mark> {
    const step = newStep<Mark>(++this.facts.steps, id, parent)
    step.openedAtMs = this.#atMs
    this.#byId.set(id, step)
    this.#changed(step)
    return step
  }

  // ── Opening and closing ───────────────────────────────────────────────────────────────────────────────────────────────────

  #open(step: FoldedStep<Mark>, event: Event, kind: StepKind, mark: Mark, mono: number | null, atMs: number): void {
    // A record that opens another kind of step is a broken one; it stays among the events and opens nothing.
    if (step.opened !== null || (step.kind !== "unknown" && step.kind !== kind)) return
    step.opened = mark
    step.openedUnder = event.parent_step_id
    step.openedMono = mono
    step.openedAtMs = atMs
    step.source = event.source
    step.inferredBy = event.inferred_by ?? null
    if (step.closed === null) step.isReplayed = isReplayed(event, kind)
    this.#isOfKind(step, kind)
    const payload = payloadOf(event)
    switch (kind) {
      case "run":
        this.#takeRunStarted(payload, atMs)
        step.name = textIn(payload, "entrypoint_name") ?? null
        break
      case "model":
        step.provider = textIn(payload, "provider") ?? step.provider
        step.name ??= textIn(payload, "model_id") ?? step.provider
        break
      case "tool":
        step.name = textIn(payload, "tool_name") ?? step.name
        break
      case "step":
        step.name = textIn(payload, "name") ?? null
        step.workKind = textIn(payload, "kind") ?? null
    }
    if (step.closed !== null) step.durationMicros ??= elapsed(step)
    this.#changed(step)
  }

  #close(step: FoldedStep<Mark>, event: Event, kind: StepKind, mark: Mark, mono: number | null, atMs: number): void {
    if (step.closed !== null || (step.kind !== "unknown" && step.kind !== kind)) return
    step.closed = mark
    step.closedMono = mono
    if (step.opened === null) {
      step.openedAtMs = atMs
      step.source = event.source
      step.inferredBy = event.inferred_by ?? null
    }
    this.facts.closedSteps++
    this.#isOfKind(step, kind)
    const payload = payloadOf(event)
    step.status = outcomeOf(event, payload)
    step.errorClass = textIn(payload, "error_class") ?? null
    step.isReplayed = isReplayed(event, kind)
    step.durationMicros = micros(payload, "latency_ms") ?? micros(payload, "total_latency_ms") ?? elapsed(step)
    if (kind === "run") this.#takeRunEnd(event, payload, atMs)
    if (kind === "tool") step.name ??= textIn(payload, "tool_name") ?? null
    if (kind === "model") {
      step.provider ??= textIn(payload, "provider") ?? null
      step.name = textIn(payload, "model_id") ?? step.name ?? step.provider
      step.firstByteMicros = micros(payload, "first_byte_ms")
      const usage = usageIn(payload)
      if (hasUsage(usage)) {
        step.tokens = usage
        step.serviceTier = textIn(payload, "service_tier") ?? null
        step.cacheWrite1h = countIn(payload, "cache_write_1h_tokens") ?? null
      }
      this.#countTokens(step)
    }
    if (kind !== "run" && !step.isAttempt && (step.status === "error" || step.status === "timeout")) this.facts.errors++
    this.#changed(step)
  }

  /** Settles what a step is. An attempt says of its parent that it is a model call, also where the parent's own opening was lost. */
  #isOfKind(step: FoldedStep<Mark>, kind: StepKind): void {
    if (step.kind !== "unknown") return
    step.kind = kind
    this.#changed(step)
    if (kind === "tool") this.facts.toolCalls++
    if (kind !== "model") return
    if (step.saidAttempt !== null && step.parent !== null) {
      this.#isOfKind(step.parent, "model")
      step.isAttempt = step.parent.kind === "model"
      if (step.isAttempt) this.#countAttempt(step.parent)
    }
    if (!step.isAttempt) this.facts.modelCalls++
  }

  #countAttempt(call: FoldedStep<Mark>): void {
    call.attempts++
    this.#changed(call)
  }

  /** A call made of several attempts repeats their usage, so it counts once, at the call. */
  #countTokens(step: FoldedStep<Mark>): void {
    if (step.isAttempt) {
      if (hasUsage(step.tokens)) this.#lend(step.parent!, step)
      return
    }
    addTokens(this.#settled, step.tokens)
    this.#borrowing.delete(step)
    this.#sumTokens()
  }

  /** Until a call says what it used, and if it never does, it used what the last of its attempts did that says so. */
  #lend(call: FoldedStep<Mark>, attempt: FoldedStep<Mark>): void {
    if (call.closed !== null) return
    call.tokens = { ...attempt.tokens }
    call.serviceTier = attempt.serviceTier
    call.cacheWrite1h = attempt.cacheWrite1h
    this.#changed(call)
    if (call.isAttempt) this.#lend(call.parent!, attempt)
    else {
      this.#borrowing.add(call)
      this.#sumTokens()
    }
  }

  /** From its parts each time: taking a loan out of a sum could not tell nothing known from none used. */
  #sumTokens(): void {
    this.facts.tokens = { ...this.#settled }
    for (const call of this.#borrowing) addTokens(this.facts.tokens, call.tokens)
  }

  #takeRunStarted(payload: LoosePayload, atMs: number): void {
    const { facts } = this
    facts.app = textIn(payload, "app_id") ?? null
    facts.entrypoint = textIn(payload, "entrypoint_name") ?? null
    facts.environment = textIn(payload, "environment") ?? null
    facts.captureMode = textIn(payload, "capture_mode") ?? null
    facts.input = textIn(payload, "input_summary") ?? facts.input
    facts.agentVersion = textIn(payload, "agent_version") ?? null
    facts.startedAtMs = atMs
  }

  /** What ended the process ended the run, unless the run says itself how it ended. It went on until the last sign of life of its process. */
  #takeCrash(payload: LoosePayload, mono: number | null): void {
    const { facts } = this
    facts.isCrashed = true
    if (facts.end !== null) return
    if (mono !== null && mono > facts.lastMono) facts.lastMono = mono
    const { errorClass, errorSummary } = processErrorIn(payload)
    facts.errorClass = errorClass ?? null
    facts.errorSummary = errorSummary ?? null
  }

  #takeRunEnd(event: Event, payload: LoosePayload, atMs: number): void {
    const { facts } = this
    facts.end = event.event_type === "run_failed" ? "failed" : "completed"
    facts.endedAtMs = atMs
    facts.errorClass = textIn(payload, "error_class") ?? null
    facts.errorSummary = textIn(payload, "error_summary") ?? null
  }

  #changed(step: FoldedStep<Mark>): void {
    this.#options.onChange?.(step)
  }
}

export interface FoldOptions<Mark> {
  /** A step of the run that was heard of before and is no longer at hand. */
  readonly lookUp?: (stepId: string) => FoldedStep<Mark> | undefined
  /** Called for every step that an event changed, more than once where it changed more than one thing. */
  readonly onChange?: (step: FoldedStep<Mark>) => void
}

/**
 * Where a fold stood, to go on from. Only for a run whose opening is on record, and in which no call without an end has the usage of an
 * attempt: what was guessed is not in these.
 */
export interface FoldedSoFar<Mark> {
  readonly facts: RunFacts
  readonly root: FoldedStep<Mark>
  /** Every step whose opening or end is missing. */
  readonly unfinished: Iterable<FoldedStep<Mark>>
}

/** `unknown` is a step that was named, or in which something happened, and whose opening and end are both not on record. */
export type FoldedKind = StepKind | "unknown"

/** How a step ended. `open`: no end on record. `crashed`: no end, because its process died. */
export type StepStatus = "open" | "success" | "error" | "timeout" | "partial" | "crashed"

/**
 * How a run ended. `completed` and `failed` were recorded by the run itself and win over everything. `crashed`: its writer was found dead.
 * `running`: no end, and its writer is alive. `silent`: no end, and nothing says why.
 */
export type RunStatus = "completed" | "failed" | "crashed" | "running" | "silent"

export interface FoldedStep<Mark> {
  readonly no: number
  /** Empty for the root of a run none of whose events names it. */
  id: string
  parent: FoldedStep<Mark> | null
  kind: FoldedKind
  /** The entry point, the model as its answer names it, the tool, or the step's own name. */
  name: string | null
  provider: string | null
  /** Never `crashed`: whether an open step is, depends on its run. */
  status: StepStatus
  opened: Mark | null
  closed: Mark | null
  /** The parent that the opening names, whether it was heard of or not. */
  openedUnder: string | null
  /** When it was opened; before that is known, when it was first heard of or closed. */
  openedAtMs: number
  openedMono: number | null
  closedMono: number | null
  /** The latency its end records; else what the monotonic clock says went by between its two records. */
  durationMicros: number | null
  /** Which attempt its events say it is. */
  saidAttempt: number | null
  /** A try of the model call that is its parent; counted there. */
  isAttempt: boolean
  /** How many tries of this call are steps of their own. */
  attempts: number
  errorClass: string | null
  /** What sort of work a plain step says it is: retrieval, queue.deliver, … */
  workKind: string | null
  /** Who recorded it, and what deduced it; of its opening, else of its end. */
  source: string | null
  inferredBy: string | null
  /** Part of a replay or a fork, and no call that went out: of its end, else of its opening. */
  isReplayed: boolean
  firstByteMicros: number | null
  /** What the price of a call depends on beside its tokens. */
  serviceTier: string | null
  cacheWrite1h: number | null
  tokens: TokenCounts
}

/** What the events say about the run as a whole. */
export interface RunFacts {
  traceId: string | null
  conversationId: string | null
  sourceRunId: string | null
  app: string | null
  entrypoint: string | null
  environment: string | null
  agentVersion: string | null
  captureMode: string | null
  input: string | null
  end: "completed" | "failed" | null
  errorClass: string | null
  errorSummary: string | null
  isCrashed: boolean
  startedAtMs: number
  endedAtMs: number | null
  lastAtMs: number
  firstMono: number
  lastMono: number
  /** The highest sequence number so far; -1 before the first event. */
  lastSequence: number
  /** Own events of the run; what others said about it is in `annotations`. */
  events: number
  annotations: number
  steps: number
  closedSteps: number
  /** Attempts of a call are part of the call, in this and in everything below. */
  modelCalls: number
  toolCalls: number
  /** Steps that ended in an error or a timeout, the run itself aside. */
  errors: number
  tokens: TokenCounts
}

/** Null is unknown; a sum is null until something was known. */
export interface TokenCounts {
  prompt: number | null
  completion: number | null
  cacheRead: number | null
  cacheWrite: number | null
  reasoning: number | null
}

export const TOKEN_FIELDS = ["prompt", "completion", "cacheRead", "cacheWrite", "reasoning"] as const

export const noTokens = (): TokenCounts => ({
  prompt: null,
  completion: null,
  cacheRead: null,
  cacheWrite: null,
  reasoning: null,
})

/** Unknown is not zero: a sum is null until something was known. */
export function addTokens(sum: TokenCounts, tokens: TokenCounts): void {
  for (const field of TOKEN_FIELDS) {
    const value = tokens[field]
    if (value !== null) sum[field] = (sum[field] ?? 0) + value
  }
}

export const hasUsage = ({ prompt, completion }: TokenCounts): boolean => prompt !== null || completion !== null

/** From the opening of a run to its end, or to the last thing recorded when one of them is not on record. Null where no clock was. */
export function durationOfRun({ firstMono, lastMono }: RunFacts, root: FoldedStep<unknown>): number | null {
  return root.durationMicros ?? (lastMono >= firstMono ? lastMono - firstMono : null)
}

export const isComplete = (step: FoldedStep<unknown>): boolean => step.opened !== null && step.closed !== null

/** Whether the run itself said how it ended. */
export const hasEnded = (status: RunStatus): boolean => status === "completed" || status === "failed"

/** Whether the end of a step is not on record. */
export const isOpen = (status: StepStatus): boolean => status === "open" || status === "crashed"

/** Whether a step came to nothing: it said so, or its process died in it. */
export const isFailure = (status: StepStatus): boolean =>
  status === "error" || status === "timeout" || status === "crashed"

export function statusOfRun({ end, isCrashed }: RunFacts, isWriterAlive: boolean): RunStatus {
  return end ?? (isCrashed ? "crashed" : isWriterAlive ? "running" : "silent")
}

export function noFacts(): RunFacts {
  return {
    traceId: null,
    conversationId: null,
    sourceRunId: null,
    app: null,
    entrypoint: null,
    environment: null,
    agentVersion: null,
    captureMode: null,
    input: null,
    end: null,
    errorClass: null,
    errorSummary: null,
    isCrashed: false,
    startedAtMs: 0,
    endedAtMs: null,
    lastAtMs: 0,
    firstMono: Number.MAX_SAFE_INTEGER,
    lastMono: 0,
    lastSequence: -1,
    events: 0,
    annotations: 0,
    steps: 0,
    closedSteps: 0,
    modelCalls: 0,
    toolCalls: 0,
    errors: 0,
    tokens: noTokens(),
  }
}

function newStep<Mark>(no: number, id: string, parent: FoldedStep<Mark> | null): FoldedStep<Mark> {
  return {
    no,
    id,
    parent,
    kind: "unknown",
    name: null,
    provider: null,
    status: "open",
    opened: null,
    closed: null,
    openedUnder: null,
    openedAtMs: 0,
    openedMono: null,
    closedMono: null,
    durationMicros: null,
    saidAttempt: null,
    isAttempt: false,
    attempts: 0,
    errorClass: null,
    workKind: null,
    source: null,
    inferredBy: null,
    isReplayed: false,
    firstByteMicros: null,
    serviceTier: null,
    cacheWrite1h: null,
    tokens: noTokens(),
  }
}

/**
 * What the record of an end says. Schema 1.0 has no status on `model_result`, a named error class is what it says instead; anywhere else
 * an end that does not say how is `partial`: unknown is not a success.
 */
function outcomeOf(event: Event, payload: LoosePayload): StepStatus {
  if (event.event_type === "run_completed") return "success"
  if (event.event_type === "run_failed") return "error"
  const status = payload["status"]
  if (status === "success" || status === "error" || status === "timeout" || status === "partial") return status
  if (textIn(payload, "error_class") !== undefined) return "error"
  return status === undefined && event.event_type === "model_result" ? "success" : "partial"
}

/** A call that a replay or a fork let through did go out; anything else in it is a run that was there before. */
function isReplayed({ replay, determinism_mode: mode }: Event, kind: StepKind): boolean {
  const wentOut = mode === "live" && (kind === "model" || kind === "tool")
  return replay !== undefined && !wentOut
}

/** Between the two records, where the end does not say what the step took. */
function elapsed({ openedMono, closedMono }: FoldedStep<unknown>): number | null {
  return openedMono !== null && closedMono !== null && closedMono >= openedMono ? closedMono - openedMono : null
}

function micros(payload: LoosePayload, field: string): number | null {
  const micros = Math.round((amountIn(payload, field) ?? Number.NaN) * 1000)
  return Number.isSafeInteger(micros) ? micros : null
}

export function usageIn(payload: LoosePayload): TokenCounts {
  const usage = recordIn(payload, "token_usage")
  return {
    prompt: countIn(usage, "prompt") ?? null,
    completion: countIn(usage, "completion") ?? null,
    cacheRead: countIn(usage, "cache_read") ?? null,
    cacheWrite: countIn(usage, "cache_write") ?? null,
    reasoning: countIn(usage, "reasoning") ?? null,
  }
}

/** A reading of the clock that is no number says nothing about time. */
const monoOf = ({ mono_us: mono }: Event): number | null => (Number.isSafeInteger(mono) && mono >= 0 ? mono : null)

const roleOf = (type: string): StepRole | undefined => (isEventType(type) ? definitionOf(type).role : undefined)
