import { decisionLogRecords } from "@orangebox/decisions"
import { answerDecisions, type RuleOptions } from "@orangebox/reader"
import { safeJson } from "@orangebox/text"
import type { Command } from "commander"
import { addRuleOptions, courtHere } from "../decisions/judging.js"
import { withRunAt } from "../reading.js"
import { bindShell, type GlobalOptions, prose, type Session, wrongUsage } from "../session.js"
import { tell } from "../tell.js"
import { viewOptions } from "../view-options.js"

interface DecisionsOptions extends RuleOptions {
  readonly jsonl?: boolean
  readonly otel?: boolean
  readonly root?: string
}

export function define(command: Command, session: Session): void {
  command
    .description("List what the agent did: every action with its type, its verdict and where it came from.")
    .argument("[address]", "a run, one step of it, or an exported file", "last")
    .option("--jsonl", "one DecisionEvent a line, whole")
    .option("--otel", "OpenTelemetry log records as OTLP/JSON, with trace and span")
  addRuleOptions(command)
    .option("--root <folder>", "the workspace, for absolute paths; default: the folder that holds .orangebox")
    .addHelpText("after", prose(session, "Judges are not asked; orangebox check asks them."))
  bindShell<DecisionsOptions>(command, session, listDecisions, [
    ["orangebox decisions", "what the agent of the last run did"],
    ["orangebox decisions last#5 --json", "everything about one action"],
    ["orangebox decisions last --jsonl >> decisions.jsonl", "for a log pipeline"],
  ])
}

function listDecisions(
  session: Session,
  options: DecisionsOptions & GlobalOptions,
  typed = "last",
): Promise<number | undefined> {
  if ([options.jsonl, options.otel, options.json].filter(Boolean).length > 1) {
    throw wrongUsage("--json, --jsonl and --otel are three forms", "Choose one")
  }
  const court = courtHere(session, options)
  return withRunAt(session, options, typed, async (place) => {
    const { terminal } = session
    const answer = await answerDecisions(place, court, viewOptions(session, {}))
    if (options.jsonl) {
      for (const decision of answer.decisions) {
        terminal.out(safeJson(decision))
        await terminal.drained()
      }
    } else if (options.otel) terminal.out(safeJson(decisionLogRecords(answer.decisions), 2))
    else return tell(session, options, answer)
    return undefined
  })
}
