import { homedir } from "node:os"
import { join, resolve } from "node:path"

export type Environment = Readonly<Record<string, string | undefined>>

/** Where a user's own settings and decisions are kept. */
export interface ConfigPlaces {
  readonly user: string
  /** `ORANGEBOX_CONFIG` names it, so it has to be there. */
  readonly isUserNamed: boolean
  readonly trust: string
}

export function configPlaces(env: Environment): ConfigPlaces {
  const home = env["XDG_CONFIG_HOME"]
  const folder = join(home === undefined || home === "" ? join(env["HOME"] || homedir(), ".config") : home, "orangebox")
  const named = env["ORANGEBOX_CONFIG"]
  const isUserNamed = named !== undefined && named !== ""
  return {
    user: isUserNamed ? resolve(named) : join(folder, "config.json"),
    isUserNamed,
    trust: join(folder, "trust.json"),
  }
}
