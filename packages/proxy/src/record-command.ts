import { spawn } from "node:child_process"
import { basename } from "node:path"
import { type CaptureMode, newProxyToken } from "@orangebox/contract"
import { type RecorderOptions, variablesForParent } from "@orangebox/recorder"
import { type ExtraVariable, type PlannedVariable, planVariables, variablesFor } from "./client-variables.js"
import { endOfCommand, notStarted } from "./command-process.js"
import type { ProxyLimits } from "./limits.js"
import { PipedStdout } from "./piped-stdout.js"
import type { ProxyStats } from "./proxy-stats.js"
import { ProxySupervisor } from "./proxy-supervisor.js"
import { hintsFor, whyNothing } from "./why-nothing.js"

export interface RecordCommandOptions {
  readonly command: readonly [string, ...string[]]
  readonly cwd?: string
  readonly env?: NodeJS.ProcessEnv
  /** The data folder. Default: found from the working folder upwards. */
  readonly folder?: string
  /** The application's name on the run. Default: the command's. */
  readonly app?: string
  /** Further variables that hold a base URL. */
  readonly variables?: readonly ExtraVariable[]
  /** Where a vendor's calls go that no variable leads elsewhere. */
  readonly upstreams?: Readonly<Record<string, string>>
  /** What is kept; without it the configuration has the word. */
  readonly profile?: NonNullable<RecorderOptions["profile"]>
  readonly capture?: CaptureMode
  readonly allowFull?: boolean
  /** False leaves changes of the git work tree unrecorded. */
  readonly workspace?: boolean
  /**
   * The address of a module whose `classifyIn(cwd, dataFolder)` makes the recorder's `classify`. Its address, because the recording has a
   * process of its own.
   */
  readonly classifier?: string
  /** Default: any free one. */
  readonly port?: number
  /** The secret part of the address; random by default. */
  readonly token?: string
  readonly limits?: Partial<ProxyLimits>
  /** Certificates to trust for the upstreams, beside the system's own, as a PEM file. */
  readonly caFile?: string
  readonly stdio?: "inherit" | "pipe" | "ignore"
  /** Told once the command runs, before it can have called anything. */
  readonly onStart?: (started: StartedCommand) => void
  readonly onWarning?: (message: string) => void
}

export interface StartedCommand {
  readonly origin: string
  readonly variables: Readonly<Record<string, string>>
  /** What a user of this very command should know beforehand. */
  readonly hints: readonly string[]
  readonly pid: number | undefined
  readonly proxyPid: number | undefined
}

/** What is known at the end, for one screen. */
export interface CommandVerdict {
  /** The run, and behind it those of proxies that had to be started again. */
  readonly runIds: readonly string[]
  readonly durationMs: number
  readonly stats: ProxyStats
  /** Records that could not be written. */
  readonly lost: number
  readonly restarts: number
  readonly variables: readonly (PlannedVariable & { readonly url: string })[]
  /** Why there is nothing to show; null when there is. */
  readonly nothingBecause: string | null
}

/**
 * Runs a command with its model traffic led through a recording proxy. The command has the terminal, the signals and the exit code to itself.
 *
 * @example
 * const { exitCode, verdict } = await recordCommand({ command: ["claude", "-p", "fix the date test"] })
 */
export async function recordCommand(
  options: RecordCommandOptions,
): Promise<{ exitCode: number | null; signal: NodeJS.Signals | null; verdict: CommandVerdict }> {
  const env = options.env ?? process.env
  const cwd = options.cwd ?? process.cwd()
  const [program, ...args] = options.command
  const plan = planVariables(env, options.variables, options.upstreams)
  const onWarning = options.onWarning ?? ((message: string) => void process.stderr.write(`orangebox: ${message}\n`))
  for (const { name, why } of plan.skipped) onWarning(`${name} ${why}; it is left as it is`)

  const token = options.token ?? newProxyToken()
  const name = basename(program)
  const supervisor = new ProxySupervisor(
    {
      app: options.app ?? name,
      cwd,
      folder: options.folder,
      upstreams: plan.upstreams,
      versioned: plan.versioned,
      port: options.port ?? 0,
      token,
      limits: options.limits ?? {},
      caFile: options.caFile,
      profile: options.profile,
      capture: options.capture,
      allowFull: options.allowFull,
      workspace: options.workspace ?? true,
      classifier: options.classifier,
      run: { entrypoint: name, input: options.command.join(" "), parent: undefined },
    },
    onWarning,
  )
  const startedAt = performance.now()
  const stdio = options.stdio ?? "inherit"
  const piped = stdio === "inherit" ? PipedStdout.open() : undefined
  const { port, run } = await supervisor.start(piped).catch((error: unknown) => {
    piped?.close()
    throw error
  })
  const origin = `http://127.0.0.1:${port}`
  const set = {
    ...variablesFor(plan, { origin, token, folder: options.folder }, env),
    // Runs that the command records itself are part of this one, where they stand in the same store.
    ...(run ? variablesForParent(run) : {}),
  }

  const child = spawn(program, args, {
    cwd,
    env: { ...env, ...set },
    stdio: piped ? ["inherit", piped.commandEnd, "inherit"] : stdio,
  })
  const ended = endOfCommand(child, piped)
  if (child.pid !== undefined) supervisor.commandStarted(child.pid)
  options.onStart?.({
    origin,
    variables: set,
    hints: hintsFor(options.command, env["HOME"]),
    pid: child.pid,
    proxyPid: supervisor.pid,
  })

  const { exitCode, signal, error, stdout } = await ended
  const facts = await supervisor.finish({ exitCode: error ? NOT_FOUND : exitCode, signal, stdout })
  if (error) throw notStarted(program, error)
  const verdict: CommandVerdict = {
    runIds: facts.runIds,
    durationMs: performance.now() - startedAt,
    stats: facts.stats,
    lost: facts.lost,
    restarts: facts.restarts,
    variables: plan.variables.map((variable) => ({ ...variable, url: set[variable.name] ?? "" })),
    nothingBecause: whyNothing(options.command, name, facts, plan.variables),
  }
  return { exitCode, signal, verdict }
}

/** What shells say for a command they cannot find. */
const NOT_FOUND = 127
