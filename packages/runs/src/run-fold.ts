import {
  amountIn,
  countIn,
  definitionOf,
  type Event,
  isEventType,
  type LoosePayload,
  payloadOf,
  type StepKind,
  type StepRole,
  textIn,
} from "@orangebox/contract"
import { processErrorIn } from "./crash.js"
import type { FoldedStep, StepStatus } from "./folded-step.js"
import { noFacts, type RunFacts } from "./run-facts.js"
import { soundEnvelope } from "./sound-envelope.js"
import { StepTree } from "./step-tree.js"
import { hasUsage, UsedTokens, usageIn } from "./token-counts.js"

/**
 * The one derivation of a run from its events: which steps there are, what number, parent, kind and status each has, and what the run
 * adds up to. It takes the run's own events one by one in the order of `sequence_no` (of two events with one number the one that arrived
 * first stands first), keeps no event, and can go on from rows of a store. `foldRun` is the same over a whole run.
 *
 * `Mark` is how the caller finds an event again: the event itself, or the key of its row.
 */
export class RunFold<Mark> {
  readonly facts: RunFacts
  readonly steps: StepTree<Mark>
  readonly #used: UsedTokens<Mark>
  readonly #changed: (step: FoldedStep<Mark>) => void

  constructor(options: FoldOptions<Mark> = {}, from?: FoldedSoFar<Mark>) {
    this.#changed = options.onChange ?? (() => {})
    this.facts = from?.facts ?? noFacts()
    this.steps = new StepTree(
      { lookUp: options.lookUp, onChange: this.#changed },
      from && { root: from.root, unfinished: from.unfinished, count: from.facts.steps },
    )
    this.#used = new UsedTokens(this.facts.tokens, this.#changed)
    this.facts.steps = this.steps.count
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
      if (event.event_type === "wire_derived") this.#takeDerived(event)
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
    const step = this.steps.stepOf(event, isOfRun(role), atMs)
    facts.steps = this.steps.count
    if (event.attempt_no !== undefined) step.saidAttempt ??= event.attempt_no
    if (step.opened === null) this.steps.place(step, event)
    if (role?.does === "opens") this.#open(step, event, role.step, mark, mono, atMs)
    else if (role?.does === "closes") this.#close(step, event, role.step, mark, mono, atMs)
    return step
  }

  /** What a call used, where its writer could not read it. */
  #takeDerived(event: Event): void {
    const step = event.step_id === null ? undefined : this.steps.find(event.step_id)
    if (step === undefined || step.kind !== "model" || step.closed === null || hasUsage(step.tokens)) return
    const payload = payloadOf(event)
    step.provider = textIn(payload, "provider") ?? step.provider
    step.name = textIn(payload, "model_id") ?? step.name
    step.tokens = usageIn(payload)
    step.serviceTier = textIn(payload, "service_tier") ?? null
    step.cacheWrite1h = countIn(payload, "cache_write_1h_tokens") ?? null
    this.#used.take(step)
    this.facts.tokens = this.#used.sum()
    this.#changed(step)
  }

  #open(step: FoldedStep<Mark>, event: Event, kind: StepKind, mark: Mark, mono: number | null, atMs: number): void {
    // A record that opens another kind of step is a broken one; it stays among the events and opens nothing.
    if (step.opened !== null || (step.kind !== "unknown" && step.kind !== kind)) return
    step.opened = mark
    step.openedUnder = event.parent_step_id
    // The first try of a call is recorded when a second one shows that it was a try: its opening tells nothing of when it began.
    step.openedMono = event.attributes?.["repeats_call"] === true ? null : mono
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
    if (step.closed !== null) step.durationMicros = elapsed(step) ?? step.durationMicros
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
    step.durationMicros = elapsed(step) ?? micros(payload, "latency_ms") ?? micros(payload, "total_latency_ms")
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
      this.#used.take(step)
      this.facts.tokens = this.#used.sum()
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

/** What the monotonic clock says went by between the two records. The recorder writes the same figure into the end as its latency. */
function elapsed({ openedMono, closedMono }: FoldedStep<unknown>): number | null {
  return openedMono !== null && closedMono !== null && closedMono >= openedMono ? closedMono - openedMono : null
}

/** What the end says it took, where one of the two records is missing. */
function micros(payload: LoosePayload, field: string): number | null {
  const micros = Math.round((amountIn(payload, field) ?? Number.NaN) * 1000)
  return Number.isSafeInteger(micros) ? micros : null
}

/** A reading of the clock that is no number says nothing about time. */
const monoOf = ({ mono_us: mono }: Event): number | null => (Number.isSafeInteger(mono) && mono >= 0 ? mono : null)

const roleOf = (type: string): StepRole | undefined => (isEventType(type) ? definitionOf(type).role : undefined)

const isOfRun = (role: StepRole | undefined): boolean => role !== undefined && "step" in role && role.step === "run"
