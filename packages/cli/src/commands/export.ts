import { damaged, dataPath, findTarget, gatherRun, maskKeyIn, RUN_FILE_ENDING, runOf } from "@orangebox/reader"
import { writePortable } from "@orangebox/replay"
import { formatBytes, plural, safeJson } from "@orangebox/text"
import type { Command } from "commander"
import { type Exported, exportJson, exportText } from "../export/format-export.js"
import { type OtlpOptions, sendOverOtlp } from "../export/send-otlp.js"
import { refuseToOverwrite, writeNewFile } from "../new-file.js"
import { shellWord } from "../next-command.js"
import { withRunAt } from "../reading.js"
import { bindShell, type GlobalOptions, prose, type Session, wrongUsage } from "../session.js"

interface ExportOptions extends OtlpOptions {
  readonly output?: string
  readonly force?: boolean
  readonly secretKey?: boolean
  readonly html?: string
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
    .option("--otlp <url>", "instead of a file: send it as OpenTelemetry spans and log records to this receiver")
    .option("--content", "with --otlp: also what was said, asked and answered")
    .option("--header <name=value...>", "with --otlp: headers to send along, such as a key")
    .option("--html <file>", "instead: one page that any browser shows, without a network and with nothing installed")
    .addHelpText(
      "after",
      prose(
        session,
        "The file holds what is recorded, redacted as it was recorded, with a checksum on every part, and the runs of sub-agents along with their run. What is missing is said. Secrets are in it only as their masks. With --secret-key whoever has the file can try out guesses at short ones; without it a run with secrets in its prompts replays where it was recorded, and says so elsewhere.",
      ),
    )
    .addHelpText(
      "after",
      prose(
        session,
        "--otlp speaks OTLP over HTTP (protobuf) with the names of the GenAI conventions 1.41. Without --content no prompt, answer or argument leaves this machine, only names, times, counts and hashes. docs/otlp.md",
      ),
    )
  bindShell<ExportOptions>(command, session, exportRun, [
    ["orangebox export", `the last run, as <run id>${RUN_FILE_ENDING}`],
    [`orangebox export run_01JT9 -o failing${RUN_FILE_ENDING}`, "for a bug report, or for a colleague"],
    [`orangebox show failing${RUN_FILE_ENDING}`, "and there it is read like any run"],
    ["orangebox export last --html run.html", "the run as it looks in orangebox ui, for who has nothing installed"],
    [`orangebox show failing${RUN_FILE_ENDING}:run_01JT9`, "one of the runs that it started"],
    ["orangebox export last -o - | ssh build 'cat > run.obxrun'", "straight to another machine"],
    ["orangebox export last --otlp http://127.0.0.1:6006", "to Phoenix, or any OpenTelemetry backend"],
  ])
}

function exportRun(
  session: Session,
  options: ExportOptions & GlobalOptions,
  address = "last",
): Promise<number | undefined> {
  if (options.otlp !== undefined) return sendOverOtlp(session, options, address)
  if (options.content || options.header)
    throw wrongUsage("--content and --header belong to --otlp", "Name a receiver with --otlp")
  if (options.html !== undefined) return exportPage(session, options, address, options.html)
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

/** One page with the same view as the web UI. */
function exportPage(
  session: Session,
  options: ExportOptions & GlobalOptions,
  address: string,
  file: string,
): Promise<number | undefined> {
  const { terminal } = session
  if (options.output !== undefined || options.secretKey)
    throw wrongUsage("--html is a page, --output and --secret-key are about the file", "Leave one of them out")
  refuseToOverwrite(file, options.force ?? false)
  return withRunAt(session, options, address, async (reading) => {
    if (reading.file)
      throw wrongUsage(
        "a page is made of a run that is stored here",
        "First: orangebox import FILE, then export the run",
      )
    const { runId } = (await runOf(reading.reader, await findTarget(reading.reader, reading.address))).row
    const { runPage } = await import("../export/run-page.js")
    const { update, clear } = terminal.progress
    const page = await runPage(dataPath(options.data), runId, (done, total) => update(done, total, "gathering"))
    clear()
    const bytes = writeNewFile(file, [Buffer.from(page.html, "utf8")], options.force ?? false)
    const { answers, bodiesLeftOut } = page
    if (options.json) {
      terminal.out(safeJson({ run_id: runId, file, bytes, answers, bodies_left_out: bodiesLeftOut }, 2))
      return undefined
    }
    terminal.out(`${runId} → ${file}\n${formatBytes(bytes)}; open it in any browser`)
    if (bodiesLeftOut > 0)
      terminal.out(`! not in the page: the bytes of ${plural(bodiesLeftOut, "body", "bodies")}, too large for it`)
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
