import { InputError } from "@orangebox/contract"
import { type ObjectiveReading, objectivesText } from "@orangebox/query"
import { loadObjectives } from "@orangebox/reader"
import { safeJson, snakeJson } from "@orangebox/text"
import type { Command } from "commander"
import { findConfigHere } from "../config-here.js"
import { EXIT, type ExitCode } from "../exit-code.js"
import { withReading } from "../reading.js"
import { bindShell, type GlobalOptions, prose, type Session } from "../session.js"

export function define(command: Command, session: Session): void {
  command
    .description('Hold daily sums against the objectives in the configuration ("objectives"): the gate over many runs.')
    .addHelpText(
      "after",
      prose(
        session,
        "An objective is a measure with a bound over so many days. Shares of what failed have a budget: how many may fail in the window, how many did, and how fast the last day used it up.\nIt reads sums that stay when runs are pruned. What is unknown is said to be, and neither meets an objective nor breaks it. Exits with 1 when one is breached.\ndocs/objectives.md lists the measures.",
      ),
    )
  bindShell<object>(command, session, slo, [
    ["orangebox slo", "budget, burn rate and trend of every objective"],
    ["orangebox slo --json", "the same for a program"],
  ])
}

function slo(session: Session, options: GlobalOptions): Promise<ExitCode> {
  const objectives = findConfigHere()?.config.objectives ?? []
  if (objectives.length === 0) {
    throw new InputError("NO_OBJECTIVES", {
      what: "the configuration states no objective",
      next: 'Add one to orangebox.config.json: "objectives": [{ "measure": "failed_runs", "most": 0.02, "days": 28 }]',
    })
  }
  for (const { measure, most, least, name } of objectives) {
    if (most !== undefined || least !== undefined) continue
    throw new InputError("OBJECTIVE", {
      what: "an objective needs a bound",
      where: name ?? measure,
      next: 'Give it "most" or "least"',
    })
  }
  return withReading(session, options, async ({ store, freshness }) => {
    const readings = await loadObjectives(store, objectives, Date.now())
    const isOk = readings.every(({ verdict }) => verdict !== "breached")
    session.terminal.out(
      options.json
        ? safeJson({ ok: isOk, objectives: readings.map(readingJson), ...freshness }, 2)
        : objectivesText(readings, session.terminal.paint),
    )
    return isOk ? EXIT.fine : EXIT.findings
  })
}

const readingJson = ({ objective, ...reading }: ObjectiveReading) => ({ objective, ...(snakeJson(reading) as object) })
