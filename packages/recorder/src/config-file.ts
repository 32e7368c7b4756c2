import { readFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { Config, OrangeboxError } from "@orangebox/contract"

export const CONFIG_FILE = "orangebox.config.json"

export interface FoundConfig {
  readonly path: string
  readonly config: Config
}

/** The nearest `orangebox.config.json` at or above a folder. */
export function findConfig(cwd: string): FoundConfig | undefined {
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    const path = join(folder, CONFIG_FILE)
    const text = readIfThere(path)
    if (text !== undefined) return { path, config: parseConfig(text, path) }
    if (folder === dirname(folder)) return undefined
  }
}

export function parseConfig(text: string, path: string): Config {
  let raw: unknown
  try {
    raw = JSON.parse(text)
  } catch (cause) {
    throw new OrangeboxError("CONFIG", {
      what: `the configuration is not valid JSON: ${cause instanceof Error ? cause.message : String(cause)}`,
      where: path,
      next: "Correct the file or remove it",
      cause,
    })
  }
  const result = Config.safeParse(raw)
  if (result.success) return result.data
  const issue = result.error.issues[0]!
  const field = issue.path.join(".")
  const detail =
    issue.code === "unrecognized_keys"
      ? `there is no option ${issue.keys.map((key) => `"${key}"`).join(", ")}`
      : issue.message
  throw new OrangeboxError("CONFIG", {
    what: field === "" ? detail : `${field}: ${detail}`,
    where: path,
    next: `Options are: ${Object.keys(Config.shape).join(", ")}`,
  })
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8")
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
