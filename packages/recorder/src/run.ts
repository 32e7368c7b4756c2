import type { Constraint, Environment } from "@orangebox/contract"
import type { Guard } from "./guard.js"
import type { LogAttributes } from "./logger.js"
import type { Handoff, Step, StepOptions } from "./step.js"

export interface StartRun {
  readonly entrypoint: string
  /** What the run was asked. Kept as a body; its beginning stands inline. */
  readonly input?: unknown
  readonly conversationId?: string
  readonly agentId?: string
  readonly agentVersion?: string
  readonly environment?: Environment
  readonly requestId?: string
  readonly userSession?: string
  readonly constraints?: readonly Constraint[]
  readonly channel?: string
  readonly repo?: string
  readonly branch?: string
  /** The commit of the code that runs, and whether its files differ from it. */
  readonly commit?: string
  readonly isDirty?: boolean
  readonly ticket?: string
  readonly attributes?: LogAttributes
  /** The step, in this or another process, that asked for this run. */
  readonly parent?: Handoff
  /** Asked before every model and tool call of this run, after the recorder's own. */
  readonly guard?: Guard
}

/** One execution from input to terminal event. It is its own root step, and the only writer of its sequence. */
export interface Run extends Step {
  /**
   * Opens a step of the run. The caller that opens it ends it.
   *
   * ```ts
   * const plan = run.step("plan", { attempt: 1 })
   * plan.end()
   * ```
   */
  step(name: string, attributes?: LogAttributes, options?: StepOptions): Step
  /** The run reached its end. With an output, that is recorded first. */
  complete(end?: RunCompletion): void
  /** The run ended with an error, and which step it came from, where that is known. */
  fail(err: unknown, end?: RunFailure): void
}

export interface RunCompletion {
  readonly output?: unknown
  readonly citations?: unknown
  readonly channel?: string
  /** Of the command, where the run is one. */
  readonly exitCode?: number
  readonly stdout?: WrittenOutput
}

/** What a command wrote, to its end. */
export interface WrittenOutput {
  readonly byteSize: number
  readonly sha256: string
  /** All of it; undefined where it is more than is kept. */
  readonly bytes?: Uint8Array | undefined
}

export interface RunFailure {
  readonly failedStep?: { readonly id: string }
  /** How the command ended, where the run is one. */
  readonly exitCode?: number
  readonly signal?: string
  readonly stdout?: WrittenOutput
}
