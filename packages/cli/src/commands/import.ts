import { type ImportReport, importRunFile } from "@orangebox/reader"
import { plural, recordedWord, safeJson } from "@orangebox/text"
import type { Command } from "commander"
import { pasteable, shellWord } from "../next-command.js"
import { withReader } from "../reading.js"
import { bindShell, type GlobalOptions, type Session } from "../session.js"
import { versionOf } from "../version.js"

export function define(command: Command, session: Session): void {
  command
    .description("Put a run that was exported into this store, so that search, sql and every other command see it.")
    .argument("<file>", "a file that orangebox export wrote")
    .addHelpText(
      "after",
      "\nEvents, bytes and digest are those of the file, and the run is marked as imported. A run that is here already with other events\nis refused, and nothing is taken. The data folder is made where there is none.",
    )
  bindShell<object>(command, session, importRun, [
    ["orangebox import failing.obxrun", "a colleague's run, beside your own"],
    ["orangebox import failing.obxrun --data ./evidence", "into a store of its own"],
  ])
}

async function importRun(session: Session, options: GlobalOptions, file = ""): Promise<undefined> {
  const door = { source: "orangebox.import", version: versionOf() }
  const report = await withReader(session, options, (reader) => importRunFile(reader, file, door))
  session.terminal.out(options.json ? safeJson(reportJson(report, file), 2) : reportText(report, file, options))
  return undefined
}

function reportText({ runId, runs, bodies }: ImportReport, file: string, options: GlobalOptions): string {
  const lines = runs.map(({ runId: id, events, digest, wasThere }) => {
    const how = wasThere ? "was here already" : "imported"
    return `${recordedWord(id, 40)} ${how}: ${plural(events, "event")}, digest ${digest}`
  })
  lines.push(`${plural(bodies, "body", "bodies")} from ${recordedWord(shellWord(file))}`)
  return [...lines, `next: orangebox show ${pasteable(options, runId)}`].join("\n")
}

const reportJson = ({ runId, runs, bodies }: ImportReport, file: string) => ({
  run_id: runId,
  file,
  runs: runs.map(({ runId: id, digest, events, wasThere }) => ({ run_id: id, digest, events, was_there: wasThere })),
  bodies,
})
