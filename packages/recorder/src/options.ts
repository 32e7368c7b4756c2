import { Config, type Environment, type Event, type IdSource, OrangeboxError } from "@orangebox/contract"
import type { Classify } from "./classify.js"
import type { Now } from "./clock.js"
import type { Guard } from "./guard.js"
import type { Sink } from "./sink.js"

/** What `Recorder.open` takes. Everything but `app` has a default; `orangebox.config.json` may set the rest. */
export interface RecorderOptions {
  /** Name of the application. */
  readonly app?: string
  /** Data folder. Default: `ORANGEBOX_HOME`, else the nearest `.orangebox` upwards, else `./.orangebox`. */
  readonly folder?: string
  readonly enabled?: boolean
  readonly profile?: NonNullable<Config["profile"]>
  readonly capture?: NonNullable<Config["capture"]>
  /** Needed beside `capture: "full"` wherever the environment is not `local`. */
  readonly allowFull?: boolean
  /** Which bodies are kept when nothing goes wrong. */
  readonly bodies?: NonNullable<Config["bodies"]>
  /** Whether a commit that fails stops the run, and whether `open` may go on without a journal. */
  readonly audit?: NonNullable<Config["audit"]>
  /** Redaction rules beside the built-in ones. */
  readonly redaction?: NonNullable<Config["redaction"]>
  /** Throw on an event that breaks the contract, instead of recording it with its problems. */
  readonly strict?: boolean
  readonly journal?: NonNullable<Config["journal"]>
  /** Minimum level and sampling of logs per source; `*` stands for all others. */
  readonly sources?: NonNullable<Config["sources"]>
  readonly agentId?: string
  readonly agentVersion?: string
  readonly environment?: Environment
  readonly repo?: string
  readonly branch?: string
  /** The commit of the code that runs. Default: what is checked out in `cwd`, or what the build says. */
  readonly commit?: string
  /** Whether its files differ from that commit. */
  readonly isDirty?: boolean
  /** Where to look for configuration, git and the data folder. */
  readonly cwd?: string
  /** Told once when recording has trouble. Default: one line on stderr. */
  readonly onWarning?: (warning: OrangeboxError) => void
  readonly onAny?: (event: Event) => void
  /** Asked before every model and tool call of every run; may warn or block. */
  readonly guard?: Guard
  /** Says what of a tool call outlives its text, where its arguments are not kept: `classifier` of `@orangebox/decisions`. */
  readonly classify?: Classify

  /** Stands between the recorder and where records go: a replay marks and matches there. */
  readonly through?: (sink: Sink) => Sink
  /** For tests: where records go, what time it is, what ids are made of. */
  readonly sink?: Sink
  readonly now?: Now
  readonly newId?: IdSource
  /** Keys masks and digests; without it the store's own key. */
  readonly key?: Uint8Array
}

const KNOWN: Record<keyof RecorderOptions, true> = {
  app: true,
  folder: true,
  enabled: true,
  profile: true,
  capture: true,
  allowFull: true,
  bodies: true,
  audit: true,
  redaction: true,
  strict: true,
  journal: true,
  sources: true,
  agentId: true,
  agentVersion: true,
  environment: true,
  repo: true,
  branch: true,
  commit: true,
  isDirty: true,
  cwd: true,
  onWarning: true,
  onAny: true,
  guard: true,
  classify: true,
  through: true,
  sink: true,
  now: true,
  newId: true,
  key: true,
}

const IN_CONFIG = [
  "app",
  "enabled",
  "profile",
  "capture",
  "allowFull",
  "bodies",
  "audit",
  "environment",
  "redaction",
  "strict",
  "journal",
  "sources",
] as const

/** Wrong options are a programming error: they are named at `open`, with the value and the remedy. */
export function checkOptions(options: RecorderOptions): void {
  if (typeof options !== "object" || options === null) throw optionError("options", options, "is not an object")
  for (const name of Object.keys(options)) {
    if (!Object.hasOwn(KNOWN, name)) throw unknownOption(name)
  }
  const shared = Object.fromEntries(
    IN_CONFIG.filter((name) => options[name] !== undefined).map((name) => [name, options[name]]),
  )
  const result = Config.safeParse(shared)
  if (!result.success) {
    const issue = result.error.issues[0]!
    if (issue.code === "unrecognized_keys") throw unknownOption([...issue.path, issue.keys[0]].join("."))
    const path = issue.path.map(String)
    throw optionError(path.join("."), valueAt(options, path), issue.message)
  }
  for (const name of ["folder", "cwd", "agentId", "agentVersion", "repo", "branch", "commit"] as const) {
    const value: unknown = options[name]
    if (value !== undefined && (typeof value !== "string" || value === ""))
      throw optionError(name, value, "must be a text")
  }
  const isDirty: unknown = options.isDirty
  if (isDirty !== undefined && typeof isDirty !== "boolean")
    throw optionError("isDirty", isDirty, "must be true or false")
  for (const name of ["onWarning", "onAny", "guard", "classify", "through", "now"] as const) {
    const value: unknown = options[name]
    if (value !== undefined && typeof value !== "function") throw optionError(name, value, "must be a function")
  }
}

function unknownOption(name: string): OrangeboxError {
  return new OrangeboxError("OPTION", {
    what: `there is no option "${name}"`,
    where: "Recorder.open",
    next: `Options are: ${Object.keys(KNOWN).join(", ")}`,
  })
}

export function optionError(name: string, value: unknown, reason: string): OrangeboxError {
  return new OrangeboxError("OPTION", {
    what: `option ${name} is ${show(value)}: ${reason}`,
    where: "Recorder.open",
    next: "Correct the option or leave it out",
  })
}

function show(value: unknown): string {
  try {
    return (JSON.stringify(value) ?? String(value)).slice(0, 200)
  } catch {
    return typeof value
  }
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((inner, key) => (inner as Record<string, unknown> | undefined)?.[key], value)
}
