import { createHash } from "node:crypto"
import { closeSync, existsSync, openSync, readSync, statSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { findSources, type Source } from "./find-sources.js"
import { type ImportedSources, type ImportPlaces, importSources } from "./import-sources.js"

const LOOK_EVERY_MS = 1000
const PREFIX_BYTES = 4096

/**
 * Imports, and goes on importing whatever grows or comes new, until the signal. A file is read again when its size, its inode or its first
 * bytes changed; everything that began alike or lies beside it is read with it, because copies and sub-agents are only told apart together.
 */
export async function watchSources(
  paths: readonly string[],
  places: Omit<ImportPlaces, "nowMs">,
  signal: AbortSignal,
  onImported: (imported: ImportedSources, files: number) => void,
): Promise<void> {
  const known = new Map<string, string>()
  let wakeAt = 0
  while (!signal.aborted) {
    const { sources } = await findSources(paths)
    const changed = sources.filter((source) => known.get(source.path) !== stampOf(source.path))
    // A session ends by resting, which no change of its file tells.
    const isDue = performance.now() >= wakeAt
    if (changed.length > 0 || isDue) {
      wakeAt = performance.now() + REST_LOOK_MS
      const read = isDue ? sources : besides(sources, changed, known)
      for (const { path } of read) known.set(path, stampOf(path))
      const imported = await importSources(read, { ...places, nowMs: Date.now() })
      if (imported.events > 0) onImported(imported, read.length)
    }
    await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => {})
  }
}

const REST_LOOK_MS = 10 * 60_000

const besides = (
  sources: readonly Source[],
  changed: readonly Source[],
  known: ReadonlyMap<string, string>,
): Source[] => {
  // A rollout that is new may be a fork of any other.
  const isNewRollout = changed.some(({ format, path }) => format === "codex" && !known.has(path))
  const firstLines = new Set(changed.flatMap(({ firstLine }) => firstLine ?? []))
  const sessions = new Set(changed.map(({ format, session }) => `${format}\0${session}`))
  return sources.filter(
    ({ format, session, firstLine, path }) =>
      (isNewRollout && format === "codex") ||
      sessions.has(`${format}\0${session}`) ||
      (firstLine !== undefined && firstLines.has(firstLine)) ||
      changed.some((one) => one.path === path),
  )
}

/** Of a folder that is one record: the file that grows. */
const GROWING = ["index.jsonl", "events.jsonl"]

function stampOf(path: string): string {
  try {
    const isFolder = statSync(path).isDirectory()
    const growing = isFolder ? GROWING.map((name) => join(path, name)).find((one) => existsSync(one)) : path
    if (growing === undefined) return String(statSync(path).mtimeMs)
    const { ino, size, mtimeMs } = statSync(growing)
    const file = openSync(growing, "r")
    try {
      const head = Buffer.alloc(PREFIX_BYTES)
      const length = readSync(file, head, 0, PREFIX_BYTES, 0)
      return `${ino} ${size} ${mtimeMs} ${createHash("sha256").update(head.subarray(0, length)).digest("hex")}`
    } finally {
      closeSync(file)
    }
  } catch {
    return "gone"
  }
}
