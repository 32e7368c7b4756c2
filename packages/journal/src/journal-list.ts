import { closeSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { OrangeboxError } from "@orangebox/contract"
import { failureCode, type JournalFs, realFs } from "./journal-fs.js"
import { committedName, linesName, parseLinesName, reserveName, sidecarName } from "./journal-name.js"
import type { Gap, ProcessLine } from "./line-format.js"
import { createPrivateFile } from "./private-file.js"
import { tailJournal } from "./reader.js"

/** One journal file as it lies in the folder. */
export interface JournalFile {
  readonly path: string
  readonly writerId: string
  readonly fileNo: number
  /** The writer has opened a later file, so nothing more is appended to this one. */
  readonly isRotated: boolean
  readonly byteSize: number
  readonly sidecarPath: string
  /** Zero where no body was large enough for a sidecar. */
  readonly sidecarByteSize: number
  readonly isCommitted: boolean
  readonly reservePath: string
}

/** All journal files of a folder: writers in the order they started, each writer's files in the order they were written. */
export function listJournals(folder: string): JournalFile[] {
  return listWith(realFs, folder)
}

export function listWith(fs: JournalFs, folder: string): JournalFile[] {
  const names = new Set(readNames(fs, folder))
  const found = [...names].map(parseLinesName).filter((name) => name !== undefined)
  const lastFileNo = new Map<string, number>()
  for (const { stem, fileNo } of found) lastFileNo.set(stem, Math.max(fileNo, lastFileNo.get(stem) ?? 0))
  return found
    .sort((a, b) => (a.stem < b.stem ? -1 : a.stem > b.stem ? 1 : a.fileNo - b.fileNo))
    .map(({ stem, writerId, fileNo }) => {
      const path = join(folder, linesName(stem, fileNo))
      const sidecar = sidecarName(stem, fileNo)
      return {
        path,
        writerId,
        fileNo,
        isRotated: fileNo < (lastFileNo.get(stem) ?? 0),
        byteSize: sizeOf(fs, path),
        sidecarPath: join(folder, sidecar),
        sidecarByteSize: names.has(sidecar) ? sizeOf(fs, join(folder, sidecar)) : 0,
        isCommitted: names.has(committedName(stem, fileNo)),
        reservePath: join(folder, reserveName(stem)),
      }
    })
}

/** The first line of a file says who writes it; undefined when it is missing or damaged. */
export function readProcessLine(path: string): ProcessLine | undefined {
  return readHead(path).process
}

/** The process line and the gap lines right behind it, which tell what happened between this file and the one before. */
export function readHead(path: string): { process: ProcessLine | undefined; gaps: Gap[] } {
  const gaps: Gap[] = []
  let process: ProcessLine | undefined
  try {
    for (const item of tailJournal(path)) {
      if (item.kind !== "line") break
      if (item.line.kind === "process") process = item.line
      else if (item.line.kind === "gap") gaps.push(item.line.gap)
      else break
    }
  } catch {
    // Gone or unreadable: then it says nothing.
  }
  return { process, gaps }
}

/** Says that everything in the file is safely in a store. Such files go first when room is needed. */
export function markCommitted(path: string): void {
  try {
    closeSync(createPrivateFile(markerPath(path), "append"))
  } catch (error) {
    if (failureCode(error) === "EEXIST") return
    throw new OrangeboxError("JOURNAL_MARK", {
      what: `the journal file cannot be marked as committed (${failureCode(error)})`,
      where: path,
      next: "It will be collected again, which changes nothing; check that its folder is writable",
      cause: error,
    })
  }
}

/** Deletes a journal file with its sidecar and marker, and the writer's reserve file with the last of its journals. */
export function removeJournal(path: string): void {
  removeWith(realFs, path)
}

export function removeWith(fs: JournalFs, path: string): void {
  const { folder, stem, fileNo } = placeOf(path)
  // The lines go first: bodies without lines are rubbish, lines without their bodies would be a loss to report.
  for (const name of [linesName(stem, fileNo), sidecarName(stem, fileNo), committedName(stem, fileNo)]) {
    unlinkIfThere(fs, join(folder, name))
  }
  const isLast = !readNames(fs, folder).some((name) => parseLinesName(name)?.stem === stem)
  if (isLast) unlinkIfThere(fs, join(folder, reserveName(stem)))
}

function markerPath(path: string): string {
  const { folder, stem, fileNo } = placeOf(path)
  return join(folder, committedName(stem, fileNo))
}

export function placeOf(path: string): { folder: string; stem: string; fileNo: number } {
  const name = parseLinesName(basename(path))
  if (name !== undefined) return { folder: dirname(path), stem: name.stem, fileNo: name.fileNo }
  throw new OrangeboxError("JOURNAL_NAME", {
    what: "this is not the name of a journal file",
    where: path,
    next: "Journal files are named <start>-<pid>-<writer id>.<n>.ndjson",
  })
}

function readNames(fs: JournalFs, folder: string): string[] {
  try {
    return fs.readdirSync(folder)
  } catch (error) {
    if (failureCode(error) === "ENOENT") return []
    throw error
  }
}

function sizeOf(fs: JournalFs, path: string): number {
  try {
    return fs.lstatSync(path).size
  } catch {
    return 0
  }
}

function unlinkIfThere(fs: JournalFs, path: string): void {
  try {
    fs.unlinkSync(path)
  } catch (error) {
    if (failureCode(error) !== "ENOENT") throw error
  }
}
