import type { Event, SourceDiagnostics } from "@orangebox/contract"
import { ActiveRecorder } from "./active-recorder.js"
import type { EventBuilder } from "./event-builder.js"
import type { Logger } from "./logger.js"
import { OFF_LOGGER, OFF_RUN } from "./off.js"
import { openRecorder } from "./open-recorder.js"
import type { RecorderOptions } from "./options.js"
import type { Run, StartRun } from "./run.js"
import type { SourceScope } from "./step.js"
import type { Fetch } from "./wire/fetch-edge.js"

/** A named part of the application: what its runs and logs give as their source. */
export interface Scope extends SourceScope {
  readonly log: Logger
  startRun(options: StartRun): Run
  /** Says what the source knows about its own steps. Whoever investigates this source is told, and nobody else. The last word counts. */
  diagnostics(told: SourceDiagnostics): void
}

/** What builds the records of a recorder, for the other edges of this package; undefined with recording off. */
export let builderOf: (recorder: Recorder) => EventBuilder | undefined

/**
 * The way in.
 *
 * ```ts
 * const recorder = Recorder.open({ app: "fixer" })
 * const run = recorder.startRun({ entrypoint: "fix-issue", input: request })
 * const text = await run.tool({ name: "read_file", args: { path } }, () => readFile(path, "utf8"))
 * run.complete({ output: text })
 * ```
 */
export class Recorder implements Scope {
  readonly source: string
  readonly #active: ActiveRecorder | undefined

  static {
    builderOf = (recorder) => recorder.#active?.builder
  }

  private constructor(source: string, active: ActiveRecorder | undefined) {
    this.source = source
    this.#active = active
  }

  /**
   * Opens the journal before anything else, so that the first event already has a place.
   *
   * ```ts
   * const audited = Recorder.open({ app: "fixer", profile: "audit", agentVersion: "1.4.0" })
   * ```
   */
  static open(options: RecorderOptions = {}): Recorder {
    const opened = openRecorder(options)
    if (opened === undefined) return Recorder.off()
    return opened instanceof ActiveRecorder ? new Recorder(opened.appId, opened) : opened
  }

  /** A recorder that records nothing: every handle works, every tool runs. */
  static off(): Recorder {
    return new Recorder("off", undefined)
  }

  get isRecording(): boolean {
    return this.#active !== undefined
  }

  /** For what belongs to no run. Inside a run, use the log of a step. */
  get log(): Logger {
    return this.#active?.logFor(this.source) ?? OFF_LOGGER
  }

  /**
   * Opens a run: one execution from input to its end. End it with `complete` or `fail`; a run left open says that its process died.
   *
   * ```ts
   * const run = recorder.startRun({ entrypoint: "fix-issue", input: "issue 41", conversationId: "thread-7" })
   * try {
   *   run.complete({ output: await answer(run) })
   * } catch (error) {
   *   run.fail(error)
   * }
   * ```
   */
  startRun(options: StartRun): Run {
    return this.#active?.startRun(this.source, options) ?? OFF_RUN
  }

  /**
   * A handle that speaks as another source, for a plugin or a module: the source stands on its events, and the plugin cannot set it.
   *
   * ```ts
   * const billing = recorder.scope("billing")
   * billing.log.info("invoice sent", { invoice: 17 })
   * ```
   */
  scope(name: string): Scope {
    const active = this.#active
    if (!active) return { source: name, log: OFF_LOGGER, startRun: () => OFF_RUN, diagnostics: () => {} }
    return Object.freeze({
      source: name,
      log: active.logFor(name),
      startRun: (options: StartRun) => active.startRun(name, options),
      diagnostics: (told: SourceDiagnostics) => active.tellDiagnostics(name, told),
    })
  }

  /**
   * Notes and rules of the application itself, for whoever investigates it.
   *
   * ```ts
   * recorder.scope("billing").diagnostics({
   *   notes: ["An invoice is sent once for an order; the mail server may ask twice."],
   *   detectors: [
   *     {
   *       id: "invoice_twice",
   *       says: "an order was invoiced twice",
   *       severity: "harm",
   *       of: { kind: "invoice", status: "success" },
   *       count: { by: ["order_id"], more_than: 1 },
   *     },
   *   ],
   * })
   * ```
   */
  diagnostics(told: SourceDiagnostics): void {
    this.#active?.tellDiagnostics(this.source, told)
  }

  /**
   * A `fetch` for a client that is made once and used everywhere. Requests made through `step.model(call, (send) => …)` are told apart by
   * the header in `send`, or where that is not handed on, by their prompt; what belongs to no call is recorded as a run of its own.
   *
   * ```ts
   * const reply = await recorder.fetch("http://localhost:4000/v1/messages", { method: "POST", body: JSON.stringify(request) })
   * ```
   */
  get fetch(): Fetch {
    return this.#active?.fetchFor(this.source) ?? globalThis.fetch
  }

  /** One privileged listener that sees every record and cannot affect any. Returns a function that removes it. */
  onAny(listener: (event: Event) => void): () => void {
    return this.#active?.builder.onAny(listener) ?? (() => {})
  }

  /** What was written and what had to be dropped so far. */
  counts(): { readonly written: number; readonly dropped: number } {
    return this.#active?.builder.sink.counts() ?? { written: 0, dropped: 0 }
  }

  /** Says goodbye. Not needed for durability: whatever was recorded is in the journal already. */
  close(): void {
    this.#active?.close({ exitCode: null, reason: "closed", thrown: undefined })
  }
}
