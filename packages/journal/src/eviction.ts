import { type JournalFile, listWith, readHead, removeWith } from "./journal-list.js"
import { livenessOf } from "./process-identity.js"
import type { RunRanges } from "./run-ranges.js"
import { chooseEvictions, type Loss } from "./total-cap.js"
import type { WriterSettings } from "./writer-settings.js"

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

/** Nobody will append to it any more. */
function isFinished(file: JournalFile, { writerId, identity: observer }: WriterSettings): boolean {
  if (file.isRotated) return true
  if (file.writerId === writerId) return false
  const identity = readHead(file.path).process?.process
  return identity !== undefined && livenessOf(identity, observer).state === "dead"
}
