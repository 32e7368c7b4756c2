import { given } from "@orangebox/contract"
import { answerReport, type RuleOptions } from "@orangebox/reader"
import { safeJson } from "@orangebox/text"
import type { Command } from "commander"
import { addRuleOptions, courtHere } from "../decisions/judging.js"
import { refuseToOverwrite, writeNewFile } from "../new-file.js"
import { withRunAt } from "../reading.js"
import { bindShell, type GlobalOptions, prose, type Session, wrongUsage } from "../session.js"

interface ReportOptions extends RuleOptions {
  readonly md?: boolean
  readonly html?: string
  readonly force?: boolean
  readonly root?: string
}

export function define(command: Command, session: Session): void {
  command
    .description(
      "What a run did and whether that was what was asked: figures, violations, holes in the trail, timeline.",
    )
    .argument("[run]", "a run, or an exported file", "last")
    .option("--md", "as Markdown")
    .option("--html <file>", "as one HTML file without scripts, to be read without a network")
    .option("--force", "with --html: overwrite a file that is there")
  addRuleOptions(command)
    .option("--root <folder>", "the workspace, for absolute paths; default: the folder that holds .orangebox")
    .addHelpText("after", prose(session, "The rules are those of orangebox check. Judges are not asked."))
  bindShell<ReportOptions>(command, session, report, [
    ["orangebox report", "the last run, on one screen"],
    ["orangebox report run_01JT9 --html report.html", "with every diff, for a person"],
    ["orangebox report last --md >> pull-request.md", "for a review"],
  ])
}

function report(session: Session, options: ReportOptions & GlobalOptions, typed = "last"): Promise<number | undefined> {
  if ([options.md, options.html, options.json].filter(Boolean).length > 1) {
    throw wrongUsage("--json, --md and --html are three forms", "Choose one")
  }
  if (options.html !== undefined) refuseToOverwrite(options.html, options.force ?? false)
  const court = courtHere(session, options)
  return withRunAt(session, options, typed, async (place) => {
    const { terminal } = session
    const { columns, paint: color } = terminal
    const answer = await answerReport(place, court, { color, ...given({ width: columns }) })
    for (const remark of answer.remarks ?? []) terminal.say(`orangebox: ${remark}`)
    if (options.html !== undefined) {
      writeNewFile(options.html, [Buffer.from(answer.html(), "utf8")], options.force ?? false)
      terminal.say(`orangebox: written to ${options.html}`)
    } else terminal.out(options.md ? answer.markdown() : options.json ? safeJson(answer.json(), 2) : answer.text())
    return undefined
  })
}
