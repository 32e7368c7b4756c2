import { answerRuns, RUN_STATUSES, type RunsAsked } from "@orangebox/reader"
import { shellWord } from "@orangebox/text"
import type { Command } from "commander"
import { choiceParser, momentParser, parsePositive } from "../option-values.js"
import { withReading } from "../reading.js"
import { bindShell, type GlobalOptions, type Session } from "../session.js"
import { tell } from "../tell.js"
import { viewOptions } from "../view-options.js"

export function define(command: Command, session: Session): void {
  const moment = momentParser(Date.now)
  command
    .description("List recorded runs, newest first.")
    .option("--limit <n>", "how many", parsePositive, 20)
    .option("--cursor <cursor>", "where the page before ended")
    .option("--status <status>", "only running, completed, failed, crashed or silent runs", choiceParser(RUN_STATUSES))
    .option("--app <name>", "only runs of this application")
    .option("--host <name>", "only runs of this machine, where many collect into one store")
    .option("--conversation <id>", "only runs of this conversation")
    .option("--trace <id>", "only runs of this trace: an agent and its sub-agents")
    .option("--since <when>", "started at or after: 2026-01-31, or how long ago: 2h, 3d", moment)
    .option("--until <when>", "started before", moment)
    .option(
      "--all",
      "also those that another run started, and canaries of doctor; by default only with --trace, --app, --status or --conversation",
    )
  bindShell<RunsAsked>(command, session, listRuns, [
    ["orangebox runs", "the last twenty"],
    ["orangebox runs --status crashed --since 7d", "what crashed this week"],
    ["orangebox runs --json | jq -r '.runs[].run_id'", "their ids, for a script"],
  ])
}

function listRuns(session: Session, options: RunsAsked & GlobalOptions): Promise<number | undefined> {
  const { json: _json, data: _data, ...asked } = options
  const again = withoutCursor(session.args)
  return withReading(session, options, async (reading) =>
    tell(session, options, await answerRuns(reading, asked, viewOptions(session, {}), again)),
  )
}

/** What was typed, without the place to go on from. */
function withoutCursor(args: readonly string[]): string {
  const at = args.indexOf("--cursor")
  const words = args.filter((word, index) => !word.startsWith("--cursor") && (at === -1 || index !== at + 1))
  return ["orangebox", ...words.map(shellWord)].join(" ")
}
