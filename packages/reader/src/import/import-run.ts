import { advice, InputError, suggested } from "@orangebox/contract"
import { openDataFolder } from "@orangebox/journal"
import { plural, shellWord } from "@orangebox/text"
import { dataPath, type ReaderOptions } from "../open/data-folder.js"
import { keepMaskKey } from "../open/mask-key.js"
import { writeStore } from "../open/open-writing.js"
import { damaged, openRunFile, type RunFile } from "../open/run-file.js"
import { keepImport } from "./kept-imports.js"
import { type ImportReport, takeRunFile } from "./take-run-file.js"

/**
 * Puts the runs of an exported file into a store, to the byte: their events, digests and bodies, what others said about them, and what was
 * lost. No process of this machine wrote them, and a word about each says where it came from. A run that is there with other events stays as
 * it is, and nothing of the file is taken. A copy of the file is kept as journals are, should the database be lost.
 */
export async function importRunFile(options: ReaderOptions, path: string): Promise<ImportReport> {
  const file = await openRunFile(path)
  // Half a run would have another digest than the run it says to be.
  if (file.problems.length > 0) throw damaged(path, file.problems)
  await refuseChanged(file)
  const folder = openDataFolder(dataPath(options.data))
  return writeStore({ ...options, data: folder.path }, async (store) => {
    const report = await takeRunFile(store, file)
    if (report.runs.some(({ wasThere }) => !wasThere)) keepImport(folder.path, report.runId, path)
    if (file.maskKey) keepMaskKey(folder.path, file.maskKey)
    return report
  })
}

/** What was redacted or contested in one store cannot be so in another: it would look like what was recorded. */
async function refuseChanged({ reader, header, path }: RunFile): Promise<void> {
  for (const runId of header.runs) {
    const redacted = (await reader.redactionsOf(runId)).length
    const contested = (await reader.conflictsOf(runId)).length
    if (redacted + contested === 0) continue
    const what =
      redacted > 0 ? `${plural(redacted, "event")} redacted later` : `${plural(contested, "event")} contested`
    throw new InputError("CANNOT_IMPORT", {
      what: `the run has ${what}, which only the store it was recorded in, or the file, can tell`,
      where: `${path}, ${runId}`,
      next: advice`Read the file by its path, as show, diff, verify and replay do: ${suggested("show", shellWord(path))}`,
    })
  }
}
