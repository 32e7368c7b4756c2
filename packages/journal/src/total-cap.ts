import { basename } from "node:path"
import { type JournalFile, listWith, readHead, removeWith } from "./journal-list.js"
import type { Gap, RunRange } from "./line-format.js"
import { livenessOf } from "./process-identity.js"
import type { RunRanges } from "./run-ranges.js"
import type { WriterSettings } from "./writer-settings.js"

const MOST_FILES_NAMED = 32
const MOST_RUNS_NAMED = 64

/**
 * Deletes what is above the total cap. `declare` is called before anything uncollected is deleted, and by throwing prevents it: a death
 * between the two must not make the loss a silent one. Returns the numbers of the writer's own files that are left.
 */
export function evictAboveCap(
  settings: WriterSettings,
  ownContents: ReadonlyMap<number, RunRanges>,
  declare: (losses: readonly Loss[]) => void,
): Set<number> {
  const files = listWith(settings.fs, settings.folder)
  const evictions = chooseEvictions(files, settings.maxTotalBytes, (file) => isFinished(file, settings))
  const losses = evictions
    .filter((eviction) => eviction.isLoss)
    .map(({ file }) => ({
      file,
      contents: file.writerId === settings.writerId ? ownContents.get(file.fileNo) : undefined,
      earlierGaps: readHead(file.path).gaps,
    }))
  if (losses.length > 0) declare(losses)
  for (const { file } of evictions) removeWith(settings.fs, file.path)
  const evicted = new Set(evictions.map(({ file }) => file))
  const left = files.filter((file) => file.writerId === settings.writerId && !evicted.has(file))
  return new Set(left.map((file) => file.fileNo))
}

/** No writer will append to it any more. */
function isFinished(file: JournalFile, { writerId, identity: observer }: WriterSettings): boolean {
  if (file.isRotated) return true
  if (file.writerId === writerId) return false
  const identity = readHead(file.path).process?.process
  return identity !== undefined && livenessOf(identity, observer).state === "dead"
}

export interface Eviction {
  readonly file: JournalFile
  /** It was not collected, so deleting it is a loss that a gap record must name. */
  readonly isLoss: boolean
}

/**
 * Which files to delete so that all of them together stay within `maxTotalBytes`: committed ones first, then the oldest. A file that
 * a writer may still be appending to is never chosen; `isFinished` is asked only about files that would be needed.
 */
export function chooseEvictions(
  files: readonly JournalFile[],
  maxTotalBytes: number,
  isFinished: (file: JournalFile) => boolean,
): Eviction[] {
  let excess = files.reduce((total, file) => total + bytesOf(file), 0) - maxTotalBytes
  const chosen: Eviction[] = []
  for (const isLoss of [false, true]) {
    for (const file of files) {
      if (excess <= 0) return chosen
      if (file.isCommitted === isLoss || !isFinished(file)) continue
      chosen.push({ file, isLoss })
      excess -= bytesOf(file)
    }
  }
  return chosen
}

/** A file that goes uncollected. What it holds is known only where the writer itself wrote it. */
export interface Loss {
  readonly file: JournalFile
  readonly contents: RunRanges | undefined
  /** Gaps the file itself declared at its head; with the file they would be forgotten. */
  readonly earlierGaps: readonly Gap[]
}

/** Several losses as the contents of one gap, earlier gaps included. */
export function sumOfLosses(
  losses: readonly Loss[],
): Pick<Gap, "records" | "chunks" | "bytes" | "runs" | "recordsNotListed" | "files" | "filesNotListed"> {
  const earlier = losses.flatMap((loss) => loss.earlierGaps)
  const files = [...losses.map((loss) => basename(loss.file.path)), ...earlier.flatMap((gap) => gap.files)]
  const runs: RunRange[] = [
    ...losses.flatMap((loss) => loss.contents?.list() ?? []),
    ...earlier.flatMap((gap) => gap.runs),
  ]
  return {
    records: sum(losses, (loss) => loss.contents?.records ?? 0) + sum(earlier, (gap) => gap.records),
    chunks: sum(earlier, (gap) => gap.chunks),
    bytes: sum(losses, (loss) => bytesOf(loss.file)) + sum(earlier, (gap) => gap.bytes),
    runs: runs.slice(0, MOST_RUNS_NAMED),
    recordsNotListed:
      sum(losses, (loss) => loss.contents?.notListed ?? 0) +
      sum(earlier, (gap) => gap.recordsNotListed) +
      sum(runs.slice(MOST_RUNS_NAMED), (run) => run.count),
    files: files.slice(0, MOST_FILES_NAMED),
    filesNotListed: Math.max(0, files.length - MOST_FILES_NAMED) + sum(earlier, (gap) => gap.filesNotListed),
  }
}

const bytesOf = (file: JournalFile): number => file.byteSize + file.sidecarByteSize

function sum<T>(items: readonly T[], amount: (item: T) => number): number {
  return items.reduce((total, item) => total + amount(item), 0)
}
