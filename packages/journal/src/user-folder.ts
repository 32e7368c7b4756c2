import { homedir } from "node:os"
import { join } from "node:path"

export type Environment = Readonly<Record<string, string | undefined>>

/** Where a user's own settings, decisions and key are kept: outside every data folder and repository. */
export function userFolder(env: Environment): string {
  const home = env["XDG_CONFIG_HOME"]
  return join(home === undefined || home === "" ? join(env["HOME"] || homedir(), ".config") : home, "orangebox")
}
