import { backUp } from "@orangebox/reader"
import { formatBytes, plural, safeJson, shellWord } from "@orangebox/text"
import type { Command } from "commander"
import { withReader } from "../reading.js"
import { bindShell, type GlobalOptions, prose, type Session } from "../session.js"

export function define(command: Command, session: Session): void {
  command
    .description("Copy everything recorded to a new folder, also while agents are recording, and verify the copy.")
    .argument("<folder>", "where to; it must not be there yet")
    .addHelpText(
      "after",
      prose(
        session,
        "The folder gets its name when every body was hashed and every run has its digest on record: one of that name is whole. It holds the store's key, with which masked secrets can be compared, so keep it as private as the data folder. Read it with --data, or lay it out with orangebox restore.",
      ),
    )
  bindShell<object>(command, session, backup, [
    ["orangebox backup ../orangebox-2026-11-18", "everything, verified"],
    ["orangebox runs --data ../orangebox-2026-11-18", "look into it"],
    ["orangebox restore ../orangebox-2026-11-18 --data .orangebox", "and back"],
  ])
}

async function backup(session: Session, options: GlobalOptions, target = ""): Promise<undefined> {
  const { folder, manifest, behindBytes } = await withReader(session, options, (reader) => backUp(reader, target))
  const bytes = manifest.files.reduce((sum, { byte_size }) => sum + byte_size, 0)
  session.terminal.out(
    options.json
      ? safeJson({ folder, made_at: manifest.made_at, runs: manifest.runs.length, bytes, behind_bytes: behindBytes }, 2)
      : `${plural(manifest.runs.length, "run")}, ${formatBytes(bytes)} in ${shellWord(folder)}: every body hashed, every digest on record`,
  )
  return undefined
}
