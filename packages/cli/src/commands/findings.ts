import { readFileSync } from "node:fs"
import { advice, InputError, suggested } from "@orangebox/contract"
import { saidFindingsJson, saidFindingsText } from "@orangebox/query"
import { addFindings, findTarget, runOf, saidFindings } from "@orangebox/reader"
import { safeJson } from "@orangebox/text"
import type { Command } from "commander"
import { annotationDoor } from "../decisions/login-name.js"
import { EXIT } from "../exit-code.js"
import { withReader, withRunAt } from "../reading.js"
import { bindShell, type GlobalOptions, prose, type Session, wrongUsage } from "../session.js"

export function define(command: Command, session: Session): void {
  command
    .description("List what was found out about a run, or add a report of what you found: findings add RUN FILE.")
    .argument("<address>", "a run, or any id in it; or the word add")
    .argument("[run]", "with add: the run that the report is about")
    .argument("[report]", "with add: a file with the report as JSON (orangebox.findings/1); - is stdin")
    .addHelpText(
      "after",
      prose(
        session,
        "A report is kept beside the run, which does not change. Every step and body it points at must be there, and every quote must stand where it says. docs/handoff.md describes it. Exits with 1 when a report says found.",
      ),
    )
  bindShell<object>(command, session, findings, [
    ["orangebox findings last", "what was said about the last run"],
    ["orangebox findings last --json", "the same for whoever hands out the work"],
    ["orangebox findings add last report.json", "keep a report"],
    ["my-agent | orangebox findings add last -", "the same from a pipe"],
  ])
}

function findings(
  session: Session,
  options: GlobalOptions,
  address = "",
  run?: string,
  report?: string,
): Promise<number | undefined> {
  if (address === "add") return add(session, options, run, report)
  if (run !== undefined)
    throw wrongUsage("findings takes one run", advice`To keep a report: ${suggested("findings", "add RUN FILE")}`)
  return withRunAt(session, options, address, async (reading) => {
    const found = await runOf(reading.reader, await findTarget(reading.reader, reading.address))
    const said = await saidFindings(reading.reader, found)
    const { runId } = found.row
    session.terminal.out(
      options.json
        ? safeJson({ run_id: runId, ...saidFindingsJson(said), ...reading.freshness }, 2)
        : saidFindingsText(runId, said, reading.place(runId)),
    )
    return said.some(({ verdict }) => verdict === "found") ? EXIT.findings : undefined
  })
}

async function add(
  session: Session,
  options: GlobalOptions,
  run: string | undefined,
  report: string | undefined,
): Promise<undefined> {
  if (run === undefined || report === undefined)
    throw wrongUsage("add takes a run and a report", advice`${suggested("findings", "add RUN FILE")}, or - for stdin`)
  const text = report === "-" ? await allOf(session.stdin) : readReport(report)
  const { runId, said } = await withReader(session, options, (reader) =>
    addFindings(reader, annotationDoor(), run, text),
  )
  session.terminal.out(
    options.json
      ? safeJson({ run_id: runId, ...saidFindingsJson([said]) }, 2)
      : `${saidFindingsText(runId, [said], runId)}\nkept beside ${runId}`,
  )
  return undefined
}

function readReport(path: string): string {
  try {
    return readFileSync(path, "utf8")
  } catch (cause) {
    const isMissing = (cause as NodeJS.ErrnoException).code === "ENOENT"
    throw new InputError(isMissing ? "NO_FILE" : "CANNOT_READ", {
      what: isMissing ? "there is no such file" : "the report cannot be read",
      where: path,
      next: "Name a file with the report as JSON, or - for stdin",
    })
  }
}

async function allOf(stream: Session["stdin"]): Promise<string> {
  const pieces: Buffer[] = []
  for await (const piece of stream) pieces.push(Buffer.from(piece as Uint8Array))
  return Buffer.concat(pieces).toString("utf8")
}
