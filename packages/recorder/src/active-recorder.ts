import { threadId } from "node:worker_threads"
import type { SourceDiagnostics } from "@orangebox/contract"
import { BodiesOfEvent } from "./bodies-of-event.js"
import { describeError } from "./described-error.js"
import type { EventBuilder } from "./event-builder.js"
import { contextOutsideRuns } from "./event-record.js"
import { leaveRun } from "./faults/leave-run.js"
import { type LogAttributes, type Logger, type LogPlace, RecordingLogger } from "./logger.js"
import { callOfRequest } from "./model-step.js"
import { isNowhere } from "./off.js"
import { type Goodbye, onProcessEnd } from "./process-lifecycle.js"
import type { Run, StartRun } from "./run.js"
import { openRun } from "./run-handle.js"
import type { AppFacts } from "./run-state.js"
import type { Handoff, Step } from "./step.js"
import { RECORDER_VERSION } from "./version.js"
import { type Fetch, recordingFetch } from "./wire/fetch-edge.js"

/** A recorder that is on: what it opens runs with, and what the process says of itself. */
export class ActiveRecorder {
  readonly builder: EventBuilder
  readonly #app: AppFacts
  readonly #writerId: string
  readonly #forgetProcessEnd: () => void
  /** Who started this process, where that is recorded: its runs are part of that one. */
  readonly #parent: Handoff | undefined
  #isClosed = false

  constructor(builder: EventBuilder, app: AppFacts, writerId: string, parent: Handoff | undefined) {
    this.builder = builder
    this.#parent = parent
    this.#app = app
    this.#writerId = writerId
    this.#forgetProcessEnd = onProcessEnd((goodbye) => this.close(goodbye))
  }

  get appId(): string {
    return this.#app.appId
  }

  startRun(source: string, options: StartRun): Run {
    const { parent = this.#parent, ...rest } = options
    return openRun(
      this.builder,
      this.#app,
      source,
      parent === undefined || isNowhere(parent) ? rest : { ...rest, parent },
    )
  }

  logFor(source: string): Logger {
    const context = contextOutsideRuns(this.builder.capture.chosenName(source))
    const place: LogPlace = {
      source,
      emitLog: (payload, extras) => this.builder.emit(context, "log", null, payload, extras),
      // A step with no run around it is a run.
      openStep: (name, attributes, body): Step => this.startRun(source, spanAsRun(name, attributes, body)),
    }
    return new RecordingLogger(this.builder, place)
  }

  tellDiagnostics(source: string, told: SourceDiagnostics): void {
    const bodies = new BodiesOfEvent(this.builder, "source_diagnostics")
    const [notes, detectors] = [told?.notes, told?.detectors].map((list) => (Array.isArray(list) ? list : []))
    this.builder.emit(
      contextOutsideRuns(this.builder.capture.chosenName(source)),
      "source_diagnostics",
      null,
      {
        note_count: notes!.length,
        detector_count: detectors!.length,
        diagnostics_ref: bodies.ref("diagnostics", { notes, detectors })!,
      },
      bodies.extras(),
    )
  }

  fetchFor(source: string): Fetch {
    this.builder.correlatesByHeader = true
    return recordingFetch(
      (request, body) => {
        const call = callOfRequest(this.builder.openCalls, request, body)
        if (call !== undefined) return call.wireTarget()
        const { host, pathname } = new URL(request.url)
        // Where no content is kept, a path is content.
        const where = this.builder.capture.mode === "hashed" ? host : pathname
        const run = this.startRun(source, { entrypoint: `${request.method} ${where}` })
        return { step: run, onEnd: (error) => (error === undefined ? run.complete() : run.fail(error)) }
      },
      () => globalThis.fetch,
    )
  }

  emitStarted(): void {
    this.builder.emit(contextOutsideRuns(this.#app.appId), "process_started", null, {
      writer_id: this.#writerId,
      app_id: this.#app.appId,
      pid: process.pid,
      thread_id: threadId,
      runtime: `node ${process.versions.node}`,
      recorder_version: RECORDER_VERSION,
      capture_mode: this.builder.capture.mode,
    })
  }

  close(goodbye: Goodbye): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#forgetProcessEnd()
    const { exitCode, reason, thrown } = goodbye
    for (const run of this.#app.openRuns) leaveRun(run, goodbye)
    const bodies = new BodiesOfEvent(this.builder, "process_exited")
    const error = thrown && describeError(thrown.error, this.builder.summarize)
    const { written, dropped } = this.builder.sink.counts()
    this.builder.emit(
      contextOutsideRuns(this.#app.appId),
      "process_exited",
      null,
      {
        writer_id: this.#writerId,
        exit_code: exitCode,
        reason,
        error_class: error?.errorClass,
        error_summary: error?.summary,
        error_ref: error && bodies.ref("error", error.chain),
        error_origin: thrown?.origin,
        records_written: written,
        records_dropped: dropped,
        logs_sampled_out: this.builder.logsSampledOut,
      },
      bodies.extras(),
    )
    try {
      this.builder.sink.close({ exitCode, reason })
    } catch {
      // The goodbye is a courtesy; a process must not fail on its way out because of it.
    }
  }
}

function spanAsRun(name: string, attributes: LogAttributes | undefined, body: unknown): StartRun {
  return {
    entrypoint: name,
    ...(attributes === undefined ? {} : { attributes }),
    ...(body === undefined ? {} : { input: body }),
  }
}
