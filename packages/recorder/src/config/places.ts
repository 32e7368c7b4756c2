import { join, resolve } from "node:path"
import { type Environment, userFolder } from "@orangebox/journal"

export type { Environment }

/** Where a user's own settings and decisions are kept. */
export interface ConfigPlaces {
  readonly user: string
  /** `ORANGEBOX_CONFIG` names it, so it has to be there. */
  readonly isUserNamed: boolean
  readonly trust: string
}

export function configPlaces(env: Environment): ConfigPlaces {
  const folder = userFolder(env)
  const named = env["ORANGEBOX_CONFIG"]
  const isUserNamed = named !== undefined && named !== ""
  return {
    user: isUserNamed ? resolve(named) : join(folder, "config.json"),
    isUserNamed,
    trust: join(folder, "trust.json"),
  }
}
