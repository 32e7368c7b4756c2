import { given, type KeptBodies, OrangeboxError, randomIds } from "@orangebox/contract"
import { findDataFolder } from "@orangebox/journal"
import { ActiveRecorder } from "./active-recorder.js"
import { keepingOf, openCapture } from "./capture/open-capture.js"
import { systemClock } from "./clock.js"
import { ignoredSettingsWarning } from "./config/untrusted-settings.js"
import { type FoundConfig, findConfig } from "./config-file.js"
import { EventBuilder } from "./event-builder.js"
import { watchForRequests } from "./faults/control-file.js"
import { sampleOf } from "./faults/kept-bodies.js"
import { snapshotFolderOf } from "./faults/snapshot-folder.js"
import { JournalSpool } from "./faults/spool.js"
import { JournalSink } from "./journal-sink.js"
import { checkOptions, optionError, type RecorderOptions } from "./options.js"
import type { Recorder } from "./recorder.js"
import type { AppFacts } from "./run-state.js"
import type { Sink } from "./sink.js"
import { readSurroundings } from "./surroundings.js"
import { openTaped, parentOfProcess, TAPE_VARIABLE } from "./taped.js"
import { RECORDER_VERSION } from "./version.js"
import { workspaceOf } from "./workspace-path.js"

/**
 * From options, configuration and environment to a recorder that is on; undefined where recording is off, and the recorder of a replay where
 * this process is answered from a tape. Its journal is ready before anything else.
 */
export function openRecorder(options: RecorderOptions): ActiveRecorder | Recorder | undefined {
  checkOptions(options)
  const cwd = options.cwd ?? process.cwd()
  const warn = options.onWarning ?? warnOnStderr
  if (options.enabled === false || isSwitchedOff(process.env["ORANGEBOX"])) return undefined
  const found = configFor(cwd, options, warn)
  if (found === "refused") return undefined
  const settings = { ...found?.config, ...given(options) }
  const app = settings.app
  if (app === undefined) throw optionError("app", undefined, "every recording needs the name of its application")
  if (settings.enabled === false) {
    const held = found?.files.find(({ kind, isTrusted }) => kind === "repository" && !isTrusted)
    if (held !== undefined) warn(offByRepository(held.path))
    return undefined
  }
  const tape = process.env[TAPE_VARIABLE]
  // What a sink is put through by its caller is a replay already; what is kept in memory is no run of a folder.
  if (tape !== undefined && options.through === undefined && options.sink === undefined) return openTaped(tape, options)
  const surroundings = readSurroundings(cwd, process.env)
  const environment = settings.environment ?? surroundings.environment
  let keeping: ReturnType<typeof keepingOf>
  try {
    keeping = keepingOf(settings, environment)
  } catch (error) {
    // What the caller asked for is the caller's mistake; what a file asked for must not end the application.
    if (options.capture !== undefined || isRelied(options) || !(error instanceof OrangeboxError)) throw error
    warn(recordingIsOff(error))
    return undefined
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
        journal: given(settings.journal ?? {}),
        onWarning: warn,
      })
  } catch (cause) {
    const error =
      cause instanceof OrangeboxError ? cause : new OrangeboxError("OPEN", { what: "recording cannot start", cause })
    if (keeping.audit === "required") throw error
    warn(recordingIsOff(error))
    return undefined
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
        ...given({
          repo: options.repo ?? surroundings.repo,
          branch: options.branch ?? surroundings.branch,
          commit: options.commit ?? surroundings.commit,
          isDirty: options.isDirty,
          agentId: options.agentId,
          agentVersion: options.agentVersion,
        }),
      },
    },
    sink.writerId ?? "memory",
    // Runs of one trace stand in one store.
    sink instanceof JournalSink ? parentOfProcess(process.env) : undefined,
  )
  if (options.onAny) active.builder.onAny(options.onAny)
  active.emitStarted()
  return active
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
  new OrangeboxError(error.code, {
    what: `recording is off: ${error.what}`,
    ...given({ where: error.where, next: error.next }),
    cause: error,
  })

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
