import { damaged, dataPath, findTarget, gatherRun, maskKeyIn, RUN_FILE_ENDING, runOf } from "@orangebox/reader"
import { writePortable } from "@orangebox/replay"
import { safeJson } from "@orangebox/text"
import type { Command } from "commander"
import { type Exported, exportJson, exportText } from "../export/format-export.js"
import { refuseToOverwrite, writeNewFile } from "../new-file.js"
import { shellWord } from "../next-command.js"
import { withRunAt } from "../reading.js"
import { bindShell, type GlobalOptions, type Session, wrongUsage } from "../session.js"

interface ExportOptions {
  readonly output?: string
  readonly force?: boolean
  readonly secretKey?: boolean
}

export function define(command: Command, session: Session): void {
  command
    .description(
      "Write a run, with its bodies, into one file that show, step, context, diff, verify and replay read anywhere.",
    )
    .argument("[run]", "a run, or an exported file", "last")
    .option("-o, --output <file>", `where to; - is stdout; default: <run id>${RUN_FILE_ENDING} here`)
    .option("--force", "overwrite a file that is there")
    .option(
      "--secret-key",
      "with the key that secrets are told apart by, so that it replays with the same secrets anywhere",
    )
    .addHelpText(
      "after",
      "\nThe file holds what is recorded, redacted as it was recorded, with a checksum on every part, and the runs of sub-agents along with\ntheir run. What is missing is said. Secrets are in it only as their masks. With --secret-key whoever has the file can try out\nguesses at short ones; without it a run with secrets in its prompts replays where it was recorded, and says so elsewhere.",
    )
  bindShell<ExportOptions>(command, session, exportRun, [
    ["orangebox export", `the last run, as <run id>${RUN_FILE_ENDING}`],
    [`orangebox export run_01JT9 -o failing${RUN_FILE_ENDING}`, "for a bug report, or for a colleague"],
    [`orangebox show failing${RUN_FILE_ENDING}`, "and there it is read like any run"],
    ["orangebox export last -o - | ssh build 'cat > run.obxrun'", "straight to another machine"],
  ])
}

function exportRun(
  session: Session,
  options: ExportOptions & GlobalOptions,
  address = "last",
): Promise<number | undefined> {
  const { terminal } = session
  const isStdout = options.output === "-"
  if (isStdout && (terminal.isOutTerminal || options.json)) {
    throw wrongUsage(
      options.json ? "--json and the file cannot both go to stdout" : "the file would go to the terminal",
      "Name a file with --output",
    )
  }
  return withRunAt(session, options, address, async (reading) => {
    // A copy with fresh checksums would look whole.
    if (reading.file && reading.file.problems.length > 0) throw damaged(reading.file.path, reading.file.problems)
    const run = await runOf(reading.reader, await findTarget(reading.reader, reading.address))
    const path = isStdout ? null : (options.output ?? `${run.row.runId}${RUN_FILE_ENDING}`)
    const isForced = options.force ?? false
    if (path !== null) refuseToOverwrite(path, isForced)
    const found = reading.file ? reading.file.maskKey : maskKeyIn(dataPath(options.data), run.annotations)
    const maskKey = found && (options.secretKey ? found : { id: found.id })
    const gathered = await gatherRun(reading, run, terminal.progress.update, maskKey)
    const pieces = writePortable(gathered.events, gathered.bodies, gathered)
    const bytes = path === null ? await sendPieces(session, pieces) : writeNewFile(path, pieces, isForced)
    tell(session, options, { run, gathered, file: path, bytes }, reading.freshness)
    return undefined
  })
}

async function sendPieces({ terminal }: Session, pieces: Iterable<Uint8Array>): Promise<number> {
  let bytes = 0
  for (const piece of pieces) {
    terminal.outBytes(piece)
    bytes += piece.length
    await terminal.drained()
  }
  return bytes
}

function tell({ terminal }: Session, options: GlobalOptions, exported: Exported, freshness: object): void {
  const next = shellWord(exported.file ?? "")
  // The file is the data where it goes to stdout; what is said about it is talk.
  if (exported.file === null) {
    terminal.sayPainted(exportText(exported, next, terminal.paintTalk))
  } else if (options.json) {
    terminal.out(safeJson({ ...exportJson(exported), ...freshness }, 2))
  } else {
    terminal.out(exportText(exported, next, terminal.paint))
  }
}
