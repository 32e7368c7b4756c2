import { statSync } from "node:fs"
import { eventWords } from "@orangebox/query"
import { type ImportReport, importRunFile, RUN_FILE_ENDING } from "@orangebox/reader"
import { plural, recordedWord, safeJson, snakeJson } from "@orangebox/text"
import type { Command } from "commander"
import type { ImportOptions } from "../importing/import-told.js"
import { pasteable, shellWord } from "../next-command.js"
import { withReader } from "../reading.js"
import { bindShell, type GlobalOptions, prose, type Session } from "../session.js"

export function define(command: Command, session: Session): void {
  command
    .description(
      "Read what other programs recorded into this store, so that search, sql and every other command see it: transcripts of Claude Code and Codex, raw bodies, ATIF, orca-trace, and runs that orangebox export wrote.",
    )
    .argument("[path...]", "files or folders; without any, what is on this machine is found, said and asked for")
    .option("--dry-run", "say what would be imported, and write nothing")
    .option("--watch", "go on importing what grows or comes new, until Ctrl-C")
    .option("-y, --yes", "without a path: do not ask")
    .addHelpText(
      "after",
      prose(
        session,
        "Secrets are masked as when recording. Importing again adds what is new and nothing else. What a format does not hold, such as the system prompt of a transcript, stays unknown. docs/import.md says what becomes of what.",
      ),
    )
    .addHelpText(
      "after",
      prose(
        session,
        "Of a file that orangebox export wrote, events, bytes and digest are those of the file. A run that is here already with other events is refused, and nothing is taken. The data folder is made where there is none.",
      ),
    )
  bindShell<ImportOptions>(command, session, importPaths, [
    ["orangebox import", "the transcripts of this machine, after asking"],
    ["orangebox import ~/.claude/projects --watch", "and whatever comes"],
    ["orangebox import rollout.jsonl.zst --dry-run", "what is in it?"],
    ["orangebox import failing.obxrun --data ./evidence", "a colleague's run, into a store of its own"],
  ])
}

async function importPaths(
  session: Session,
  options: ImportOptions & GlobalOptions,
  ...paths: string[]
): Promise<number | undefined> {
  const isOurs = (path: string): boolean => path.endsWith(RUN_FILE_ENDING) || !isForeign(path)
  const told = paths.filter((path) => !isOurs(path))
  for (const path of paths) if (isOurs(path)) await importRun(session, options, path)
  if (told.length === 0 && paths.length > 0) return undefined
  const { importTold } = await import("../importing/import-told.js")
  return importTold(session, options, told)
}

/** By its name alone: what is no record of another program is taken for a file of ours, which says what is wrong with it. */
function isForeign(path: string): boolean {
  return (
    /\.(?:jsonl(?:\.zst|\.gz)?|json)$/.test(path) || statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
  )
}

async function importRun(session: Session, options: GlobalOptions, file: string): Promise<undefined> {
  const report = await withReader(session, options, (reader) => importRunFile(reader, file))
  session.terminal.out(options.json ? safeJson(reportJson(report, file), 2) : reportText(report, file, options))
  return undefined
}

function reportText({ runId, runs, bodies }: ImportReport, file: string, options: GlobalOptions): string {
  const lines = runs.map(({ runId: id, events, annotations, digest, wasThere }) => {
    const how = wasThere ? "was here already" : "imported"
    return `${recordedWord(id, 40)} ${how}: ${eventWords(events, annotations)}, digest ${digest}`
  })
  lines.push(`${plural(bodies, "body", "bodies")} from ${recordedWord(shellWord(file))}`)
  return [...lines, `next: orangebox show ${pasteable(options, runId)}`].join("\n")
}

const reportJson = ({ runId, runs, bodies }: ImportReport, file: string) => ({
  run_id: runId,
  file,
  runs: runs.map((run) => snakeJson(run)),
  bodies,
})
