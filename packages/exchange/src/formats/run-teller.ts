import { derivedIds, type EventType, type Link, textHash } from "@orangebox/contract"
import type { ForeignBody, ForeignEvent, ForeignRun } from "@orangebox/recorder"

/** What every event of a foreign record says for itself. */
export interface Told {
  /** What this event is called within its run: its id follows from it. */
  readonly key: string
  readonly atMs: number
  readonly payload?: object
  readonly bodies?: readonly (ForeignBody | undefined)[]
  readonly summaries?: Readonly<Record<string, string>>
  readonly attributes?: Readonly<Record<string, unknown>>
  readonly links?: readonly Link[]
  readonly inferredBy?: string | undefined
}

export interface ToldRun {
  /** The format, as it stands in `source`: `import:codex`. */
  readonly source: string
  /** What the run is called in its format: its id follows from it and the time of its first event. */
  readonly name: string
  readonly startedAtMs: number
  /** Runs that belong together have the same. */
  readonly traceId: string
  readonly conversationId?: string | undefined
  /** The id of the run as a step, where the record has one. */
  readonly rootId?: string | undefined
  /** Events come in the order of a tree and not of a clock: each keeps the time it has. */
  readonly keepsTimes?: boolean | undefined
}

/** A step that was opened. */
export interface ToldStep {
  readonly id: string
  readonly parentId: string | null
  readonly kind: "run" | "step" | "model" | "tool"
  readonly name: string
  readonly openedAtMs: number
}

/**
 * Tells one run event by event: numbers them, derives their ids, keeps what is open. Pure: the same calls give the same events, and what was
 * told before never changes by what is told later, so a record that grows only ever adds events.
 */
export class RunTeller {
  readonly run: ForeignRun
  readonly root: ToldStep
  readonly startedAtMs: number
  isEnded = false
  readonly #emit: (event: ForeignEvent) => void
  readonly #scope: string
  /** Over the names of all events so far: an event has the same id only where everything before it was told alike. */
  #chain: string
  readonly #keepsTimes: boolean
  #sequenceNo = 0
  #steps = 0
  #lastMonoUs = 0

  constructor(run: ToldRun, emit: (event: ForeignEvent) => void) {
    this.#emit = emit
    this.#keepsTimes = run.keepsTimes === true
    this.#scope = `${run.source}\0${run.name}`
    this.#chain = this.#scope
    this.startedAtMs = run.startedAtMs
    this.run = {
      runId: derivedIds.run(run.startedAtMs, this.#scope),
      traceId: run.traceId,
      conversationId: run.conversationId === undefined ? undefined : run.conversationId.slice(0, 512) || undefined,
      source: run.source,
    }
    this.root = {
      id: run.rootId ?? derivedIds.step(this.#scope),
      parentId: null,
      kind: "run",
      name: run.name,
      openedAtMs: run.startedAtMs,
    }
  }

  /** How many events were told. */
  get told(): number {
    return this.#sequenceNo
  }

  get steps(): number {
    return this.#steps
  }

  /** The first event; everything else is told inside. */
  start(told: Told): void {
    this.#steps++
    this.#tell("run_started", this.root, told)
  }

  open(
    kind: Exclude<ToldStep["kind"], "run">,
    name: string,
    parent: ToldStep,
    told: Told & { readonly stepId?: string },
  ): ToldStep {
    const id = told.stepId ?? derivedIds.step(`${this.#scope}\0${told.key}`)
    const step: ToldStep = { id, parentId: parent.id, kind, name, openedAtMs: told.atMs }
    this.#steps++
    this.#tell(OPENERS[kind], step, told)
    return step
  }

  close(step: ToldStep, told: Told): void {
    this.#tell(CLOSERS[step.kind as keyof typeof CLOSERS], step, told)
  }

  within(type: EventType, step: ToldStep, told: Told): void {
    this.#tell(type, step, told)
  }

  /** The run ended well as far as anybody can say. */
  complete(told: Told): void {
    this.#end("run_completed", told, {
      status: "success",
      total_steps: this.#steps,
      total_latency_ms: this.#sinceStart(told.atMs),
    })
  }

  fail(told: Told & { readonly errorClass: string; readonly failedStepId?: string | null }): void {
    this.#end("run_failed", told, {
      status: "failed",
      failed_step_id: told.failedStepId ?? null,
      error_class: told.errorClass.slice(0, 512) || "Error",
      error_message_ref: null,
      total_steps: this.#steps,
      total_latency_ms: this.#sinceStart(told.atMs),
    })
  }

  #end(type: "run_completed" | "run_failed", told: Told, payload: object): void {
    if (this.isEnded) return
    this.isEnded = true
    this.#tell(type, this.root, { ...told, payload: { ...payload, ...told.payload } })
  }

  #sinceStart(atMs: number): number {
    return Math.max(0, atMs - this.startedAtMs)
  }

  #tell(type: EventType, step: ToldStep, told: Told): void {
    const { key, atMs, payload = {}, bodies, summaries, attributes, links, inferredBy } = told
    // A clock that was set back must not make a duration negative: time stands still until it has caught up.
    const sinceUs = Math.min(Number.MAX_SAFE_INTEGER, Math.round(this.#sinceStart(atMs) * 1000))
    const monoUs = this.#keepsTimes ? sinceUs : Math.max(this.#lastMonoUs, sinceUs)
    this.#lastMonoUs = monoUs
    const wallMs = this.startedAtMs + monoUs / 1000
    this.#chain = textHash(`${this.#chain}\0${type}\0${key}`)
    this.#emit({
      run: this.run,
      type,
      eventId: derivedIds.event(wallMs, this.#chain),
      sequenceNo: this.#sequenceNo++,
      at: { wallMs, monoUs },
      stepId: step.id,
      parentStepId: step.parentId,
      payload,
      bodies: bodies?.filter((body) => body !== undefined),
      summaries,
      attributes: attributes as ForeignEvent["attributes"],
      links,
      inferredBy,
    })
  }
}

const OPENERS = { step: "step_started", model: "model_called", tool: "tool_called" } as const
const CLOSERS = { step: "step_ended", model: "model_result", tool: "tool_result" } as const
