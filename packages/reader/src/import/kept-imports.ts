import { lstatSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { basename, join } from "node:path"
import type { KeptWindow } from "@orangebox/collector"
import { OrangeboxError } from "@orangebox/contract"
import { checkPrivateFile, ensurePrivateFolder, replacePrivateFile } from "@orangebox/journal"
import type { TraceReader, TraceStore } from "@orangebox/store"
import { openRunFile } from "../open/run-file.js"
import { takeRunFile } from "./take-run-file.js"

/**
 * Copies of the files that were imported. They are to imported runs what journals are to recorded ones: the second copy, should the database
 * be lost, kept for as long. What was pruned or redacted since does not come back, for the store itself remembers that.
 */
const IMPORTS = "imports"

interface KeptImport {
  readonly runId: string
  readonly folder: string
  /** Named as the file was. */
  readonly path: string
  readonly ageMs: number
}

export function keepImport(dataFolder: string, runId: string, path: string): void {
  const folder = join(dataFolder, IMPORTS, nameOf(runId))
  ensurePrivateFolder(join(dataFolder, IMPORTS))
  ensurePrivateFolder(folder)
  replacePrivateFile(join(folder, basename(path)), readFileSync(path))
}

/** Whether runs that were imported are not in the store, and a copy of them is. */
export async function areImportsMissing(store: TraceReader, dataFolder: string): Promise<boolean> {
  for (const { runId } of keptImports(dataFolder)) if ((await store.getRun(runId)) === undefined) return true
  return false
}

/** Takes what is missing once more, and lets go of copies that are old enough. */
export async function takeKeptImports(
  store: TraceStore,
  dataFolder: string,
  keep: KeptWindow,
  onWarning: (message: string) => void,
): Promise<void> {
  for (const kept of keptImports(dataFolder)) {
    const isThere = (await store.getRun(kept.runId)) !== undefined
    const isKept = isThere ? kept.ageMs < keep.ageMs : await takeAgain(store, kept, onWarning)
    if (!isKept) rmSync(kept.folder, { recursive: true, force: true })
  }
}

export function dropKeptImports(dataFolder: string): void {
  rmSync(join(dataFolder, IMPORTS), { recursive: true, force: true })
}

/** False where the run must not come back, or cannot. */
async function takeAgain(
  store: TraceStore,
  { path, runId }: KeptImport,
  onWarning: (message: string) => void,
): Promise<boolean> {
  try {
    checkPrivateFile(path)
    await takeRunFile(store, await openRunFile(path))
    return true
  } catch (error) {
    if (!(error instanceof OrangeboxError)) throw error
    // One that was pruned is not missed.
    if (error.code !== "RUN_IS_PRUNED")
      onWarning(`${runId} was imported, is not in the store, and cannot be taken again: ${error.what}`)
    return false
  }
}

function keptImports(dataFolder: string): readonly KeptImport[] {
  return namesIn(join(dataFolder, IMPORTS)).flatMap((name) => {
    const folder = join(dataFolder, IMPORTS, name)
    const [file] = namesIn(folder).filter((found) => lstatSync(join(folder, found)).isFile())
    if (file === undefined) return []
    const path = join(folder, file)
    return [{ runId: decodeURIComponent(name), folder, path, ageMs: Date.now() - lstatSync(path).mtimeMs }]
  })
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    // Nothing was imported.
    return []
  }
}

/** An id as the name of a folder, whatever it consists of. */
const nameOf = (runId: string): string => encodeURIComponent(runId).replaceAll(".", "%2E")
