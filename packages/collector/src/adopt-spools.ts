import { existsSync, renameSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { checkPrivateFolder, type JournalFile, listJournals, livenessOf, readProcessLine } from "@orangebox/journal"

/**
 * Under `bodies: on_fault` a process writes the bytes a fault would show ahead into a spool and deletes it when its run ends well. One whose
 * writer is found dead is the snapshot of that death: its files become journals like any other. Returns how many were taken over.
 */
export function adoptSpools(journalFolder: string): number {
  const spoolFolder = join(dirname(journalFolder), "spool")
  if (!existsSync(spoolFolder)) return 0
  checkPrivateFolder(spoolFolder)
  const left = listJournals(spoolFolder).filter(isOfTheDead)
  for (const file of left) adopt(file, journalFolder)
  return left.length
}

function isOfTheDead(file: JournalFile): boolean {
  const writer = readProcessLine(file.path)?.process
  return writer !== undefined && livenessOf(writer).state === "dead"
}

/** Bodies first: a line that is there has its bytes. */
function adopt({ path, sidecarPath, reservePath }: JournalFile, journalFolder: string): void {
  for (const from of [sidecarPath, reservePath, path]) {
    if (existsSync(from)) renameSync(from, join(journalFolder, basename(from)))
  }
}
