import { dirname, join, resolve } from "node:path"
import { Config, OrangeboxError, whyNotJson } from "@orangebox/contract"
import { readUserRules } from "@orangebox/redaction"
import { mergeConfigs } from "./config/merge-configs.js"
import { type ConfigPlaces, configPlaces, type Environment } from "./config/places.js"
import { isTrusted } from "./config/trusted-files.js"
import { type IgnoredSetting, withoutUnsafeSettings } from "./config/untrusted-settings.js"
import { readSmallFile } from "./small-file.js"

export const CONFIG_FILE = "orangebox.config.json"

/** The configuration that holds in a folder, and what it is made of. */
export interface FoundConfig {
  /** The repository's file; the user's where there is no other. */
  readonly path: string
  /** What is in effect: the repository's settings over the user's, without those that need trust. */
  readonly config: Config
  /** Settings of the repository's file that take no effect until the user trusts it. */
  readonly ignored: readonly IgnoredSetting[]
  readonly files: readonly ConfigSource[]
}

export interface ConfigSource {
  readonly path: string
  readonly kind: "user" | "repository"
  readonly isTrusted: boolean
}

/**
 * The configuration for a folder: the user's own file, and over it the nearest `orangebox.config.json` at or above the folder. A file that
 * came with a repository may ask for more care than the user does; what would send data elsewhere, start commands or keep more than the
 * user agreed to waits for `orangebox trust`.
 */
export function findConfig(cwd: string, env: Environment = process.env): FoundConfig | undefined {
  const places = configPlaces(env)
  const user = readUserConfig(places)
  const repository = readRepositoryConfig(cwd)
  if (repository === undefined) {
    return user && { path: user.path, config: user.config, ignored: [], files: [sourceOf(user.path, "user", true)] }
  }
  const trusted = isTrusted(places.trust, repository.path, repository.text)
  const { config, ignored } = trusted
    ? { config: repository.config, ignored: [] }
    : withoutUnsafeSettings(repository.config, user?.config)
  return {
    path: repository.path,
    config: user === undefined ? config : mergeConfigs(user.config, config),
    ignored,
    files: [
      ...(user === undefined ? [] : [sourceOf(user.path, "user", true)]),
      sourceOf(repository.path, "repository", trusted),
    ],
  }
}

interface ReadConfig {
  readonly path: string
  readonly text: string
  readonly config: Config
}

/** The nearest `orangebox.config.json` at or above a folder, as it stands there. */
export function readRepositoryConfig(cwd: string): ReadConfig | undefined {
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    const path = join(folder, CONFIG_FILE)
    const text = readConfigText(path)
    if (text !== undefined) return { path, text, config: parseConfig(text, path) }
    if (folder === dirname(folder)) return undefined
  }
}

export function readUserConfig({ user, isUserNamed }: ConfigPlaces): ReadConfig | undefined {
  const text = readConfigText(user)
  if (text !== undefined) return { path: user, text, config: parseConfig(text, user) }
  if (!isUserNamed) return undefined
  throw new OrangeboxError("CONFIG", {
    what: "ORANGEBOX_CONFIG names a file that is not there",
    where: user,
    next: "Correct the variable or unset it",
  })
}

const sourceOf = (path: string, kind: ConfigSource["kind"], isTrusted: boolean): ConfigSource => ({
  path,
  kind,
  isTrusted,
})

function parseConfig(text: string, path: string): Config {
  let raw: unknown
  try {
    raw = JSON.parse(text)
  } catch (cause) {
    throw new OrangeboxError("CONFIG", {
      what: `the configuration is not valid JSON: ${whyNotJson(text)}`,
      where: path,
      next: "Correct the file or remove it",
      cause,
    })
  }
  const result = Config.safeParse(raw)
  if (!result.success) throw schemaError(result.error.issues[0]!, path)
  checkRules(result.data, path)
  return result.data
}

type Issue = NonNullable<ReturnType<typeof Config.safeParse>["error"]>["issues"][number]

function schemaError(issue: Issue, path: string): OrangeboxError {
  const field = issue.path.join(".")
  const detail =
    issue.code === "unrecognized_keys"
      ? `there is no option ${issue.keys.map((key) => `"${key}"`).join(", ")}`
      : issue.message
  return new OrangeboxError("CONFIG", {
    what: field === "" ? detail : `${field}: ${detail}`,
    where: path,
    next: `Options are: ${Object.keys(Config.shape).join(", ")}`,
  })
}

/** Here, where it is still known which file a rule stands in. */
function checkRules({ redaction = {} }: Config, path: string): void {
  const { problems } = readUserRules(redaction)
  if (problems.length === 0) return
  const list = problems.map(({ at, reason }) => `redaction.${at} ${reason}`)
  throw new OrangeboxError("REDACTION_RULES", {
    what: `${list.length === 1 ? "a redaction rule" : `${list.length} redaction rules`} cannot be used: ${list.join("; ")}`,
    where: path,
    next: "Correct the rule or remove it; nothing is recorded under rules that may not hold",
  })
}

/** More than anybody writes. */
const MOST_CONFIG_BYTES = 2 ** 20

/** The text of a configuration; undefined where there is none. */
function readConfigText(path: string): string | undefined {
  try {
    return readSmallFile(path, MOST_CONFIG_BYTES)
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code === "ENOENT" || code === "ENOTDIR") return undefined
    throw new OrangeboxError("CONFIG", {
      what: `the configuration cannot be read (${code})`,
      where: path,
      next: "Make it a readable file or remove it",
      cause: error,
    })
  }
}
