import { existsSync } from "node:fs"
import { join } from "node:path"
import { ownBin } from "../own-bin.js"

/** How a client that is started in this project starts us: by the project's own installation where it has one, else by this one. Neither asks a registry. */
export function startCommand(folder: string): string[] {
  const isInstalled = existsSync(join(folder, "node_modules", ".bin", "orangebox"))
  return isInstalled ? ["npx", "--no", "orangebox", "mcp"] : ["node", ownBin(), "mcp"]
}
