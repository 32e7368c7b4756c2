import { answerStats, STATS_BY, type StatsAsked } from "@orangebox/reader"
import type { Command } from "commander"
import { choiceParser, momentParser, parsePositive } from "../option-values.js"
import { withReading } from "../reading.js"
import { bindShell, type GlobalOptions, prose, type Session, wrongUsage } from "../session.js"
import { tell } from "../tell.js"
import { viewOptions } from "../view-options.js"

const ORIGINS = ["recorded", "replayed", "imported", "all"] as const

interface StatsOptions extends Omit<StatsAsked, "version"> {
  readonly agentVersion?: string
  readonly csv?: boolean
}

export function define(command: Command, session: Session): void {
  const moment = momentParser(Date.now)
  command
    .description(
      "What runs add up to: tokens, money, times, errors, use; and what everything in a prompt costs against its use.",
    )
    .option("--by <what>", `one table: ${STATS_BY.join(", ")}`, choiceParser(STATS_BY))
    .option("--since <when>", "from this day on: 2026-01-31, or how long ago: 7d; days are whole, in UTC", moment)
    .option("--until <when>", "up to and including the day before this", moment)
    .option("--app <name>", "only of this application; * stands for any text")
    .option("--agent-version <version>", "only of this version of an agent")
    .option("--model <name>", "only calls of this model: 'claude-*'")
    .option("--tool <name>", "only calls of this tool")
    .option("--kind <kind>", "only run, model, tool, step, or what steps say they are: retrieval, queue.deliver")
    .option("--source <name>", "only what this source recorded")
    .option("--origin <which>", "recorded (default), replayed, imported or all", choiceParser(ORIGINS))
    .option("--limit <n>", "so many rows of a table; 10, of contributors 20", parsePositive)
    .option("--csv", "as CSV, one table: of days where --by says nothing else")
    .addHelpText(
      "after",
      prose(
        session,
        "Figures come from sums that stay when runs are pruned. p50 and p95 are exact while the steps are there and at most 50,000, else bounds.\nUnknown is not zero: calls without a price or without token counts are counted beside the sum.\nWhat a replay or a fork was served is neither spend nor use, and an imported run was paid elsewhere: both are named, not counted.",
      ),
    )
  bindShell<StatsOptions>(command, session, showStats, [
    ["orangebox stats --since 7d", "the week: money, tokens, models, tools, days"],
    ["orangebox stats --by contributor", "what each tool, skill and persona costs, never called first"],
    ["orangebox stats --by version --app fixer", "one agent, version by version"],
    ["orangebox stats --by tool --json", "the same for a program"],
    ["orangebox stats --by day --csv > days.csv", "for a spreadsheet"],
  ])
}

function showStats(session: Session, options: StatsOptions & GlobalOptions): Promise<number | undefined> {
  const { csv, json, agentVersion, data, ...rest } = options
  if (csv && json) throw wrongUsage("--csv and --json are two forms of one answer", "Give one of them")
  const { model, tool, kind, source } = options
  if (options.by === "contributor" && [model, tool, kind, source, agentVersion].some((filter) => filter !== undefined))
    throw wrongUsage("--by contributor is of whole prompts", "Narrow it with --app, --since, --until or --origin")
  const asked: StatsAsked = agentVersion === undefined ? rest : { ...rest, version: agentVersion }
  return withReading(session, options, async (reading) => {
    const answer = await answerStats(reading, asked, viewOptions(session, {}), data)
    if (!csv) return tell(session, options, answer)
    session.terminal.outVerbatim(answer.csv())
    return undefined
  })
}
