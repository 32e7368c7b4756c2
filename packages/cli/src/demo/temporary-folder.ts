import { lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { livenessOf, type ProcessIdentity, thisProcess } from "@orangebox/journal"

/** A folder in the temporary directory with its owner on it: a later process can tell that the owner is gone. */
export interface TemporaryFolder {
  readonly path: string
  /** It stays for good. */
  keep(): void
  remove(): void
}

const PREFIX = "orangebox-demo-"
const OWNER = ".owner.json"

export function makeTemporaryFolder(what = ""): TemporaryFolder {
  const path = mkdtempSync(join(tmpdir(), `${PREFIX}${what}`))
  writeFileSync(join(path, OWNER), JSON.stringify(thisProcess()), { mode: 0o600 })
  return {
    path,
    keep: () => rmSync(join(path, OWNER), { force: true }),
    remove: () => rmSync(path, { recursive: true, force: true }),
  }
}

/** Nothing can clean up behind itself when it is killed outright, so the next demo does. Only folders whose maker is proven dead go. */
export function removeAbandonedFolders(): void {
  for (const name of readdirSync(tmpdir())) {
    const path = join(tmpdir(), name)
    if (name.startsWith(PREFIX) && isAbandoned(path)) rmSync(path, { recursive: true, force: true })
  }
}

function isAbandoned(path: string): boolean {
  try {
    if (!lstatSync(path).isDirectory() || lstatSync(path).uid !== process.geteuid?.()) return false
    const owner: unknown = JSON.parse(readFileSync(join(path, OWNER), "utf8"))
    return isIdentity(owner) && livenessOf(owner).state === "dead"
  } catch {
    // Not ours to judge: no owner, or not one we can read.
    return false
  }
}

function isIdentity(value: unknown): value is ProcessIdentity {
  return typeof value === "object" && value !== null && Number.isSafeInteger((value as Partial<ProcessIdentity>).pid)
}
