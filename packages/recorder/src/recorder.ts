import { threadId } from "node:worker_threads"
import { type Event, type KeptBodies, OrangeboxError, randomIds, type SourceDiagnostics } from "@orangebox/contract"
import { findDataFolder } from "@orangebox/journal"
import { BodiesOfEvent } from "./bodies-of-event.js"
import { keepingOf, openCapture } from "./capture/open-capture.js"
import { systemClock } from "./clock.js"
import { ignoredSettingsWarning } from "./config/untrusted-settings.js"
import { type FoundConfig, findConfig } from "./config-file.js"
import { describeError } from "./described-error.js"
import { EventBuilder } from "./event-builder.js"
import { contextOutsideRuns } from "./event-record.js"
import { watchForRequests } from "./faults/control-file.js"
import { sampleOf } from "./faults/kept-bodies.js"
import { leaveRun } from "./faults/leave-run.js"
import { snapshotFolderOf } from "./faults/snapshot-folder.js"
import { JournalSpool } from "./faults/spool.js"
import { JournalSink } from "./journal-sink.js"
import { type LogAttributes, type Logger, type LogPlace, RecordingLogger } from "./logger.js"
import { callOfRequest } from "./model-step.js"
import { isNowhere, OFF_LOGGER, OFF_RUN } from "./off.js"
import { checkOptions, optionError, type RecorderOptions } from "./options.js"
import { type Goodbye, onProcessEnd } from "./process-lifecycle.js"
import type { Run, StartRun } from "./run.js"
import { openRun } from "./run-handle.js"
import type { AppFacts } from "./run-state.js"
import type { Sink } from "./sink.js"
import type { Handoff, SourceScope, Step } from "./step.js"
import { readSurroundings } from "./surroundings.js"
import { openTaped, parentOfProcess, TAPE_VARIABLE } from "./taped.js"
import { RECORDER_VERSION } from "./version.js"
import { type Fetch, recordingFetch } from "./wire/fetch-edge.js"
import { workspaceOf } from "./workspace-path.js"

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
    checkOptions(options)
    const cwd = options.cwd ?? process.cwd()
    const warn = options.onWarning ?? warnOnStderr
    if (options.enabled === false || isSwitchedOff(process.env["ORANGEBOX"])) return Recorder.off()
    const found = configFor(cwd, options, warn)
    if (found === "refused") return Recorder.off()
    const settings = { ...found?.config, ...definedOf(options) }
    const app = settings.app
    if (app === undefined) throw optionError("app", undefined, "every recording needs the name of its application")
    if (settings.enabled === false) {
      const held = found?.files.find(({ kind, isTrusted }) => kind === "repository" && !isTrusted)
      if (held !== undefined) warn(offByRepository(held.path))
      return Recorder.off()
    }
    const tape = process.env[TAPE_VARIABLE]
    // What a sink is put through by its caller is a replay already; what is kept in memory is no run of a folder.
    if (tape !== undefined && options.through === undefined && options.sink === undefined)
      return openTaped(tape, options)
    const surroundings = readSurroundings(cwd, process.env)
    const environment = settings.environment ?? surroundings.environment
    let keeping: ReturnType<typeof keepingOf>
    try {
      keeping = keepingOf(settings, environment)
    } catch (error) {
      // What the caller asked for is the caller's mistake; what a file asked for must not end the application.
      if (options.capture !== undefined || isRelied(options) || !(error instanceof OrangeboxError)) throw error
      warn(recordingIsOff(error))
      return Recorder.off()
    }
    const ignored = found && ignoredSettingsWarning(found.path, found.ignored)
    if (ignored !== undefined) warn(new OrangeboxError("UNTRUSTED_CONFIG", { what: ignored, where: found!.path }))
    let sink: Sink & { readonly writerId?: string; readonly storeKey?: Uint8Array }
    try {
      sink =
        options.sink ??
        new JournalSink({
          folder: options.folder ?? findDataFolder({ cwd }),
          appId: app,
          recorderVersion: RECORDER_VERSION,
          journal: definedOf(settings.journal ?? {}),
          onWarning: warn,
        })
    } catch (cause) {
      const error =
        cause instanceof OrangeboxError ? cause : new OrangeboxError("OPEN", { what: "recording cannot start", cause })
      if (keeping.audit === "required") throw error
      warn(recordingIsOff(error))
      return Recorder.off()
    }

    const warnOnce = once(warn)
    const active = new ActiveRecorder(
      new EventBuilder({
        sink: options.through?.(sink) ?? sink,
        capture: openCapture(keeping, settings.redaction, options.key ?? sink.storeKey, app),
        now: options.now ?? systemClock,
        newId: options.newId ?? randomIds(),
        strict: settings.strict ?? false,
        sources: new Map(Object.entries(settings.sources ?? {})),
        warn: warnOnce,
      }),
      {
        appId: app,
        keeping,
        guards: options.guard === undefined ? [] : [options.guard],
        classify: options.classify,
        workspace: workspaceOf(cwd, surroundings.root),
        takeSample: sampler(keeping.bodies),
        openRuns: new Set(),
        ...(sink instanceof JournalSink ? edgesOf(sink.dataFolder, app, cwd) : {}),
        defaults: {
          environment,
          ...defined("repo", options.repo ?? surroundings.repo),
          ...defined("branch", options.branch ?? surroundings.branch),
          ...defined("commit", options.commit ?? surroundings.commit),
          ...defined("isDirty", options.isDirty),
          ...defined("agentId", options.agentId),
          ...defined("agentVersion", options.agentVersion),
        },
      },
      sink.writerId ?? "memory",
      // Runs of one trace stand in one store.
      sink instanceof JournalSink ? parentOfProcess(process.env) : undefined,
    )
    if (options.onAny) active.builder.onAny(options.onAny)
    active.emitStarted()
    return new Recorder(app, active)
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

class ActiveRecorder {
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

/** Says yes once in N times. */
function sampler(bodies: KeptBodies): () => boolean {
  const every = sampleOf(bodies)
  if (every === undefined) return () => false
  let count = 0
  return () => ++count % every === 0
}

function edgesOf(
  dataFolder: string,
  appId: string,
  cwd: string,
): Pick<AppFacts, "openSpool" | "takeSnapshotRequest" | "snapshotFolder"> {
  return {
    snapshotFolder: snapshotFolderOf(dataFolder, cwd),
    openSpool: () => new JournalSpool({ dataFolder, appId, recorderVersion: RECORDER_VERSION }),
    takeSnapshotRequest: watchForRequests(dataFolder, () => performance.now()),
  }
}

/**
 * A configuration is a file that others may have written, and one that cannot be used must not end the application. Nothing is recorded
 * under it either: what it would have masked is not known. Only a caller that relies on the recording hears of it as an error.
 */
function configFor(
  cwd: string,
  options: RecorderOptions,
  warn: (warning: OrangeboxError) => void,
): FoundConfig | undefined | "refused" {
  try {
    return findConfig(cwd)
  } catch (error) {
    if (isRelied(options) || !(error instanceof OrangeboxError)) throw error
    warn(recordingIsOff(error))
    return "refused"
  }
}

const isRelied = ({ audit, profile }: RecorderOptions): boolean =>
  (audit ?? (profile === "audit" ? "required" : "best_effort")) === "required"

const recordingIsOff = (error: OrangeboxError): OrangeboxError =>
  new OrangeboxError(error.code, { what: `recording is off: ${error.what}`, ...placeOf(error), cause: error })

const offByRepository = (path: string): OrangeboxError =>
  new OrangeboxError("OFF_BY_REPOSITORY", {
    what: "recording is off: the repository's configuration says so, and you have not agreed to it",
    where: path,
    next: 'Record all the same with "enabled": true in your own configuration',
  })

function isSwitchedOff(value: string | undefined): boolean {
  return value === "off" || value === "0" || value === "false"
}

function warnOnStderr(warning: OrangeboxError): void {
  process.stderr.write(`orangebox: ${warning.message}\n`)
}

/** A loop that makes one mistake a thousand times hears of it once. */
function once(warn: (warning: OrangeboxError) => void): (warning: OrangeboxError) => void {
  const told = new Set<string>()
  return (warning) => {
    if (told.has(warning.what) || told.size >= MOST_WARNINGS) return
    told.add(warning.what)
    try {
      warn(warning)
    } catch {
      // A listener must not stop the agent.
    }
  }
}

const MOST_WARNINGS = 100

function placeOf(error: OrangeboxError): { where?: string; next?: string } {
  return { ...defined("where", error.where), ...defined("next", error.next) }
}

function defined<K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } {
  return value === undefined ? {} : ({ [key]: value } as { [P in K]?: V })
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> }

function definedOf<T extends object>(options: T): Defined<T> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Defined<T>
}
