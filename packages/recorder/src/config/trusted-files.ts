import { createHash } from "node:crypto"
import { lstatSync, mkdirSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import { OrangeboxError } from "@orangebox/contract"

/**
 * Which files of repositories a user has looked at and agreed to: the file's place and the SHA-256 of what it said. After a
 * change the user has to agree anew.
 */
export interface TrustEntry {
  readonly path: string
  readonly sha256: string
  readonly trustedAt: string
}

export function isTrusted(listPath: string, path: string, text: string): boolean {
  const place = placeOf(path)
  const digest = digestOf(text)
  return readTrust(listPath).some((entry) => entry.path === place && entry.sha256 === digest)
}

/** Nothing where there is no list, and where another user could have written it. */
export function readTrust(listPath: string): TrustEntry[] {
  let text: string
  try {
    if (!isOwn(listPath)) return []
    text = readFileSync(listPath, "utf8")
  } catch {
    return []
  }
  try {
    const { trusted }: { trusted?: unknown } = JSON.parse(text)
    return Array.isArray(trusted) ? trusted.flatMap(entryOf) : []
  } catch {
    // What cannot be read allows nothing; the next decision writes it anew.
    return []
  }
}

function entryOf(value: unknown): TrustEntry[] {
  const { path, sha256, trusted_at: trustedAt } = Object(value) as Record<string, unknown>
  return typeof path === "string" && typeof sha256 === "string" && typeof trustedAt === "string"
    ? [{ path, sha256, trustedAt }]
    : []
}

export function trustFile(listPath: string, path: string, text: string, now: Date): TrustEntry {
  const entry = { path: placeOf(path), sha256: digestOf(text), trustedAt: now.toISOString() }
  writeTrust(listPath, [...readTrust(listPath).filter((other) => other.path !== entry.path), entry])
  return entry
}

/** Whether there was anything to take back. */
export function revokeTrust(listPath: string, path: string): boolean {
  const place = placeOf(path)
  const before = readTrust(listPath)
  const after = before.filter((entry) => entry.path !== place)
  if (after.length === before.length) return false
  writeTrust(listPath, after)
  return true
}

export function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex")
}

/** The file itself, whatever links lead to it; a file that is gone keeps the name it had. */
function placeOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

function isOwn(listPath: string): boolean {
  if (process.platform === "win32") return true
  const found = lstatSync(listPath)
  return (
    found.isFile() && (process.geteuid === undefined || found.uid === process.geteuid()) && (found.mode & 0o022) === 0
  )
}

function writeTrust(listPath: string, entries: readonly TrustEntry[]): void {
  const trusted = entries.map(({ path, sha256, trustedAt }) => ({ path, sha256, trusted_at: trustedAt }))
  const draft = `${listPath}.${process.pid}.new`
  try {
    mkdirSync(dirname(listPath), { recursive: true, mode: 0o700 })
    rmSync(draft, { force: true })
    writeFileSync(draft, `${JSON.stringify({ version: 1, trusted }, null, 2)}\n`, { mode: 0o600, flag: "wx" })
    renameSync(draft, listPath)
  } catch (cause) {
    rmSync(draft, { force: true })
    throw new OrangeboxError("TRUST_BOOK", {
      what: `the decision cannot be written (${(cause as NodeJS.ErrnoException).code})`,
      where: listPath,
      next: "Make the folder writable, or name another with XDG_CONFIG_HOME",
      cause,
    })
  }
}
