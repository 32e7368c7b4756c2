import type { Event, SystemError } from "@orangebox/contract"
import type { Moment } from "./clock.js"
import { type EventContext, type RunEnvelope, runContext } from "./event-record.js"
import type { Run, StartRun } from "./run.js"
import type { Scribe } from "./scribe.js"
import type { ModelCall, ModelStep, ToolCall, ToolStep } from "./step.js"
import type { StepHandle } from "./step-handle.js"

/** What all handles of one run share. */
export class RunState {
  readonly scribe: Scribe
  readonly app: AppFacts
  readonly startedAt: Moment
  readonly base: RunEnvelope
  readonly context: EventContext
  stepCount = 0
  endedBy: Event["event_type"] | undefined
  #nextSequenceNo = 0
  #stopped: SystemError | undefined
  readonly #abort = new AbortController()

  readonly make: HandleMakers

  constructor(parts: Pick<RunState, "scribe" | "app" | "base" | "startedAt" | "make">) {
    this.scribe = parts.scribe
    this.app = parts.app
    this.base = parts.base
    this.context = runContext(parts.base)
    this.startedAt = parts.startedAt
    this.make = parts.make
  }

  takeSequenceNo(): number {
    return this.#nextSequenceNo++
  }

  get signal(): AbortSignal {
    return this.#abort.signal
  }

  /** After a failed commit nothing may go on: every later model, tool and fetch call throws first. */
  stop(error: SystemError): void {
    if (this.#stopped) return
    this.#stopped = error
    this.#abort.abort(error)
  }

  assertMayGoOn(): void {
    if (this.#stopped) throw this.#stopped
  }
}

/** Opens handles of the other kinds; given in, so that a step need not know how they are made. */
export interface HandleMakers {
  run(source: string, options: StartRun): Run
  model(parent: StepHandle, call: ModelCall, attemptNo: number | undefined): ModelStep
  tool(parent: StepHandle, call: ToolCall): ToolStep
}

/** What a run needs to know about the application it belongs to. */
export interface AppFacts {
  readonly appId: string
  readonly defaults: {
    readonly agentId?: string
    readonly agentVersion?: string
    readonly environment: "local" | "ci" | "staging" | "prod" | "unknown"
    readonly repo?: string
    readonly branch?: string
  }
}
