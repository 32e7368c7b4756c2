import { execFile } from "node:child_process"
import { createInterface } from "node:readline/promises"
import { InputError } from "@orangebox/contract"
import {
  type FoundSources,
  findSources,
  type ImportPlaces,
  importSources,
  usualPlaces,
  watchSources,
} from "@orangebox/exchange"
import { openDataFolder } from "@orangebox/journal"
import { catchUpStore, dataPath, inWords } from "@orangebox/reader"
import { Recorder } from "@orangebox/recorder"
import { safeJson } from "@orangebox/text"
import { EXIT, type ExitCode } from "../exit-code.js"
import { lookUpIn } from "../known-runs.js"
import { ownBin } from "../own-bin.js"
import type { GlobalOptions, Session } from "../session.js"
import { whileNotInterrupted } from "../while-not-interrupted.js"
import { foundText, importedJson, importedText } from "./format-imported.js"

export interface ImportOptions {
  readonly dryRun?: boolean
  readonly watch?: boolean
  readonly yes?: boolean
}

/** Transcripts, trajectories and traces that other programs recorded, into the journal and from there into the store. */
export async function importTold(
  session: Session,
  options: ImportOptions & GlobalOptions,
  paths: readonly string[],
): Promise<ExitCode> {
  const { terminal } = session
  const places = paths.length > 0 ? paths : usualPlaces(process.env)
  terminal.progress.update(0, undefined, "looking")
  const found = await findSources(places)
  terminal.progress.clear()
  if (found.sources.length === 0) throw nothingFound(found, paths, places)
  for (const { path, reason } of paths.length > 0 ? found.others.slice(0, 20) : [])
    terminal.say(`orangebox: ${path} is left out: ${reason}`)
  if (paths.length === 0 && !options.dryRun && !(await isWanted(session, options, found))) return EXIT.badInput
  return options.watch ? watchThem(session, options, places) : importThem(session, options, found)
}

async function importThem(
  session: Session,
  options: ImportOptions & GlobalOptions,
  found: FoundSources,
): Promise<ExitCode> {
  const { terminal } = session
  const imported = await withImport(session, options, (into) =>
    importSources(found.sources, { ...into, nowMs: Date.now(), onProgress: terminal.progress.update }),
  )
  terminal.progress.clear()
  const told = { ...imported, files: found.sources.length, isDryRun: options.dryRun === true }
  if (!options.json)
    for (const { path, line, reason } of imported.problems)
      terminal.say(`orangebox: ${path}${line === undefined ? "" : `:${line}`}: ${reason}`)
  terminal.out(options.json ? safeJson(importedJson(told), 2) : importedText(told, options))
  return EXIT.fine
}

async function watchThem(
  session: Session,
  options: ImportOptions & GlobalOptions,
  paths: readonly string[],
): Promise<ExitCode> {
  const { terminal } = session
  if (options.dryRun)
    throw new InputError("USAGE", { what: "--watch and --dry-run exclude each other", next: "Choose one" })
  if (!options.json) terminal.say("watching; stop with Ctrl-C")
  await withImport(session, options, (into) =>
    whileNotInterrupted((signal) =>
      watchSources(paths, into, signal, (imported, files) => {
        const told = { ...imported, files, isDryRun: false }
        terminal.out(options.json ? safeJson(importedJson(told)) : importedText(told, options))
      }),
    ),
  )
  return EXIT.fine
}

/** Opens what an import writes to and asks, and closes it. */
async function withImport<T>(
  { terminal }: Session,
  options: ImportOptions & GlobalOptions,
  work: (into: Omit<ImportPlaces, "nowMs">) => Promise<T>,
): Promise<T> {
  const onWarning = (message: string): void => terminal.say(`orangebox: ${inWords(message)}`)
  const path = dataPath(options.data)
  if (options.dryRun) return work({ recorder: undefined, lookUp: lookUpIn(`${path}/store`) })
  const folder = openDataFolder(path)
  const collectHere = async (): Promise<void> => void (await catchUpStore(folder.path, { onWarning }))
  await collectHere()
  const recorder = Recorder.open({
    app: "orangebox-import",
    folder: folder.path,
    enabled: true,
    onWarning: ({ message }) => onWarning(message),
  })
  if (!recorder.isRecording) {
    throw new InputError("RECORDING_OFF", {
      what: "recording is switched off here, so nothing can be imported",
      next: "Unset ORANGEBOX, or set enabled in your configuration",
    })
  }
  try {
    return await work({
      recorder,
      lookUp: lookUpIn(folder.storeFolder),
      collect: () => collectElsewhere(folder.path),
    })
  } finally {
    recorder.close()
    await collectHere()
  }
}

/**
 * In a process of its own, beside the reading: indexing what was read takes as long as reading it. What goes wrong there is told by the pass at
 * the end, which is made here.
 */
function collectElsewhere(dataFolder: string): Promise<void> {
  return new Promise((done) => {
    execFile(process.execPath, [ownBin(), "collect", "--data", dataFolder], () => done())
  })
}

/** Nobody's history is read without being asked for, unless it was named. */
async function isWanted(
  { terminal, stdin }: Session,
  options: ImportOptions & GlobalOptions,
  found: FoundSources,
): Promise<boolean> {
  terminal.say(foundText(found))
  if (options.yes) return true
  if (!(stdin as { isTTY?: boolean }).isTTY) {
    terminal.say("nothing was imported: say yes with --yes, or name what to import")
    return false
  }
  const asking = createInterface({ input: stdin, output: process.stderr })
  try {
    return /^y(?:es)?$/i.test((await asking.question("Import all of it? [y/N] ")).trim())
  } finally {
    asking.close()
  }
}

function nothingFound(found: FoundSources, paths: readonly string[], places: readonly string[]): InputError {
  const [first] = found.others
  if (paths.length > 0) {
    return new InputError("CANNOT_IMPORT", {
      what: first === undefined ? "there is nothing to import" : first.reason,
      where: first?.path ?? paths.join(", "),
      next: "Formats: Claude Code and Codex transcripts, raw bodies, ATIF, orca-trace, and files of orangebox export",
    })
  }
  return new InputError("CANNOT_IMPORT", {
    what:
      places.length === 0 ? "no transcripts of Claude Code or Codex are on this machine" : "no transcripts were found",
    ...(places.length === 0 ? {} : { where: places.join(", ") }),
    next: "Name a file or a folder: orangebox import PATH",
  })
}
