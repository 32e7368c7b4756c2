import { readFileSync } from "node:fs"

/** Of this command, as its package says. */
export function versionOf(): string {
  const manifest = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { version: string }
  return manifest.version
}
