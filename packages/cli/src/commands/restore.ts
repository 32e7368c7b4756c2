import { restore } from "@orangebox/reader"
import { plural, safeJson, shellWord } from "@orangebox/text"
import type { Command } from "commander"
import { withReader } from "../reading.js"
import { bindShell, type GlobalOptions, prose, type Session } from "../session.js"

export function define(command: Command, session: Session): void {
  command
    .description("Lay a backup out as a data folder, once every file and every run's digest is what it was.")
    .argument("<backup>", "a folder that orangebox backup made")
    .addHelpText(
      "after",
      prose(
        session,
        "It replaces nothing: the data folder (--data, else the one that is found from here) must be empty or missing. On another machine, or for another user, agree to its key with orangebox trust --key before you record into it.",
      ),
    )
  bindShell<object>(command, session, restoreCommand, [
    ["orangebox restore ../orangebox-2026-11-18 --data .orangebox", "as the data folder of this project"],
  ])
}

async function restoreCommand(session: Session, options: GlobalOptions, backup = ""): Promise<undefined> {
  const { folder, runs } = await withReader(session, options, (reader) => restore(backup, reader))
  session.terminal.out(
    options.json
      ? safeJson({ folder, runs }, 2)
      : `${plural(runs, "run")} restored to ${shellWord(folder)}, each with the digest it had`,
  )
  return undefined
}
