import type { JournalFile } from "./journal-list.js"

export interface Eviction {
  readonly file: JournalFile
  /** Nobody has collected it, so deleting it is a loss that a gap record must name. */
  readonly isLoss: boolean
}

/**
 * Which files to delete so that all of them together stay within `maxTotalBytes`: committed ones first, then the oldest. A file that
 * somebody may still be appending to is never chosen; `isFinished` is asked only about files that would be needed.
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

export const bytesOf = (file: JournalFile): number => file.byteSize + file.sidecarByteSize
