import { spawn } from "node:child_process"
import { basename } from "node:path"
import { given } from "@orangebox/contract"
import { type RecorderOptions, type Run, variablesForParent } from "@orangebox/recorder"
import {
  type Certification,
  type Fork,
  type JudgedRecording,
  type ReplayPolicy,
  replayRecorder,
  selfRecordedRuns,
  type Tape,
} from "@orangebox/replay"
import { type ExtraVariable, planVariables, variablesFor } from "./client-variables.js"
import { endOfCommand, endRunOf, notStarted } from "./command-process.js"
import { handOverTape } from "./hand-over-tape.js"
import { PipedStdout } from "./piped-stdout.js"
import { startProxy } from "./proxy.js"
import { hintsFor } from "./why-nothing.js"
import type { WorkspaceCopy } from "./workspace/copy-workspace.js"
import { ofNoRepository } from "./workspace/git.js"
import { type AskedCall, RecordedWorkspace, type WorkspaceWatch } from "./workspace/record-workspace.js"

export interface ReplayCommandOptions {
  readonly command: readonly [string, ...string[]]
  /** What the run tells as its input. Default: the command. */
  readonly input?: string
  readonly tape: Tape
  /** The recording the tape was made of. */
  readonly recording: JudgedRecording
  readonly policy?: Partial<ReplayPolicy>
  readonly fork?: Fork
  /** A copy of the recorded work tree to start it in. Default: here. */
  readonly copy?: Pick<WorkspaceCopy, "folder" | "seen" | "mounting">
  readonly env?: NodeJS.ProcessEnv
  readonly folder: string
  readonly app: string
  readonly recorder?: RecorderOptions
  readonly variables?: readonly ExtraVariable[]
  readonly upstreams?: Readonly<Record<string, string>>
  readonly stdio?: "inherit" | "pipe" | "ignore"
  /**
   * Whether changes of the git work tree it runs in are recorded. Every call then waits for a look; with `ends` there is one before the
   * command and one behind it. Default: no.
   */
  readonly workspace?: boolean | "ends"
  /** Awaited once, when the call that the fork is at has been asked and not been answered: the agent waits, and its files are quiet. */
  readonly atFork?: () => Promise<void>
  readonly onHint?: (hint: string) => void
  readonly onWarning?: (message: string) => void
}

export interface ReplayedCommand {
  readonly runId: string
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
  readonly certification: Certification
  /** Whether the command made the call that the fork is at. */
  readonly isForkReached: boolean
}

/**
 * Starts an agent again and answers its model calls from a tape. It is not a sandbox: what the command does besides calling models, it does.
 */
export async function replayCommand(options: ReplayCommandOptions): Promise<ReplayedCommand> {
  const env = options.env ?? process.env
  const [program] = options.command
  const warn = options.onWarning ?? (() => {})
  const plan = planVariables(env, options.variables, options.upstreams)
  const selfRecorded = selfRecordedRuns(options.recording.events)
  const replay = replayRecorder(options.tape, {
    ...options.recorder,
    app: options.app,
    folder: options.folder,
    covers: selfRecorded.size > 0 ? ["model", "tool", "retriever", "http"] : ["model", "http"],
    onWarning: (warning) => warn(warning.message),
    ...(options.policy ? { policy: options.policy } : {}),
    ...(options.fork ? { fork: options.fork } : {}),
  })
  const startRun = (): Run =>
    replay.recorder.startRun({
      entrypoint: basename(program),
      input: options.input ?? options.command.join(" "),
    })
  // Where the recorded run is the agent's own, so is the run it is now.
  const run = selfRecorded.has(options.tape.runId) ? undefined : startRun()
  const { copy } = options
  const workspace =
    options.workspace && run
      ? await RecordedWorkspace.open(run, copy?.folder ?? process.cwd(), copy?.seen.root)
      : undefined
  const held = workspace && options.workspace !== "ends" ? new HeldWatch(workspace) : undefined
  let failure: unknown
  let isAtFork = options.atFork !== undefined
  const beforeAnswer = async (isForkReached = replay.session.state.isForkReached): Promise<void> => {
    if (isAtFork && isForkReached) {
      isAtFork = false
      await options.atFork?.().catch((error: unknown) => {
        failure = error
        child.kill()
      })
    }
    await held?.release()
  }
  const proxy = await startProxy({
    recorder: replay.recorder,
    ...(run ? { run } : {}),
    upstreams: plan.upstreams,
    versioned: plan.versioned,
    replay,
    beforeAnswer: () => beforeAnswer(),
    forwardsMarked: selfRecorded.size > 0 && mayGoLive(options),
    ...(held ? { workspace: held } : {}),
    onWarning: (warning) => warn(warning.message),
  })
  for (const hint of hintsFor(options.command, env["HOME"])) options.onHint?.(hint)
  const handed =
    selfRecorded.size === 0
      ? undefined
      : await handOverTape({
          ...{
            tape: options.tape,
            sourceEvents: options.recording.events,
            data: options.folder,
            policy: options.policy ?? {},
          },
          ...given({ fork: options.fork?.request, key: options.recorder?.key && hexOf(options.recorder.key) }),
          asked: ({ stepId, isForkReached }) => {
            if (run) held?.asked({ stepId, place: run, isWaiting: () => true })
            return beforeAnswer(isForkReached)
          },
        })
  const set = variablesFor(plan, { origin: proxy.origin, token: proxy.token, folder: options.folder }, env)
  const [started, ...words] = copy?.mounting?.(options.command) ?? options.command
  const stdio = options.stdio ?? "inherit"
  const piped = stdio === "inherit" ? PipedStdout.open() : undefined
  const child = spawn(started, words, {
    cwd: copy?.folder,
    env: {
      ...environmentIn(copy?.seen.folder, env),
      ...set,
      ...handed?.variables,
      ...(handed && run ? variablesForParent(run.handoff()) : {}),
    },
    stdio: piped ? ["inherit", piped.commandEnd, "inherit"] : stdio,
  })
  const ended = await endOfCommand(child, piped)
  await proxy.close()
  await workspace?.finish()
  const results = handed?.results() ?? []
  handed?.close()
  // A command that opened no recorder has no run of its own to tell that in.
  const told = run ?? (results.length === 0 ? startRun() : undefined)
  if (told) endRunOf(told, ended)
  for (const result of results) replay.join(result)
  const certification = replay.certify(options.recording)
  replay.close()
  if (failure) throw failure
  if (ended.error) throw notStarted(program, ended.error)
  const { isForkReached } = replay.session.state
  const runId = told?.runId ?? results.flatMap(({ events }) => events).find(({ run_id }) => run_id !== null)!.run_id!
  return { runId, exitCode: ended.exitCode, signal: ended.signal, certification, isForkReached }
}

const mayGoLive = ({ fork, policy }: ReplayCommandOptions): boolean =>
  fork !== undefined || policy?.onMiss === "live" || policy?.onDrift === "fork"

const hexOf = (key: Uint8Array): string => Buffer.from(key).toString("hex")

/** In another folder the variables that lead back to this one would be wrong: shells read `PWD`, and git whatever a hook has set. */
const environmentIn = (folder: string | undefined, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  folder === undefined ? env : { ...ofNoRepository(env), PWD: folder }

/** Looks when the answer is known and not given yet, so that no look comes too late. */
class HeldWatch implements WorkspaceWatch {
  readonly #workspace: RecordedWorkspace
  readonly #calls: AskedCall[] = []

  constructor(workspace: RecordedWorkspace) {
    this.#workspace = workspace
  }

  toolStarted(stepId: string): void {
    this.#workspace.toolStarted(stepId)
  }

  toolEnded(stepId: string): void {
    this.#workspace.toolEnded(stepId)
  }

  asked(call: AskedCall): void {
    this.#calls.push(call)
  }

  release(): Promise<void> {
    for (const call of this.#calls.splice(0)) this.#workspace.asked(call)
    return this.#workspace.settled()
  }
}
