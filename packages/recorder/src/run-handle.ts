import { isUtf8 } from "node:buffer"
import { type Constraint, type PayloadProblem, summarizeText } from "@orangebox/contract"
import { maskKeyId } from "@orangebox/redaction"
import { BodiesOfEvent } from "./bodies-of-event.js"
import { cutAtWord } from "./cut-at-word.js"
import { describeError } from "./described-error.js"
import type { EventBuilder } from "./event-builder.js"
import { summaryOf } from "./lifecycle-events.js"
import type { LogAttributes } from "./logger.js"
import { openModelStep } from "./model-step.js"
import type { Run, RunCompletion, RunFailure, StartRun, WrittenOutput } from "./run.js"
import { type AppFacts, RunState } from "./run-state.js"
import { safeStringify } from "./safe-stringify.js"
import type { Step, StepOptions, StepOutcome } from "./step.js"
import { StepHandle } from "./step-handle.js"
import { openToolStep } from "./tool-step.js"

export function openRun(builder: EventBuilder, app: AppFacts, source: string, options: StartRun): Run {
  const startedAt = builder.now()
  const { parent } = options
  const { conversationId, problems } = conversationOf(options)
  const state = new RunState({
    builder,
    app,
    startedAt,
    guards: options.guard === undefined ? app.guards : [...app.guards, options.guard],
    base: {
      trace_id: parent?.traceId ?? builder.newId.trace(),
      run_id: builder.newId.run(startedAt.wallMs),
      actor_type: "sdk",
      determinism_mode: "live",
    },
    conversationId,
    make: {
      run: (childSource, childOptions) => openRun(builder, app, childSource, childOptions),
      model: openModelStep,
      tool: openToolStep,
    },
  })
  const run = new RunHandle(state, source)
  state.root = run
  if (state.detectsFaults) app.openRuns.add(state)
  run.emitStarted(options, problems)
  return run
}

/** Every event of the run repeats the conversation, so it must be a text whatever was passed. */
function conversationOf(options: StartRun): { conversationId?: string; problems?: readonly PayloadProblem[] } {
  const given: unknown = options.conversationId ?? options.parent?.conversationId
  if (given === undefined || given === null) return {}
  if (typeof given === "string" && given !== "" && given.length <= LONGEST_CONVERSATION_ID)
    return { conversationId: given }
  return {
    conversationId: cutAtWord(safeStringify(given), LONGEST_CONVERSATION_ID),
    problems: [
      { code: "invalid", field: "conversation_id", reason: "is not a text of 1 to 512 characters; its JSON is kept" },
    ],
  }
}

const LONGEST_CONVERSATION_ID = 512

class RunHandle extends StepHandle implements Run {
  constructor(run: RunState, source: string) {
    run.stepCount++
    super(
      run,
      {
        id: run.builder.newId.step(),
        parentId: null,
        parent: undefined,
        attemptNo: undefined,
        openedAt: run.startedAt,
        isOpened: false,
        endedAt: undefined,
        keepsBodies: run.app.keeping.bodies === "always",
        lastEndedChild: undefined,
        isEnded: false,
      },
      source,
    )
  }

  emitStarted(options: StartRun, problems: readonly PayloadProblem[] | undefined): void {
    const { builder, app } = this.run
    const { bodies, audit } = app.keeping
    const added = new BodiesOfEvent(builder, "run_started")
    const input = added.add("input_summary", options.input)
    const { parent } = options
    this.emit(
      "run_started",
      {
        app_id: app.appId,
        environment: options.environment ?? app.defaults.environment,
        entrypoint_name: options.entrypoint,
        user_session_ref: typeof options.userSession === "string" ? builder.capture.keyed(options.userSession) : null,
        input_summary: input ? (summaryOf("text", () => summarizeText(input.text())).text ?? null) : null,
        input_summary_ref: input?.hash,
        agent_id: options.agentId ?? app.defaults.agentId,
        agent_version: options.agentVersion ?? app.defaults.agentVersion,
        request_id: options.requestId,
        constraints: options.constraints as Constraint[] | undefined,
        channel: options.channel,
        repo: options.repo ?? app.defaults.repo,
        branch: options.branch ?? app.defaults.branch,
        commit: options.commit ?? app.defaults.commit,
        is_dirty: options.isDirty ?? app.defaults.isDirty,
        ticket_id: options.ticket,
        capture_mode: builder.capture.mode,
        kept_bodies: bodies === "always" ? undefined : bodies,
        audit: audit === "required" ? audit : undefined,
      },
      {
        attributes: options.attributes,
        ...added.extras(),
        problems,
        links: parent && [
          { kind: "spawned_by", trace_id: parent.traceId, run_id: parent.runId, step_id: parent.stepId },
        ],
      },
    )
  }

  step(name: string, attributes?: LogAttributes, options?: StepOptions): Step {
    return this.child(name, attributes, options)
  }

  complete(end: RunCompletion = {}): void {
    if (this.state.isEnded) return
    // A run that was stopped has failed, whatever the application makes of it.
    if (this.run.stopped) {
      this.fail(this.run.stopped)
      return
    }
    this.keepSample()
    if (end.output !== undefined) {
      this.finalOutput({
        value: end.output,
        ...(end.citations === undefined ? {} : { citations: end.citations }),
        ...(end.channel === undefined ? {} : { channel: end.channel }),
      })
    }
    if (!this.close()) return
    const bodies = new BodiesOfEvent(this.run.builder, "run_completed")
    this.emitClose(
      "run_completed",
      {
        status: "success",
        total_steps: this.run.stepCount,
        total_latency_ms: this.endedAfterMs(),
        ...(end.exitCode === undefined ? {} : { exit_code: end.exitCode }),
        ...this.#written(bodies, end.stdout),
      },
      bodies.extras(),
    )
    this.run.end("run_completed")
  }

  fail(err: unknown, end: RunFailure = {}): void {
    if (this.state.isEnded) return
    if (this.run.detectsFaults)
      this.fault({
        trigger: "system_error",
        detail: describeError(err, (text) => summarizeText(this.capture.searched(text))).summary,
      })
    if (!this.close()) return
    const bodies = new BodiesOfEvent(this.run.builder, "run_failed")
    const error = describeError(err, this.summarize)
    this.emitClose(
      "run_failed",
      {
        status: "failed",
        failed_step_id: end.failedStep?.id ?? null,
        error_class: error.errorClass,
        error_message_ref: bodies.ref("error_message", error.chain)!,
        error_summary: error.summary,
        ...(end.exitCode === undefined ? {} : { exit_code: end.exitCode }),
        ...(end.signal === undefined ? {} : { signal: end.signal }),
        ...this.#written(bodies, end.stdout),
        total_steps: this.run.stepCount,
        total_latency_ms: this.endedAfterMs(),
      },
      bodies,
    )
    this.run.end("run_failed")
  }

  /** A digest of what is not kept could be tried out with guesses, so it is keyed; two of other keys cannot be compared. */
  #written(bodies: BodiesOfEvent, stdout: WrittenOutput | undefined) {
    if (stdout === undefined) return {}
    const { byteSize, sha256, bytes } = stdout
    const { capture } = this.run.builder
    if (bytes === undefined)
      return { stdout_bytes: byteSize, stdout_digest: `${maskKeyId(capture.key)}:${capture.keyed(sha256)}` }
    const mimeType = isUtf8(bytes) ? "text/plain" : "application/octet-stream"
    return { stdout_bytes: byteSize, stdout_ref: bodies.refAs("stdout", bytes, mimeType) }
  }

  /** A run ends by completing or failing; as a plain step it does whichever its outcome says. */
  override end(outcome: StepOutcome = {}): void {
    if (outcome.err === undefined) this.complete(outcome.body === undefined ? {} : { output: outcome.body })
    else this.fail(outcome.err)
  }
}
